//! `hulse standalone`: everything in one process, until a signal comes.

use crate::config::{Checked, check, values};
use crate::{ConfigurationArguments, configuration, exit};
use broker::{Broker, BrokerSettings, Stopped};
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Threads for sockets; desks and disks have their own.
const SOCKET_THREADS: usize = 2;

/// Stack of a socket thread, bytes. Nothing there is recursive.
const STACK_BYTES: usize = 1024 * 1024;

/// Signals that come so soon after the first one say nothing new.
const ECHO_WAIT: Duration = Duration::from_secs(1);

/// A write beyond the limit for files (`ulimit -f`) raises it; unheard it kills the process, heard it is an error of that
/// write, like a full disk.
const FILE_SIZE_SIGNAL: i32 = 25;

/// Runs until a signal comes or something happens that the process must not survive.
pub fn run(arguments: &ConfigurationArguments) -> ExitCode {
    let began = Instant::now();
    let checked = configuration::given(arguments).and_then(|given| {
        let mut checked = check(&given)?;
        checked.settings.configuration = values(&given);
        Ok(checked)
    });
    let Checked { settings, notices } = match checked {
        Ok(checked) => checked,
        Err(error) => return exit::with(exit::USAGE, &error),
    };
    for notice in notices {
        tracing::warn!("{notice}");
    }
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return exit::with(exit::FAILED, &format!("cannot start threads: {error}")),
    };
    let code = runtime.block_on(serve(settings, began));
    // Whatever still runs (a stuck disk) must not keep the process.
    runtime.shutdown_background();
    code
}

fn runtime() -> std::io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(SOCKET_THREADS)
        .thread_name("hulse-sockets")
        .thread_stack_size(STACK_BYTES)
        .enable_all()
        .build()
}

async fn serve(settings: BrokerSettings, began: Instant) -> ExitCode {
    let mut signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => {
            return exit::with(exit::FAILED, &format!("cannot listen for signals: {error}"));
        }
    };
    let data = settings.data_directory.display().to_string();
    let host = settings.advertised_address.clone();
    let broker = match Broker::start(settings).await {
        Ok(broker) => broker,
        Err(error) => return exit::with(exit::FAILED, &error),
    };
    announce(&format!(
        "hulse is ready: {} {} (data in {data}, started in {} ms)",
        broker::url("pulsar", &host, broker.binary_address().port()),
        broker::url("http", &host, broker.web_address().port()),
        began.elapsed().as_millis(),
    ));
    let name = tokio::select! {
        biased;
        why = broker.failed() => return exit::with(exit::FAILED, &why),
        name = signals.next() => name,
    };
    tracing::info!(
        "{name} came: telling clients, saving cursors; once more, after a second, and the process ends at once"
    );
    stop(broker, signals).await
}

async fn stop(broker: Broker, mut signals: Signals) -> ExitCode {
    tokio::select! {
        biased;
        stopped = broker.stop() => match stopped {
            Stopped::Cleanly => {
                announce("hulse has stopped");
                ExitCode::SUCCESS
            }
            Stopped::OutOfTime => exit::with(
                exit::FAILED,
                &"time ran out before all cursors were saved (brokerShutdownTimeoutMs); what was confirmed is safe, \
                  but some messages may come again",
            ),
        },
        name = signals.next_later() => exit::with(
            exit::FAILED,
            &format!("{name} came again: ending at once; what was confirmed is safe"),
        ),
    }
}

/// One line on stdout, for people and scripts that wait for it.
fn announce(line: &str) {
    let mut out = std::io::stdout().lock();
    // Nobody may be listening; the broker serves all the same.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// The signals that end a process in good order.
struct Signals {
    _file_size: Signal,
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn listen() -> std::io::Result<Signals> {
        Ok(Signals {
            _file_size: signal(SignalKind::from_raw(FILE_SIZE_SIGNAL))?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for one that is not the first one's echo: who stops a process group, or stops a container the second way
    /// in a hurry, sends it twice within moments and means one stop.
    async fn next_later(&mut self) -> &'static str {
        let began = Instant::now();
        loop {
            let name = self.next().await;
            if began.elapsed() >= ECHO_WAIT {
                return name;
            }
        }
    }

    /// Waits for the next one and names it.
    async fn next(&mut self) -> &'static str {
        tokio::select! {
            biased;
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
