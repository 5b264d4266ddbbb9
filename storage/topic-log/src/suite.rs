//! What every provider of topic logs must pass: the seam's contract as checks that need nothing but logs.
//!
//! A provider implements [`LogsUnderTest`] in its tests and calls [`run`] with logs that answer straight,
//! and [`storm()`] with logs that make all the trouble they can. A check panics with a message that names
//! what was promised.

mod bench;
mod cursors;
mod entries;
mod life;
mod storm;

use bench::Bench;
use letters::{LogReply, LogRequest};
use vocabulary::{NamespaceName, TopicName};

pub use storm::{Score, storm};

/// Topic logs as the suite drives them.
pub trait LogsUnderTest {
    /// Makes a namespace.
    fn create_namespace(&mut self, namespace: &NamespaceName);
    /// Makes the metadata of a partitioned topic.
    fn create_partitioned(&mut self, topic: &TopicName, partitions: u32);
    /// Hands over a request.
    fn submit(&mut self, topic: &TopicName, request: LogRequest);
    /// Carries on a little; time passes.
    fn turn(&mut self) -> Vec<(TopicName, LogReply)>;
    /// The process dies and starts again: no log is open, what was promised to last is there.
    fn crash(&mut self);
}

type Check = (&'static str, fn(&mut Bench<'_>));

const CHECKS: &[Check] = &[
    (
        "missing topic",
        life::a_missing_topic_is_made_only_when_asked_and_allowed,
    ),
    ("property", life::a_property_comes_back_as_it_was_set),
    ("find", life::find_tells_what_exists),
    ("open twice", life::a_log_is_open_once),
    ("not open", life::a_log_that_is_not_open_refuses),
    ("delete", life::a_deleted_log_is_gone_with_all_it_held),
    ("close", life::a_closed_log_opens_again_with_everything),
    (
        "append",
        entries::appends_are_answered_in_order_with_growing_positions,
    ),
    ("read", entries::reads_keep_to_their_limits),
    ("read at", entries::exact_reads_leave_out_what_is_not_there),
    ("many ledgers", entries::reads_go_on_over_ledgers),
    ("crash", entries::stored_entries_survive_a_crash),
    ("trim", entries::trimming_removes_only_what_is_consumed),
    ("cursor", cursors::a_cursor_comes_back_as_it_was_saved),
    ("cursors", cursors::many_cursors_are_kept_apart),
    ("large cursor", cursors::a_large_snapshot_comes_back),
    (
        "cursor rules",
        cursors::creating_and_deleting_follow_the_rules,
    ),
];

/// Runs every check on fresh logs.
pub fn run<L: LogsUnderTest>(mut fresh: impl FnMut() -> L) {
    for (name, check) in CHECKS {
        let mut logs = fresh();
        let mut bench = Bench::new(&mut logs);
        eprintln!("suite: {name}");
        check(&mut bench);
    }
}
