//! Who writes the transcript: lines from all connections, in the order in which they were heard.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{Semaphore, mpsc};
use transcript::{Line, Said};

/// Lines that wait to be written.
const LINES_MAX: usize = 1024;

/// What they may weigh together, bytes; who wants to say more has to wait, and with them the peers.
const WAITING_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What a line weighs beside its entry, bytes.
const LINE_BYTES: usize = 1024;

/// Takes lines from a connection.
#[derive(Clone)]
pub struct Pen {
    began: Instant,
    lines: mpsc::Sender<(Line, u32)>,
    room: Arc<Semaphore>,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Lines.
    pub lines: u64,
    /// Connections.
    pub connections: u64,
}

impl Pen {
    /// Waits for room. Says nothing if nobody writes any more: the connection goes on.
    pub async fn note(&self, connection: u32, said: Said) {
        let at_millis = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let weight = weight_of(&said);
        if let Ok(room) = self.room.acquire_many(weight).await {
            room.forget();
        }
        let line = Line {
            at_millis,
            connection,
            said,
        };
        let _ = self.lines.send((line, weight)).await;
    }
}

fn weight_of(said: &Said) -> u32 {
    let entry = match said {
        Said::Frame(_, frame) => frame.payload.as_ref().map_or(0, bytes::Bytes::len),
        Said::Bytes(_, bytes) => bytes.len(),
        Said::Opened | Said::Closed(_) => 0,
    };
    u32::try_from((entry + LINE_BYTES).min(WAITING_BYTES_MAX)).unwrap_or(u32::MAX)
}

/// Writes in a thread of its own until every pen is gone; what was written, or why no more could be.
pub fn start(
    mut file: Box<dyn Write + Send>,
) -> (Pen, std::thread::JoinHandle<io::Result<Written>>) {
    let (sender, mut receiver) = mpsc::channel::<(Line, u32)>(LINES_MAX);
    let room = Arc::new(Semaphore::new(WAITING_BYTES_MAX));
    let pen = Pen {
        began: Instant::now(),
        lines: sender,
        room: Arc::clone(&room),
    };
    let writing = std::thread::spawn(move || {
        let mut written = Written::default();
        while let Some((line, weight)) = receiver.blocking_recv() {
            let outcome = writeln!(file, "{line}");
            room.add_permits(weight as usize);
            outcome?;
            written.lines += 1;
            written.connections += u64::from(line.said == Said::Opened);
            if receiver.is_empty() {
                // Whoever looks at the file sees what was said.
                file.flush()?;
            }
        }
        file.flush()?;
        Ok(written)
    });
    (pen, writing)
}
