//! A broker of our own for the time of a test.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A running `hulse standalone` on free ports; killed when dropped.
pub struct Broker {
    child: Child,
    /// `pulsar://127.0.0.1:PORT`
    pub url: String,
    /// `http://127.0.0.1:PORT`
    pub http: String,
}

impl Broker {
    /// Starts one and waits for its line.
    pub fn start(binary: &Path, data: &Path) -> Result<Broker> {
        let mut command = Command::new(binary);
        command.arg("standalone").arg("--data-dir").arg(data);
        for setting in [
            "brokerServicePort=0",
            "webServicePort=0",
            "bindAddress=127.0.0.1",
            "advertisedAddress=127.0.0.1",
        ] {
            command.args(["--set", setting]);
        }
        Broker::start_command(&mut command)
    }

    /// Starts one with a command that runs it.
    pub fn start_command(command: &mut Command) -> Result<Broker> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| {
                format!(
                    "{} could not be started",
                    command.get_program().to_string_lossy()
                )
            })?;
        let mut out = BufReader::new(child.stdout.take().context("no standard output")?);
        let mut line = String::new();
        out.read_line(&mut line)?;
        std::thread::spawn(move || {
            let mut rest = Vec::new();
            out.read_to_end(&mut rest).ok();
        });
        let url = |scheme: &str| {
            line.split_whitespace()
                .find(|word| word.starts_with(scheme))
                .map(|word| word.trim_end_matches([',', '/']).to_owned())
        };
        match (url("pulsar://"), url("http://")) {
            (Some(pulsar), Some(http)) => Ok(Broker {
                child,
                url: pulsar,
                http,
            }),
            _ => {
                child.kill().ok();
                bail!("the broker did not say that it is ready, but: {line:?}")
            }
        }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends it with SIGTERM and waits.
    pub fn stop(mut self) -> Result<()> {
        Command::new("kill")
            .arg(self.pid().to_string())
            .status()
            .context("kill could not be run")?;
        let status = self.child.wait()?;
        if !status.success() {
            bail!("the broker ended with {status} after SIGTERM");
        }
        Ok(())
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
