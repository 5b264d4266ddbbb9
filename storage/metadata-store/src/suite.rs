//! What every provider must pass: the seam's contract as checks that need nothing but a store.
//!
//! A provider implements [`StoreUnderTest`] in its tests and calls [`run`]. A check panics with a
//! message that names what was promised. Requests of one call to `ask` that are about different
//! paths may be carried out in any order, so the checks depend on order within one path only.

mod children;
mod paths;
mod sequential;
mod sessions;
mod values;
mod versions;
mod watching;

use crate::seam::{Expect, KeyKind, MetadataError, MetadataReply, MetadataRequest, Stat, Ticket};
use bytes::Bytes;
use std::collections::BTreeMap;

/// A store as the suite drives it.
pub trait StoreUnderTest {
    /// Hands over requests and drives the store until each is answered. Notifications that came are
    /// in the result too. With no requests: drives the store a little, for late notifications.
    fn ask(&mut self, requests: Vec<MetadataRequest>) -> Vec<MetadataReply>;

    /// Ends the asker's session in the way the store knows (an expiry, a restart) and returns once a
    /// new one exists and the old one's ephemeral keys are gone. Watches need not survive.
    fn end_session(&mut self);

    /// Watches a prefix.
    fn watch(&mut self, prefix: &str);

    /// The largest value it is promised to keep.
    fn largest_value_bytes(&self) -> usize {
        1 << 20
    }
}

/// A check's name and what it does.
type Check = (&'static str, fn(&mut Bench<'_>));

/// In an order in which a beginner's provider should make them pass.
const CHECKS: &[Check] = &[
    ("absent", versions::an_absent_key_is_certainly_absent),
    ("versions", versions::each_write_counts_one),
    ("compare", versions::a_write_happens_exactly_when_expected),
    (
        "compare-delete",
        versions::a_delete_happens_exactly_when_expected,
    ),
    ("recreate", versions::a_recreated_key_starts_over),
    ("order", versions::requests_on_one_path_keep_their_order),
    ("racers", versions::one_of_many_racers_wins),
    ("stats", versions::times_and_kind_are_kept),
    ("values", values::values_come_back_as_they_were),
    ("large", values::a_large_value_comes_back),
    ("names", values::unusual_names_are_kept),
    ("children", children::children_are_the_names_directly_below),
    ("implied", children::a_parent_without_value_is_listed),
    ("look-alikes", children::look_alikes_are_not_children),
    ("crowded", children::a_crowded_child_hides_nobody),
    ("many", children::many_children_are_listed),
    ("not-empty", children::a_key_with_children_stays),
    ("sequential", sequential::numbers_are_unique_and_grow),
    (
        "sequential-deleted",
        sequential::a_number_is_not_given_twice,
    ),
    ("sequential-session", sequential::numbers_grow_over_sessions),
    (
        "sequential-compare",
        sequential::a_numbered_key_is_always_new,
    ),
    ("ephemeral", sessions::ephemeral_keys_go_with_the_session),
    (
        "ephemeral-kind",
        sessions::the_kind_counts_only_when_created,
    ),
    ("ephemeral-sequential", sessions::both_at_once),
    ("persistent", sessions::other_keys_stay),
    ("watch", watching::changes_below_a_prefix_are_told),
    ("watch-look-alikes", watching::look_alikes_are_not_told),
    ("paths", paths::what_is_no_path_is_refused),
];

/// Runs all checks against a store that has no keys below `root` yet; each check stays below
/// `<root>/<its name>`.
///
/// # Panics
/// When the store breaks the contract.
pub fn run(store: &mut dyn StoreUnderTest, root: &str) {
    let mut next_ticket = 1;
    for (name, check) in CHECKS {
        let mut bench = Bench {
            store,
            root: format!("{root}/{name}"),
            next_ticket,
            told: Vec::new(),
        };
        check(&mut bench);
        next_ticket = bench.next_ticket;
    }
}

/// Where a check works: a store, a place in it, and shorthands.
struct Bench<'a> {
    store: &'a mut dyn StoreUnderTest,
    root: String,
    next_ticket: Ticket,
    /// Paths of `Changed` so far.
    told: Vec<String>,
}

