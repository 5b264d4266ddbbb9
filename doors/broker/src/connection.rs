//! One connection: a socket, the session that decides about it, and the queues between them. One task owns it all.
//!
//! In a turn of its loop it decodes what was read, takes the letters that came, hands on what the session said, and
//! writes as much as the socket takes. It never waits in the middle of that: all waiting is in [`Connection::wait`].

mod inbound;
mod outbox;
mod parcels;

use crate::counters::add;
use crate::house::{House, instant_of};
use crate::registry::Letterbox;
use inbound::{Inbound, Read};
use outbox::Outbox;
use parcels::Parcels;
use pulsar_wire::frame::max_frame_size;
use session::{CloseReason, Session, SessionEffect, SessionInput, WrittenFrames};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, Sleep, sleep_until, timeout};
use vocabulary::{Moment, SessionId};

#[cfg(test)]
mod outbox_tests;
#[cfg(test)]
mod parcels_tests;

/// How long a peer may take to read our last words.
const LAST_WORDS_WAIT: Duration = Duration::from_secs(5);

/// How long we wait for the peer to close its side after we closed ours.
const LINGER_WAIT: Duration = Duration::from_secs(1);

/// Batches of letters taken in one turn, so that writing gets its turn too.
const BATCHES_PER_TURN_MAX: usize = 64;

/// What the process wants of its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Serve.
    Serving,
    /// Say farewell: the session takes leave of its topics and tells its client.
    Leaving,
    /// Go now.
    Gone,
}

/// One connection.
pub struct Connection {
    house: Arc<House>,
    socket: TcpStream,
    peer: SocketAddr,
    id: SessionId,
    session: Session,
    letterbox: Letterbox,
    inbound: Inbound,
    outbox: Outbox,
    parcels: Parcels,
    effects: Vec<SessionEffect>,
    wake_at: Option<Moment>,
    reading_paused: bool,
    undecoded: bool,
    closing: Option<CloseReason>,
    stage: watch::Receiver<Stage>,
}

/// Why a wait ended.
enum Woken {
    Letters(Vec<letters::SessionLetter>),
    HandedIn,
    Writable,
    Readable,
    Time,
    Stage(Stage),
}

/// Why the loop of a connection ended.
enum End {
    /// The session said so, and all was written.
    Closed(CloseReason),
    /// The peer closed or broke the connection.
    PeerGone(Option<io::Error>),
    /// The process has no more time, or no more desk.
    Abandoned,
}

impl Connection {
    /// A connection that was let in.
    pub fn new(
        house: Arc<House>,
        socket: TcpStream,
        peer: SocketAddr,
        id: SessionId,
        letterbox: Letterbox,
        mut stage: watch::Receiver<Stage>,
    ) -> Connection {
        // A farewell that was said while the connection came in must not be missed.
        stage.mark_changed();
        let session = Session::new(
            id,
            Arc::clone(&house.session_settings),
            Arc::clone(&house.gate),
            peer.to_string(),
            house.now(),
        );
        let inbound = Inbound::new(max_frame_size(house.session_settings.max_message_size));
        Connection {
            house,
            socket,
            peer,
            id,
            session,
            letterbox,
            inbound,
            outbox: Outbox::default(),
            parcels: Parcels::default(),
            effects: Vec::new(),
            wake_at: None,
            reading_paused: false,
            undecoded: false,
            closing: None,
            stage,
        }
    }

    /// Serves the peer until one side closes.
    pub async fn serve(mut self) {
        let end = self.converse().await;
        match &end {
            End::Closed(reason) => {
                tracing::info!("closed the connection of {}: {reason}", self.peer)
            }
            End::PeerGone(None) => tracing::debug!("{} closed its connection", self.peer),
            End::PeerGone(Some(error)) => {
                tracing::info!("lost the connection of {}: {error}", self.peer)
            }
            End::Abandoned => tracing::debug!("dropped the connection of {}", self.peer),
        }
        if matches!(end, End::PeerGone(_)) {
            self.tell(SessionInput::PeerGone);
        }
        self.obey();
        self.hand_in_rest().await;
        self.house.registry.leave(self.id, self.peer.ip());
        self.house.clerk.watchers.session_gone(self.id);
        self.count();
        if matches!(end, End::Closed(_)) {
            linger(self.socket).await;
        }
    }

