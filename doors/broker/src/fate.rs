//! Threads the process cannot live without. When one of them dies, the process ends: crash before corrupt.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::JoinHandle;
use tokio::sync::watch;

/// Tells of the first failure that the process must not survive.
#[derive(Clone)]
pub struct Fate {
    first_failure: watch::Sender<Option<String>>,
}

/// Stack of a thread whose work is not recursive, bytes.
const STACK_BYTES: usize = 512 * 1024;

impl Default for Fate {
    fn default() -> Fate {
        Fate {
            first_failure: watch::channel(None).0,
        }
    }
}

impl Fate {
    /// Says that the process must end, and why. The first one to say so is heard.
    pub fn fail(&self, why: String) {
        tracing::error!("{why}");
        self.first_failure.send_if_modified(|failure| {
            let is_first = failure.is_none();
            if is_first {
                *failure = Some(why);
            }
            is_first
        });
    }

    /// Waits until somebody says so.
    pub async fn failed(&self) -> String {
        let mut receiver = self.first_failure.subscribe();
        // The sender lives in `self`, so the wait ends with a failure or not at all.
        match receiver.wait_for(Option::is_some).await {
            Ok(failure) => failure.clone().unwrap_or_default(),
            Err(_) => std::future::pending().await,
        }
    }

    /// Starts a thread whose panic ends the process.
    pub fn spawn(
        &self,
        name: &str,
        work: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<JoinHandle<()>> {
        let fate = self.clone();
        let thread = name.to_owned();
        std::thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(move || {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
                fate.fail(format!(
                    "the {thread} thread ran into a mistake of this program and stopped: {}. The process ends, so that \
                     nothing wrong reaches the disk; what was confirmed is safe. Start it again, and report this text",
                    text_of(panic.as_ref())
                ));
            }
        })
    }
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no text")
}
