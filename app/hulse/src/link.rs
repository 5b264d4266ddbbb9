//! The terminal's way to a broker: the project's own client session, on a TCP connection that comes back when it breaks.

use bytes::{BufMut, BytesMut};
use client_session::{
    Client, ClientAsk, ClientEffect, ClientEvent, ClientFrame, ClientInput, ClientSettings,
};
use os_world::OsClock;
use pulsar_wire::frame::{decode_frame, encode_command, encode_payload_header};
use std::collections::VecDeque;
use std::io;
use std::time::Duration;
use thiserror::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until, timeout};
use vocabulary::{Moment, Now, WallTime};
use world::Clock;

/// How long one attempt to connect may take.
const CONNECT_WAIT: Duration = Duration::from_secs(10);

/// How long a broker may stay away before the command gives up.
const AWAY_MAX: Duration = Duration::from_secs(60);

/// Room for one read, bytes.
const READ_BYTES: usize = 64 * 1024;

/// Pulsar's port of the binary protocol.
const DEFAULT_PORT: u16 = 6650;

/// Why there is no way to the broker.
#[derive(Debug, Error)]
pub enum LinkError {
    /// The URL is none.
    #[error("--url {0}: expected pulsar://host:port, as in pulsar://localhost:6650")]
    BadUrl(String),
    /// Not in this version.
    #[error("--url {0}: this command speaks no TLS yet; use a pulsar:// address")]
    Tls(String),
    /// Nobody is there.
    #[error(
        "cannot reach the broker at {address}: {reason}; is it running? `hulse standalone` starts one"
    )]
    Unreachable {
        /// Host and port.
        address: String,
        /// What the system said.
        reason: io::Error,
    },
    /// It was there, and did not come back.
    #[error("the broker at {0} has been away for {AWAY_MAX:?}; giving up")]
    Away(String),
}

/// A client session with its connection.
pub struct Link {
    address: String,
    client: Client,
    clock: OsClock,
    socket: Option<TcpStream>,
    inbound: BytesMut,
    outbound: BytesMut,
    effects: Vec<ClientEffect>,
    events: VecDeque<ClientEvent>,
    wake_at: Option<Moment>,
    reconnect_at: Option<Instant>,
    away_since: Option<Instant>,
}

impl Link {
    /// Connects. A broker that is not there at first is an error; one that goes away later may come back.
    pub async fn open(url: &str) -> Result<Link, LinkError> {
        let address = address_of(url)?;
        let socket = connect(&address)
            .await
            .map_err(|reason| LinkError::Unreachable {
                address: address.clone(),
                reason,
            })?;
        let mut link = Link {
            address,
            client: Client::new(ClientSettings::default()),
            clock: OsClock::new(),
            socket: Some(socket),
            inbound: BytesMut::new(),
            outbound: BytesMut::new(),
            effects: Vec::new(),
            events: VecDeque::new(),
            wake_at: None,
            reconnect_at: None,
            away_since: None,
        };
        link.tell(ClientInput::Connected);
        Ok(link)
    }

    /// Asks the session for something; the answer is an event.
    pub fn ask(&mut self, ask: ClientAsk) {
        self.tell(ClientInput::Ask(ask));
    }

    /// Sends that are not confirmed.
    pub fn pending_sends(&self) -> usize {
        self.client.pending_sends()
    }