impl Bench<'_> {
    /// A path of this check.
    fn path(&self, rest: &str) -> String {
        format!("{}/{rest}", self.root)
    }

    fn ticket(&mut self) -> Ticket {
        self.next_ticket += 1;
        self.next_ticket
    }

    /// Asks, and checks that each request gets exactly one answer and nothing else is answered.
    fn ask(&mut self, requests: Vec<MetadataRequest>) -> BTreeMap<Ticket, MetadataReply> {
        let expected: Vec<Ticket> = requests.iter().map(MetadataRequest::ticket).collect();
        let mut answers = BTreeMap::new();
        for reply in self.store.ask(requests) {
            match (reply.ticket(), reply) {
                (Some(ticket), reply) => {
                    assert!(expected.contains(&ticket), "nobody asked for {reply:?}");
                    let earlier = answers.insert(ticket, reply);
                    assert!(
                        earlier.is_none(),
                        "one request, one answer; also got {earlier:?}"
                    );
                }
                (None, MetadataReply::Changed { path }) => self.told.push(path),
                (None, _) => {}
            }
        }
        let answered: Vec<Ticket> = answers.keys().copied().collect();
        let mut sorted = expected;
        sorted.sort_unstable();
        assert_eq!(answered, sorted, "each request is answered");
        answers
    }

    fn ask_one(&mut self, request: MetadataRequest) -> MetadataReply {
        let (shown, ticket) = (format!("{request:?}"), request.ticket());
        self.ask(vec![request])
            .remove(&ticket)
            .unwrap_or_else(|| panic!("no answer to {shown}"))
    }

    fn try_get(&mut self, path: &str) -> Result<Option<(Bytes, Stat)>, MetadataError> {
        let ticket = self.ticket();
        match self.ask_one(MetadataRequest::Get {
            ticket,
            path: path.to_owned(),
        }) {
            MetadataReply::Got {
                path: echoed,
                result,
                ..
            } => {
                assert_eq!(echoed, path, "the answer to Get names the path");
                result
            }
            other => panic!("Get answered with {other:?}"),
        }
    }

    fn get(&mut self, path: &str) -> Option<(Bytes, Stat)> {
        self.try_get(path)
            .unwrap_or_else(|e| panic!("Get of {path} failed: {e}"))
    }

    /// Value and version.
    fn read(&mut self, path: &str) -> Option<(String, i64)> {
        self.get(path)
            .map(|(value, stat)| (String::from_utf8_lossy(&value).into_owned(), stat.version))
    }

    fn try_put(
        &mut self,
        path: &str,
        value: impl Into<Bytes>,
        expect: Expect,
        kind: KeyKind,
    ) -> Result<(String, Stat), MetadataError> {
        let ticket = self.ticket();
        let request = MetadataRequest::Put {
            ticket,
            path: path.to_owned(),
            value: value.into(),
            expect,
            kind,
        };
        match self.ask_one(request) {
            MetadataReply::Put { result, .. } => result,
            other => panic!("Put answered with {other:?}"),
        }
    }

    /// Writes whatever is there; the path as written.
    fn put(&mut self, path: &str, value: &'static str, kind: KeyKind) -> String {
        match self.try_put(path, value, Expect::Anything, kind) {
            Ok((written, _)) => written,
            Err(e) => panic!("Put of {path} failed: {e}"),
        }
    }

    fn put_plain(&mut self, path: &str, value: &'static str) {
        let written = self.put(path, value, KeyKind::Persistent);
        assert_eq!(written, path, "a plain key keeps its path");
    }

    fn try_delete(&mut self, path: &str, expect: Expect) -> Result<(), MetadataError> {
        let ticket = self.ticket();
        match self.ask_one(MetadataRequest::Delete {
            ticket,
            path: path.to_owned(),
            expect,
        }) {
            MetadataReply::Deleted {
                path: echoed,
                result,
                ..
            } => {
                assert_eq!(echoed, path, "the answer to Delete names the path");
                result
            }
            other => panic!("Delete answered with {other:?}"),
        }
    }

    fn delete(&mut self, path: &str) {
        self.try_delete(path, Expect::Anything)
            .unwrap_or_else(|e| panic!("Delete of {path} failed: {e}"));
    }

    fn try_children(&mut self, path: &str) -> Result<Vec<String>, MetadataError> {
        let ticket = self.ticket();
        match self.ask_one(MetadataRequest::Children {
            ticket,
            path: path.to_owned(),
        }) {
            MetadataReply::Children {
                path: echoed,
                result,
                ..
            } => {
                assert_eq!(echoed, path, "the answer to Children names the path");
                result
            }
            other => panic!("Children answered with {other:?}"),
        }
    }

    fn children(&mut self, path: &str) -> Vec<String> {
        self.try_children(path)
            .unwrap_or_else(|e| panic!("Children of {path} failed: {e}"))
    }

    /// Drives the store until a `Changed` of this path came since `told` was last cleared.
    fn await_told(&mut self, path: &str) {
        for _ in 0..1000 {
            if self.told.iter().any(|told| told == path) {
                return;
            }
            self.ask(Vec::new());
        }
        panic!("the change of {path}, under a watched prefix, was never told");
    }
}

/// That a change was refused because the key was not as expected.
fn assert_bad_version<T: std::fmt::Debug>(
    result: Result<T, MetadataError>,
    path: &str,
    when: &str,
) {
    match result {
        Err(MetadataError::BadVersion(named, _)) => {
            assert_eq!(named, path, "the error names the key")
        }
        other => panic!("{when}: expected BadVersion about {path}, got {other:?}"),
    }
}
