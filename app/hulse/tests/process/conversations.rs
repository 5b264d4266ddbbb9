//! Conversations in the binary protocol, had with Hulse as with Apache Pulsar: `conversations/oracle` keeps what a real
//! Pulsar 4.0.8 answered. Where Hulse answers otherwise, `docs/differences.md` says why.

use crate::support::Broker;
use answers::differences::Difference;
use answers::{Differences, conversation};
use std::collections::BTreeSet;

#[test]
fn it_says_what_pulsar_says() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Broker::start(folder.path(), &[]);
    let text = include_str!("../../../../conversations/oracle/pulsar-4.0.8.txt");
    let talks = conversation::parse(text).unwrap();
    assert_eq!(conversation::to_text(&talks), text);
    let page = include_str!("../../../../docs/differences.md");
    let differences = Differences::parse(page).unwrap().of_conversations();
    let mut met = BTreeSet::new();
    let mut wrong = Vec::new();
    let mut count = 0;
    for talk in &talks {
        for (name, found) in talk.compare(&broker.binary).unwrap() {
            count += 1;
            let left = differences.unexplained(&name, found, &mut met);
            wrong.extend(left.into_iter().map(|left| format!("{name}: {left:?}")));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(differences.stale(&met), Vec::<&Difference>::new());
    assert!(count > 80, "{count}");
}