    fn count(&self) {
        let (counters, own) = (&self.house.counters, self.session.counters());
        add(&counters.connections_closed, 1);
        add(&counters.requests_ignored, own.requests_ignored);
        add(&counters.sends_dropped, own.sends_dropped);
        add(
            &counters.acks_of_unreadable_entries,
            own.acks_of_unreadable_entries,
        );
    }

    async fn converse(&mut self) -> End {
        let sleep = sleep_until(Instant::now());
        tokio::pin!(sleep);
        let mut sleeping_until = None;
        // Nothing is due yet, but the session says when it will be.
        self.tell(SessionInput::TimeCame);
        self.obey();
        loop {
            loop {
                self.decode();
                self.take_letters();
                if self.parcels.hand_in(&self.house).is_err() {
                    return End::Abandoned;
                }
                match self.write() {
                    Ok(true) => {}
                    // A letter taken since may have said that reading goes on. Nobody wakes us for frames that are
                    // here already.
                    Ok(false) if self.may_decode() => {}
                    Ok(false) => break,
                    Err(error) => return End::PeerGone(Some(error)),
                }
            }
            if let Some(reason) = &self.closing {
                let reason = reason.clone();
                return self.last_words(reason).await;
            }
            if self.wake_at != sleeping_until {
                sleeping_until = self.wake_at;
                if let Some(moment) = self.wake_at {
                    sleep
                        .as_mut()
                        .reset(instant_of(&self.house.clock, moment).into());
                }
            }
            match self.wait(sleep.as_mut(), sleeping_until.is_some()).await {
                Ok(Woken::Letters(letters)) => self.tell_letters(letters),
                Ok(Woken::HandedIn | Woken::Writable) => {}
                Ok(Woken::Readable) => match self.read() {
                    Ok(true) => {}
                    Ok(false) => return End::PeerGone(None),
                    Err(error) => return End::PeerGone(Some(error)),
                },
                Ok(Woken::Time) => {
                    self.wake_at = None;
                    sleeping_until = None;
                    self.tell(SessionInput::TimeCame);
                    self.obey();
                }
                Ok(Woken::Stage(Stage::Serving)) => {}
                Ok(Woken::Stage(Stage::Leaving)) => {
                    self.tell(SessionInput::ShutdownBegan);
                    self.obey();
                }
                Ok(Woken::Stage(Stage::Gone)) => return End::Abandoned,
                Err(end) => return end,
            }
        }
    }

    /// The only place where a connection waits.
    async fn wait(
        &mut self,
        sleep: std::pin::Pin<&mut Sleep>,
        has_alarm: bool,
    ) -> Result<Woken, End> {
        let may_read = !self.reading_paused && !self.parcels.is_waiting() && !self.undecoded;
        let must_write = !self.outbox.is_empty();
        let socket_gone = |error| End::PeerGone(Some(error));
        tokio::select! {
            biased;
            changed = self.stage.changed() => match changed {
                Ok(()) => Ok(Woken::Stage(*self.stage.borrow_and_update())),
                Err(_) => Err(End::Abandoned),
            },
            letters = self.letterbox.recv() => letters.map(Woken::Letters).ok_or(End::Abandoned),
            handed = self.parcels.hand_in_first(&self.house) => {
                handed.map(|()| Woken::HandedIn).map_err(|_| End::Abandoned)
            }
            ready = self.socket.writable(), if must_write => ready.map(|()| Woken::Writable).map_err(socket_gone),
            ready = self.socket.readable(), if may_read => ready.map(|()| Woken::Readable).map_err(socket_gone),
            () = sleep, if has_alarm => Ok(Woken::Time),
        }
    }

    /// Reads once; false: the peer has closed its side.
    fn read(&mut self) -> io::Result<bool> {
        match self.inbound.read(&self.socket)? {
            Read::Some(count) => {
                add(&self.house.counters.bytes_read, count as u64);
                self.undecoded = true;
                Ok(true)
            }
            Read::None => Ok(true),
            Read::End => Ok(false),
        }
    }