    /// The next thing that the session has to say. May be dropped and called again.
    pub async fn next(&mut self) -> Result<ClientEvent, LinkError> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(event);
            }
            self.step().await?;
        }
    }

    /// Waits for one thing to happen and tells the session.
    async fn step(&mut self) -> Result<(), LinkError> {
        let alarm = self.wake_at.map(|moment| {
            let left = moment.since(Moment(self.clock.monotonic_ns()));
            Instant::now() + left.min(Duration::from_secs(3600))
        });
        let alarm = async {
            match alarm {
                Some(instant) => sleep_until(instant).await,
                None => std::future::pending().await,
            }
        };
        let Some(socket) = &mut self.socket else {
            return self.come_back().await;
        };
        let (mut reader, mut writer) = socket.split();
        self.inbound.reserve(READ_BYTES);
        let happened = tokio::select! {
            biased;
            written = writer.write_buf(&mut self.outbound), if !self.outbound.is_empty() => written.map(|_| None),
            read = reader.read_buf(&mut self.inbound) => read.map(Some),
            () = alarm => {
                self.wake_at = None;
                self.tell(ClientInput::TimeCame);
                return Ok(());
            }
        };
        match happened {
            Ok(None) => {}
            Ok(Some(0)) | Err(_) => {
                self.drop_connection();
                self.tell(ClientInput::PeerGone);
            }
            Ok(Some(_)) => self.decode(),
        }
        Ok(())
    }

    async fn come_back(&mut self) -> Result<(), LinkError> {
        if let Some(at) = self.reconnect_at {
            sleep_until(at).await;
        }
        let since = *self.away_since.get_or_insert_with(Instant::now);
        if since.elapsed() > AWAY_MAX {
            return Err(LinkError::Away(self.address.clone()));
        }
        self.reconnect_at = None;
        match connect(&self.address).await {
            Ok(socket) => {
                self.socket = Some(socket);
                self.tell(ClientInput::Connected);
            }
            Err(error) => {
                tracing::warn!("the broker at {} is away: {error}", self.address);
                self.tell(ClientInput::PeerGone);
            }
        }
        Ok(())
    }

    fn decode(&mut self) {
        while self.socket.is_some() {
            match decode_frame(&mut self.inbound, self.client.max_frame_size()) {
                Ok(Some(frame)) => self.tell(ClientInput::FrameArrived(frame)),
                Ok(None) => return,
                Err(error) => return self.tell(ClientInput::FrameRefused(error)),
            }
        }
    }

    fn tell(&mut self, input: ClientInput) {
        let now = Now {
            moment: Moment(self.clock.monotonic_ns()),
            wall: WallTime(self.clock.wall_ms()),
        };
        self.client.handle(now, input, &mut self.effects);
        for effect in std::mem::take(&mut self.effects) {
            match effect {
                ClientEffect::SendFrame(frame) => write(&frame, &mut self.outbound),
                ClientEffect::Event(event) => {
                    if matches!(event, ClientEvent::Ready { .. }) {
                        self.away_since = None;
                    }
                    self.events.push_back(event);
                }
                ClientEffect::WakeAt(moment) => self.wake_at = Some(moment),
                ClientEffect::Close { reason } => {
                    tracing::debug!("closing the connection: {reason}");
                    self.drop_connection();
                }
                ClientEffect::Reconnect { after } => {
                    self.reconnect_at = Some(Instant::now() + after)
                }
            }
        }
    }

    fn drop_connection(&mut self) {
        self.socket = None;
        self.inbound.clear();
        self.outbound.clear();
    }
}

fn write(frame: &ClientFrame, into: &mut BytesMut) {
    match &frame.payload {
        Some(payload) => {
            encode_payload_header(&frame.command, payload.len(), into);
            into.put_slice(payload);
        }
        None => encode_command(&frame.command, into),
    }
}

async fn connect(address: &str) -> io::Result<TcpStream> {
    let socket = timeout(CONNECT_WAIT, TcpStream::connect(address))
        .await
        .map_err(|_| {
            io::Error::new(
                io::ErrorKind::TimedOut,
                format!("no answer within {CONNECT_WAIT:?}"),
            )
        })??;
    socket.set_nodelay(true)?;
    Ok(socket)
}

/// Host and port of a service URL.
fn address_of(url: &str) -> Result<String, LinkError> {
    let bad = || LinkError::BadUrl(url.to_owned());
    let Some((scheme, authority)) = url.split_once("://") else {
        return Err(bad());
    };
    match scheme {
        "pulsar" => {}
        "pulsar+ssl" => return Err(LinkError::Tls(url.to_owned())),
        _ => return Err(bad()),
    }
    let authority = authority.trim_end_matches('/');
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => {
            (host, port.parse::<u16>().map_err(|_| bad())?)
        }
        _ => (authority, DEFAULT_PORT),
    };
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    if host.is_empty() || host.contains(['/', ',', '@']) || (bare.is_none() && host.contains(':')) {
        return Err(bad());
    }
    Ok(format!("{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::address_of;

    #[test]
    fn service_urls_name_a_host_and_a_port() {
        for (url, address) in [
            ("pulsar://localhost:6650", "localhost:6650"),
            ("pulsar://broker.example/", "broker.example:6650"),
            ("pulsar://[::1]:7000", "[::1]:7000"),
            ("pulsar://[::1]", "[::1]:6650"),
        ] {
            assert_eq!(address_of(url).ok().as_deref(), Some(address), "{url}");
        }
        for url in [
            "localhost:6650",
            "http://localhost",
            "pulsar://",
            "pulsar://a:b",
            "pulsar://::1:5",
            "pulsar://a,b:1",
        ] {
            assert!(address_of(url).is_err(), "{url}");
        }
        assert!(
            address_of("pulsar+ssl://a:6651")
                .unwrap_err()
                .to_string()
                .contains("TLS")
        );
    }
}
