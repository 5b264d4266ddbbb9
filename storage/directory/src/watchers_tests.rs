use crate::Watchers;
use crate::pattern::TopicPattern;
use crate::watchers::topic_of;
use letters::{SessionLetter, ToSession};
use pulsar_wire::topics_hash::topics_hash;
use vocabulary::{NamespaceName, SessionId, TopicName};

const SESSION: SessionId = SessionId(1);

fn namespace() -> NamespaceName {
    NamespaceName::parse("public/default").unwrap()
}

fn topic(local: &str) -> TopicName {
    TopicName::parse(&format!("persistent://public/default/{local}")).unwrap()
}

fn names(locals: &[&str]) -> Vec<String> {
    let names = locals.iter().map(|local| topic(local).as_str().to_owned());
    names.collect()
}

fn pattern(text: &str) -> TopicPattern {
    TopicPattern::parse(text).unwrap()
}

/// A watcher 5 of `public/default/a.*` in a namespace with a1 and b1.
fn watched() -> Watchers {
    let mut watchers = Watchers::default();
    watchers.begin(SESSION, 5, 10, &namespace(), pattern("public/default/a.*"));
    watchers.listed(&namespace(), names(&["a1", "b1"]));
    assert_eq!(first(&mut watchers, 5, 10), Some(names(&["a1"])));
    watchers
}

fn first(watchers: &mut Watchers, watcher_id: u64, request_id: u64) -> Option<Vec<String>> {
    let mut letters = Vec::new();
    let list = watchers.first_list(SESSION, watcher_id, request_id, &mut letters);
    assert_eq!(letters, []);
    list
}

fn changed(watcher_id: u64, created: &[&str], deleted: &[&str], all: &[&str]) -> ToSession {
    let letter = SessionLetter::TopicsChanged {
        watcher_id,
        created: names(created),
        deleted: names(deleted),
        hash: topics_hash(names(all).iter().map(String::as_str)),
    };
    ToSession {
        session: SESSION,
        letter,
    }
}

#[test]
fn what_comes_and_goes_is_told_in_batches_to_whom_it_concerns() {
    let mut watchers = watched();
    watchers.heard(&topic("a2"), true);
    watchers.heard(&topic("b2"), true);
    watchers.heard(&topic("a1"), false);
    watchers.heard(&topic("a3-partition-0"), true);
    let all = ["a2", "a3-partition-0"];
    assert_eq!(watchers.news(), [changed(5, &all, &["a1"], &all)]);
    assert_eq!(watchers.news(), []);
    watchers.heard(&topic("b1"), false);
    assert_eq!(watchers.news(), [], "the pattern does not mean it");
}

#[test]
fn what_is_no_change_is_no_news() {
    let mut watchers = watched();
    watchers.heard(&topic("a1"), true);
    watchers.heard(&topic("a9"), false);
    watchers.heard(&topic("a2"), true);
    watchers.heard(&topic("a2"), false);
    watchers.heard(&topic("a__change_events"), true);
    assert_eq!(watchers.news(), []);
}

#[test]
fn what_changes_while_the_list_is_read_is_in_the_list() {
    let mut watchers = Watchers::default();
    watchers.begin(SESSION, 5, 10, &namespace(), TopicPattern::any());
    assert!(watchers.wants_list(&namespace()));
    watchers.heard(&topic("new"), true);
    watchers.heard(&topic("old"), false);
    assert_eq!(watchers.news(), [], "nobody has a list yet");
    watchers.listed(&namespace(), names(&["old", "other"]));
    assert!(!watchers.wants_list(&namespace()));
    assert_eq!(first(&mut watchers, 5, 10), Some(names(&["new", "other"])));
    assert_eq!(watchers.news(), []);
}

#[test]
fn a_second_list_does_not_undo_what_was_heard_since_the_first() {
    let mut watchers = watched();
    watchers.heard(&topic("a2"), true);
    watchers.listed(&namespace(), names(&["a1", "b1"]));
    let all = ["a1", "a2"];
    assert_eq!(watchers.news(), [changed(5, &["a2"], &[], &all)]);
}

#[test]
fn a_newcomer_gets_no_news_of_what_its_list_has() {
    let mut watchers = watched();
    watchers.heard(&topic("a2"), true);
    watchers.begin(SESSION, 6, 11, &namespace(), TopicPattern::any());
    let mut letters = Vec::new();
    let list = watchers.first_list(SESSION, 6, 11, &mut letters);
    assert_eq!(list, Some(names(&["a1", "a2", "b1"])));
    assert_eq!(letters, [changed(5, &["a2"], &[], &["a1", "a2"])]);
    assert_eq!(watchers.news(), []);
}

#[test]
fn a_watcher_without_its_list_hears_nothing() {
    let mut watchers = watched();
    watchers.begin(SESSION, 6, 11, &namespace(), TopicPattern::any());
    watchers.heard(&topic("b2"), true);
    assert_eq!(watchers.news(), []);
    let all = ["a1", "b1", "b2"];
    assert_eq!(first(&mut watchers, 6, 11), Some(names(&all)));
}

#[test]
fn a_watch_that_begins_anew_is_answered_by_its_last_request() {
    let mut watchers = watched();
    watchers.begin(SESSION, 5, 11, &namespace(), pattern("public/default/b.*"));
    watchers.listed(&namespace(), names(&["a1", "b1"]));
    assert_eq!(first(&mut watchers, 5, 10), None);
    assert_eq!(first(&mut watchers, 5, 11), Some(names(&["b1"])));
}

#[test]
fn nothing_is_kept_for_those_who_left() {
    let mut watchers = watched();
    watchers.begin(SESSION, 6, 11, &namespace(), TopicPattern::any());
    let other = SessionId(2);
    watchers.begin(other, 5, 12, &namespace(), TopicPattern::any());
    watchers.end(SESSION, 5);
    watchers.end(SESSION, 5);
    assert_eq!(first(&mut watchers, 5, 10), None);
    watchers.session_gone(SESSION);
    assert!(!watchers.is_empty());
    watchers.heard(&topic("a2"), true);
    watchers.session_gone(other);
    assert!(watchers.is_empty());
    watchers.heard(&topic("a3"), true);
    assert_eq!(watchers.news(), []);
}

#[test]
fn topics_come_and_go_with_their_logs() {
    let found = topic_of("/managed-ledgers/public/default/persistent/a%3Ab");
    assert_eq!(
        found.map(|topic| topic.local().to_owned()),
        Some("a:b".to_owned())
    );
    for other in [
        "/managed-ledgers/public/default/persistent",
        "/managed-ledgers/public/default/persistent/a/sub",
        "/managed-ledgers/public/default/non-persistent/a",
        "/managed-ledgers/public/default/persistent/%ZZ",
        "/admin/policies/public/default/a",
    ] {
        assert_eq!(topic_of(other), None, "{other}");
    }
}
