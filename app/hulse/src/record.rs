//! `hulse record`: a proxy that writes down what clients and a broker say.

use crate::{RecordArguments, exit};
use lens::{RecordError, RecordSettings, Recorded, Recorder};
use std::fs::OpenOptions;
use std::io::{BufWriter, Write, stdout};
use std::process::ExitCode;
use thiserror::Error;
use tokio::signal::unix::{SignalKind, signal};

/// Why nothing was recorded.
#[derive(Debug, Error)]
enum FileError {
    #[error("{0} is there already: a recording overwrites nothing; choose another --file")]
    Exists(String),
    #[error("cannot write {0}: {1}")]
    Unwritable(String, std::io::Error),
}

/// Records until it is interrupted.
pub fn run(arguments: &RecordArguments) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .worker_threads(2)
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return exit::with(exit::FAILED, &format!("cannot start: {error}")),
    };
    match runtime.block_on(record(arguments)) {
        Ok(ExitCode::SUCCESS) => ExitCode::SUCCESS,
        Ok(code) => code,
        Err(error @ (RecordError::Tls(_) | RecordError::BadUrl(_))) => {
            exit::with(exit::USAGE, &error)
        }
        Err(error) => exit::with(exit::FAILED, &error),
    }
}

async fn record(arguments: &RecordArguments) -> Result<ExitCode, RecordError> {
    let recorder = Recorder::bind(&RecordSettings {
        listen: arguments.listen.clone(),
        to: arguments.to.clone(),
    })
    .await?;
    let transcript = match open(arguments) {
        Ok(transcript) => transcript,
        Err(error) => return Ok(exit::with(exit::FAILED, &error)),
    };
    // Before the line that says so: whoever reads it may stop us.
    let stop = stopped()?;
    eprintln!(
        "Recording what clients of {} and {} say; Ctrl-C ends it.",
        recorder.url(),
        arguments.to
    );
    let Recorded { lines, connections } = recorder.run(transcript, stop).await?;
    eprintln!("Recorded {lines} lines of {connections} connections.");
    Ok(ExitCode::SUCCESS)
}

fn open(arguments: &RecordArguments) -> Result<Box<dyn Write + Send>, FileError> {
    let Some(path) = &arguments.file else {
        return Ok(Box::new(BufWriter::new(stdout())));
    };
    let name = path.display().to_string();
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(file) => Ok(Box::new(BufWriter::new(file))),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(FileError::Exists(name))
        }
        Err(error) => Err(FileError::Unwritable(name, error)),
    }
}

/// Ends with the first SIGINT or SIGTERM.
fn stopped() -> Result<impl Future<Output = ()>, std::io::Error> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
