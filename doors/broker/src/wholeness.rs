//! Is a data directory whole? Its metadata names ledgers and its log holds them; with only one of the two a broker
//! would serve empty topics, and give the numbers of old ledgers to new ones.
//!
//! A first start makes the metadata before the log, and the log before any topic. So neither refusal below can be the
//! trace of a start that was cut short.

use crate::running::StartError;
use disk_log::LogSettings;
use disk_log::manifest::Manifest;
use metadata_store::embedded::EmbeddedStore;
use metadata_store::{MetadataReply, MetadataRequest};
use std::path::Path;
use vocabulary::WallTime;
use world::Disk;

/// The root of what topics keep (BROKER.md B2).
const TOPICS: &str = "/managed-ledgers";

/// What a broker leaves in its directory; any of it makes it ours, also a first start that was cut short.
const OURS: [&str; 4] = ["LOCK", "log", "metadata.redb", "metadata.redb.new"];

/// What a file system puts into its root.
const NOBODYS: [&str; 1] = ["lost+found"];

/// Refuses a directory with other people's files and none of ours: `--data-dir ~` is a slip. One that is not there yet
/// is fine; one that cannot be read is left to whoever opens it.
///
/// # Errors
/// [`StartError::Foreign`].
pub fn expect_ours(directory: &Path) -> Result<(), StartError> {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Ok(());
    };
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !NOBODYS.contains(&name.as_str()))
        .collect();
    names.sort();
    match names.first() {
        Some(first) if !names.iter().any(|name| OURS.contains(&name.as_str())) => {
            Err(StartError::Foreign {
                directory: directory.display().to_string(),
                holds: first.clone(),
            })
        }
        _ => Ok(()),
    }
}

/// Whether there is a log, be it a damaged one.
pub fn has_log(disk: &dyn Disk, log_directory: &str) -> bool {
    let settings = LogSettings::new(log_directory, [0; 16]);
    !matches!(Manifest::load(disk, &settings), Ok(None))
}

/// Refuses a store that knows topics where there is no log for them. To be asked before a log is made.
///
/// # Errors
/// [`StartError::LogMissing`]; or the store cannot be read.
pub fn expect_log(
    store: &mut EmbeddedStore,
    now: WallTime,
    has_log: bool,
    log_directory: &str,
) -> Result<(), StartError> {
    if has_log {
        return Ok(());
    }
    let topics = MetadataRequest::Children {
        ticket: 0,
        path: TOPICS.to_owned(),
    };
    for reply in store.turn(now, vec![topics]) {
        if let MetadataReply::Children { result, .. } = reply
            && !result?.is_empty()
        {
            return Err(StartError::LogMissing(log_directory.to_owned()));
        }
    }
    Ok(())
}
