//! The proxy as a whole: it listens, relays and writes until it is told to stop.

use crate::detour::{Detour, host_and_port};
use crate::relay::{self, Road};
use crate::writer;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Connections at one time; who comes later waits for one to end.
const CONNECTIONS_MAX: usize = 1024;

/// What a recorder needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordSettings {
    /// Where clients connect to, `host:port`; port 0 takes a free one.
    pub listen: String,
    /// The broker, `pulsar://host:port`.
    pub to: String,
}

/// Why nothing can be recorded.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The address is taken, or none of this machine.
    #[error("cannot listen on {address}: {reason}; choose another address with --listen")]
    Listen {
        /// The address.
        address: String,
        /// What the system said.
        reason: io::Error,
    },
    /// Not in this version.
    #[error("--to {0}: the recorder speaks no TLS; use the broker's pulsar:// address")]
    Tls(String),
    /// The url is none.
    #[error("--to {0}: expected pulsar://host:port, as in pulsar://localhost:6650")]
    BadUrl(String),
    /// The transcript cannot be written any more.
    #[error("the transcript cannot be written: {0}")]
    Write(#[from] io::Error),
}

/// What was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Lines of the transcript.
    pub lines: u64,
    /// Connections.
    pub connections: u64,
}

/// A recorder that listens.
pub struct Recorder {
    listener: TcpListener,
    address: SocketAddr,
    target: String,
}

impl Recorder {
    /// Listens.
    ///
    /// # Errors
    /// The broker's url is none, or the address cannot be had.
    pub async fn bind(settings: &RecordSettings) -> Result<Recorder, RecordError> {
        let target = target_of(&settings.to)?;
        let failed = |reason| RecordError::Listen {
            address: settings.listen.clone(),
            reason,
        };
        let listener = TcpListener::bind(&settings.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Recorder {
            listener,
            address,
            target,
        })
    }

    /// The url for clients.
    #[must_use]
    pub fn url(&self) -> String {
        format!("pulsar://{}", self.address)
    }

    /// Relays and writes until `stop` comes, then hangs up and finishes the transcript.
    ///
    /// # Errors
    /// The transcript cannot be written.
    pub async fn run(
        self,
        transcript: Box<dyn Write + Send>,
        stop: impl Future<Output = ()>,
    ) -> Result<Recorded, RecordError> {
        let road = Arc::new(Road {
            detour: Detour::by(self.url()),
            target: self.target,
        });
        let (pen, writing) = writer::start(transcript);
        let mut connections = JoinSet::new();
        let mut number = 0;
        tokio::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                _ = connections.join_next(), if !connections.is_empty() => {}
                accepted = self.listener.accept(), if connections.len() < CONNECTIONS_MAX => {
                    let Ok((client, _)) = accepted else {
                        // Out of files, most likely: one that ends makes room.
                        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                        continue;
                    };
                    number += 1;
                    connections.spawn(relay::run(client, number, Arc::clone(&road), pen.clone()));
                }
            }
            if writing.is_finished() {
                break;
            }
        }
        connections.shutdown().await;
        drop(pen);
        let joined = tokio::task::spawn_blocking(move || writing.join()).await;
        let Ok(Ok(outcome)) = joined else {
            return Err(io::Error::other("its writer ended").into());
        };
        let written = outcome?;
        Ok(Recorded {
            lines: written.lines,
            connections: written.connections,
        })
    }
}

fn target_of(url: &str) -> Result<String, RecordError> {
    if url.starts_with("pulsar+ssl://") || url.starts_with("https://") {
        return Err(RecordError::Tls(url.to_owned()));
    }
    let target = url
        .strip_prefix("pulsar://")
        .map(host_and_port)
        .filter(|target| !target.is_empty())
        .ok_or_else(|| RecordError::BadUrl(url.to_owned()))?;
    let has_port = target
        .rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    match has_port {
        true => Ok(target.to_owned()),
        false => Err(RecordError::BadUrl(url.to_owned())),
    }
}
