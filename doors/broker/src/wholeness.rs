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
use vocabulary::WallTime;
use world::Disk;

/// The root of what topics keep (BROKER.md B2).
const TOPICS: &str = "/managed-ledgers";

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
