//! Where the broker is, and how to kill it if it is ours.

use crate::{Outcome, Problem};
use pulsar::{ConnectionRetryOptions, OperationRetryOptions, Pulsar, TokioExecutor};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// A client of this guest.
pub type Client = Pulsar<TokioExecutor>;

/// A broker.
pub struct Place {
    /// `pulsar://127.0.0.1:PORT`
    pub url: String,
    http: String,
    own: Option<Own>,
}

struct Own {
    binary: String,
    directory: PathBuf,
    process: Child,
}

impl Place {
    /// Somebody else's.
    pub fn of(url: &str, http: &str) -> Place {
        let (url, http) = (url.to_owned(), http.to_owned());
        Place {
            url,
            http,
            own: None,
        }
    }

    /// Our own, on free ports, in a directory of its own.
    pub async fn own(binary: &str) -> Result<Place, Problem> {
        let directory = std::env::temp_dir().join(format!("hulse-guest-{}", unique()));
        std::fs::create_dir_all(&directory)?;
        let (process, url, http) = start(binary, &directory, "0", "0").await?;
        let binary = binary.to_owned();
        let own = Some(Own {
            binary,
            directory,
            process,
        });
        Ok(Place { url, http, own })
    }

    /// Kills it without a warning and starts it again at the same place.
    pub async fn kill_and_start(&mut self) -> Outcome {
        let own = self.own.as_mut().ok_or("this broker is not ours to kill")?;
        own.process.kill().await?;
        let (port, web) = (port_of(&self.url), port_of(&self.http));
        own.process = start(&own.binary, &own.directory, port, web).await?.0;
        Ok(())
    }

    /// A client that gives up at the first refusal, instead of asking again and again.
    pub async fn client(&self) -> Result<Client, Problem> {
        let once = OperationRetryOptions {
            max_retries: Some(0),
            ..Default::default()
        };
        Ok(Pulsar::builder(&self.url, TokioExecutor)
            .with_operation_retry_options(once)
            .build()
            .await?)
    }

    /// A client that comes back to a broker that was away.
    pub async fn patient_client(&self) -> Result<Client, Problem> {
        let retry = ConnectionRetryOptions {
            max_backoff: Duration::from_millis(500),
            max_retries: 60,
            ..Default::default()
        };
        let again = OperationRetryOptions {
            retry_delay: Duration::from_millis(100),
            ..Default::default()
        };
        Ok(Pulsar::builder(&self.url, TokioExecutor)
            .with_connection_retry_options(retry)
            .with_operation_retry_options(again)
            .build()
            .await?)
    }

    /// Makes a partitioned topic.
    pub async fn partitioned(&self, topic: &str, partitions: u32) -> Outcome {
        let local = topic.rsplit('/').next().unwrap_or(topic);
        let address = self.http.strip_prefix("http://").unwrap_or(&self.http);
        let body = partitions.to_string();
        let request = format!(
            "PUT /admin/v2/persistent/public/default/{local}/partitions HTTP/1.1\r\nHost: {address}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        match answer.starts_with("HTTP/1.1 204") {
            true => Ok(()),
            false => Err(format!("a partitioned topic was not made: {answer}").into()),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(own) = &mut self.own {
            own.process.start_kill().ok();
            std::fs::remove_dir_all(&own.directory).ok();
        }
    }
}

async fn start(
    binary: &str,
    directory: &PathBuf,
    port: &str,
    web: &str,
) -> Result<(Child, String, String), Problem> {
    let mut command = Command::new(binary);
    command.arg("standalone").arg("--data-dir").arg(directory);
    command.args(["--set", &format!("brokerServicePort={port}")]);
    command.args(["--set", &format!("webServicePort={web}")]);
    command.args([
        "--set",
        "bindAddress=127.0.0.1",
        "--set",
        "advertisedAddress=127.0.0.1",
    ]);
    let mut process = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let mut out = BufReader::new(process.stdout.take().ok_or("no standard output")?);
    let mut line = String::new();
    out.read_line(&mut line).await?;
    tokio::spawn(async move { out.read_to_string(&mut String::new()).await });
    let url = |scheme: &str| {
        let word = line
            .split_whitespace()
            .find(|word| word.starts_with(scheme))?;
        Some(word.trim_end_matches([',', '/']).to_owned())
    };
    match (url("pulsar://"), url("http://")) {
        (Some(pulsar), Some(http)) => Ok((process, pulsar, http)),
        _ => Err(format!("the broker did not start: {line:?}").into()),
    }
}

fn port_of(url: &str) -> &str {
    url.rsplit(':').next().unwrap_or("0")
}

/// A name for a topic that nobody used before.
pub fn topic(name: &str) -> String {
    format!("persistent://public/default/rust-{name}-{}", unique())
}

/// Eight letters that nobody used before.
pub fn unique() -> String {
    format!("{:08x}", rand::random::<u32>())
}
