//! One connection: whatever one side says is written down and handed to the other.

use crate::detour::Detour;
use crate::frames::{Frames, Heard};
use crate::secrets;
use crate::writer::Pen;
use bytes::{Bytes, BytesMut};
use pulsar_wire::frame::{Frame, encode_command, encode_payload_header};
use pulsar_wire::proto::base_command::Cmd;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use transcript::{Said, Speaker};

/// How long the broker may take to answer the call.
const CONNECT_WAIT: Duration = Duration::from_secs(10);

/// How long a client may take to say who it is.
const FIRST_FRAME_WAIT: Duration = Duration::from_secs(30);

/// What all connections share.
pub struct Road {
    pub target: String,
    pub detour: Detour,
}

/// From the client's call to the end of either side.
pub async fn run(client: TcpStream, connection: u32, road: Arc<Road>, pen: Pen) {
    pen.note(connection, Said::Opened).await;
    let by = match talk(client, connection, &road, &pen).await {
        Ok(by) => by,
        Err(error) => {
            tracing::warn!("connection {connection}: {error}");
            Speaker::Broker
        }
    };
    pen.note(connection, Said::Closed(by)).await;
}

async fn talk(client: TcpStream, connection: u32, road: &Road, pen: &Pen) -> io::Result<Speaker> {
    client.set_nodelay(true)?;
    let (from_client, to_client) = client.into_split();
    let mut from_client = Frames::of(from_client);
    let first = timeout(FIRST_FRAME_WAIT, from_client.next()).await;
    let Some(mut first) =
        first.map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "the client says nothing"))??
    else {
        return Ok(Speaker::Client);
    };
    let (target, client_version) = depart(&mut first, road);
    let broker = reach(&target).await?;
    let (from_broker, mut to_broker) = broker.into_split();
    note(connection, Speaker::Client, &first, pen).await;
    to_broker.write_all(&bytes_of(first)).await?;
    let mut to_client = to_client;
    let up = pass(
        &mut from_client,
        &mut to_broker,
        |_| {},
        Speaker::Client,
        connection,
        pen,
    );
    let keep_here = |frame: &mut Heard| keep_here(frame, &road.detour, &client_version);
    let mut from_broker = Frames::of(from_broker);
    let down = pass(
        &mut from_broker,
        &mut to_client,
        keep_here,
        Speaker::Broker,
        connection,
        pen,
    );
    // When one side has ended, nothing it says can be answered: the other side is told by the end of its connection.
    tokio::select! {
        biased;
        by = down => Ok(by),
        by = up => Ok(by),
    }
}

async fn reach(target: &str) -> io::Result<TcpStream> {
    let connecting = timeout(CONNECT_WAIT, TcpStream::connect(target)).await;
    let connected = connecting.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    let broker = connected
        .map_err(|error| io::Error::new(error.kind(), format!("cannot reach {target}: {error}")))?;
    broker.set_nodelay(true)?;
    Ok(broker)
}

/// Whom the first frame is for, and what the client calls itself.
fn depart(first: &mut Heard, road: &Road) -> (String, String) {
    let Heard::Frame(frame, bytes) = first else {
        return (road.target.clone(), String::new());
    };
    let Some(Cmd::Connect(connect)) = &mut frame.command.cmd else {
        return (road.target.clone(), String::new());
    };
    let version = connect.client_version.clone().unwrap_or_default();
    let (target, changed) = road.detour.depart(connect);
    if changed {
        *bytes = encoded(frame);
    }
    (target.unwrap_or_else(|| road.target.clone()), version)
}

fn keep_here(heard: &mut Heard, detour: &Detour, client_version: &str) {
    if let Heard::Frame(frame, bytes) = heard
        && detour.keep_here(&mut frame.command, client_version)
    {
        *bytes = encoded(frame);
    }
}

fn encoded(frame: &Frame) -> Bytes {
    let mut bytes = BytesMut::new();
    match &frame.payload {
        None => encode_command(&frame.command, &mut bytes),
        Some(entry) => {
            encode_payload_header(&frame.command, entry.len(), &mut bytes);
            bytes.extend_from_slice(entry);
        }
    }
    bytes.freeze()
}

fn bytes_of(heard: Heard) -> Bytes {
    match heard {
        Heard::Frame(_, bytes) | Heard::Bytes(bytes) => bytes,
    }
}

/// Until one of the two is gone; says which. Who does not take what is said to them is gone, too: a client that ends in the
/// middle of a conversation breaks the connection instead of closing it.
pub(crate) async fn pass(
    from: &mut Frames<impl AsyncRead + Unpin>,
    to: &mut (impl AsyncWrite + Unpin),
    change: impl Fn(&mut Heard),
    speaker: Speaker,
    connection: u32,
    pen: &Pen,
) -> Speaker {
    loop {
        let mut heard = match from.next().await {
            Ok(Some(heard)) => heard,
            Ok(None) => return speaker,
            Err(error) => return broke(speaker, connection, &error),
        };
        // Written down as it was said: the change is the proxy's.
        note(connection, speaker, &heard, pen).await;
        change(&mut heard);
        if let Err(error) = to.write_all(&bytes_of(heard)).await {
            let listener = match speaker {
                Speaker::Client => Speaker::Broker,
                Speaker::Broker => Speaker::Client,
            };
            return broke(listener, connection, &error);
        }
    }
}

fn broke(by: Speaker, connection: u32, error: &io::Error) -> Speaker {
    tracing::debug!("connection {connection}: {by:?} broke it: {error}");
    by
}

async fn note(connection: u32, speaker: Speaker, heard: &Heard, pen: &Pen) {
    let said = match heard {
        Heard::Bytes(bytes) => Said::Bytes(speaker, bytes.clone()),
        Heard::Frame(frame, _) => {
            let mut frame = frame.clone();
            secrets::hide(&mut frame.command);
            Said::Frame(speaker, frame)
        }
    };
    pen.note(connection, said).await;
}