    /// Hands the frames that are there to the session, as long as it wants any and no letter waits for credit.
    fn decode(&mut self) {
        while self.may_decode() {
            match self.inbound.next_frame(self.session.is_connected()) {
                Ok(Some(frame)) => self.tell(SessionInput::FrameArrived(frame)),
                Ok(None) => self.undecoded = false,
                Err(error) => {
                    self.undecoded = false;
                    self.tell(SessionInput::FrameRefused(error));
                }
            }
            self.obey();
        }
    }

    fn may_decode(&self) -> bool {
        self.undecoded
            && !self.reading_paused
            && !self.parcels.is_waiting()
            && self.closing.is_none()
    }

    fn take_letters(&mut self) {
        for _ in 0..BATCHES_PER_TURN_MAX {
            match self.letterbox.try_recv() {
                Ok(letters) => self.tell_letters(letters),
                Err(_) => break,
            }
        }
    }

    fn tell_letters(&mut self, letters: Vec<letters::SessionLetter>) {
        for letter in letters {
            self.tell(SessionInput::LetterCame(letter));
        }
        self.obey();
    }

    /// Writes what the socket takes and tells the session; true if that gave the session something to say.
    fn write(&mut self) -> io::Result<bool> {
        if self.outbox.is_empty() {
            return Ok(false);
        }
        let before = self.outbox.written_bytes();
        let mut written = WrittenFrames::new();
        let outcome = self.outbox.write(&self.socket, &mut written);
        add(
            &self.house.counters.bytes_written,
            self.outbox.written_bytes() - before,
        );
        outcome?;
        if written.is_empty() {
            return Ok(false);
        }
        self.tell(SessionInput::FramesWritten(written));
        let has_news = !self.effects.is_empty();
        self.obey();
        Ok(has_news)
    }

    fn tell(&mut self, input: SessionInput) {
        if self.closing.is_none() {
            let now = self.house.now();
            self.session.handle(now, input, &mut self.effects);
        }
    }

    /// Does what the session said.
    fn obey(&mut self) {
        for effect in self.effects.drain(..) {
            match effect {
                SessionEffect::SendFrame(frame) => self.outbox.push(frame),
                SessionEffect::WriteLetter(letter) => self.parcels.add(&self.house, letter),
                SessionEffect::AskDirectory(question) => {
                    // Its answer comes as a letter, like all others.
                    let (house, id) = (Arc::clone(&self.house), self.id);
                    let request = house.clerk.receive(id, question);
                    tokio::spawn(async move {
                        house.clerk.answer(&house, id, request).await;
                    });
                }
                SessionEffect::EndWatch { watcher_id } => {
                    self.house.clerk.watchers.end(self.id, watcher_id);
                }
                SessionEffect::WakeAt(moment) => self.wake_at = Some(moment),
                SessionEffect::PauseReading => self.reading_paused = true,
                SessionEffect::ResumeReading => self.reading_paused = false,
                SessionEffect::Close { reason } => self.closing = Some(reason),
            }
        }
    }

    /// Writes what was said before the close, if the peer takes it in time.
    async fn last_words(&mut self, reason: CloseReason) -> End {
        let writing = async {
            let mut written = WrittenFrames::new();
            while !self.outbox.is_empty() {
                self.outbox.write(&self.socket, &mut written)?;
                if !self.outbox.is_empty() {
                    self.socket.writable().await?;
                }
            }
            io::Result::Ok(())
        };
        match timeout(LAST_WORDS_WAIT, writing).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!("the last words to {} were lost: {error}", self.peer),
            Err(_) => tracing::debug!("{} did not take our last words in time", self.peer),
        }
        End::Closed(reason)
    }

    /// Topics must hear the last letters of a session (that it is gone), however long a desk takes.
    async fn hand_in_rest(&mut self) {
        while self.parcels.hand_in(&self.house).is_ok() && !self.parcels.is_empty() {
            if self.parcels.hand_in_first(&self.house).await.is_err() {
                break;
            }
        }
    }
}

/// Closes our side and waits a little for the peer to close its own: a socket that is closed while something unread
/// lies in it resets the connection, and the peer may lose our last words.
pub async fn linger(mut socket: TcpStream) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let draining = async {
        socket.shutdown().await?;
        let mut scrap = [0; 1024];
        while socket.read(&mut scrap).await? > 0 {}
        io::Result::Ok(())
    };
    // Whether the peer was polite changes nothing.
    let _ = timeout(LINGER_WAIT, draining).await;
}
