//! Opening, finding, closing.

use super::bench::{Bench, namespace, topic};
use bytes::Bytes;
use letters::log::TopicFacts;
use letters::{LogError, LogReply, LogRequest};
use vocabulary::Position;

pub(super) fn a_missing_topic_is_made_only_when_asked_and_allowed(bench: &mut Bench<'_>) {
    let name = bench.topic.to_string();
    let no_namespace = LogError::NoSuchNamespace("public/default".to_owned());
    assert_eq!(
        bench.open(true),
        LogReply::OpenFailed {
            error: no_namespace
        }
    );
    bench.logs.create_namespace(&namespace("public/default"));
    assert_eq!(
        bench.open(false),
        LogReply::OpenFailed {
            error: LogError::NoSuchTopic(name)
        }
    );
    let empty = LogReply::Opened {
        extent: vec![],
        cursors: vec![],
        properties: vec![],
    };
    assert_eq!(bench.open(true), empty);
    bench.close();
    assert_eq!(bench.open(false), empty, "once made it is there");
}

pub(super) fn find_tells_what_exists(bench: &mut Bench<'_>) {
    let find = |bench: &mut Bench<'_>| {
        let ticket = bench.ticket();
        match bench.ask(LogRequest::Find { ticket }) {
            LogReply::Found {
                ticket: of,
                result: Ok(facts),
            } if of == ticket => facts,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(find(bench), TopicFacts::default());
    bench.opened();
    let facts = TopicFacts {
        exists: true,
        namespace_exists: true,
        partitions: None,
    };
    assert_eq!(find(bench), facts);
    bench.topic = topic("persistent://public/default/wide topic");
    let wide = bench.topic.clone();
    bench.logs.create_partitioned(&wide, 7);
    assert_eq!(
        find(bench),
        TopicFacts {
            exists: false,
            partitions: Some(7),
            ..facts
        }
    );
    bench.topic = topic("persistent://public/default/wide topic-partition-0");
    assert_eq!(
        find(bench),
        TopicFacts {
            exists: false,
            partitions: Some(7),
            ..facts
        }
    );
}

pub(super) fn a_log_is_open_once(bench: &mut Bench<'_>) {
    bench.opened();
    let reply = bench.open(true);
    assert!(matches!(&reply, LogReply::OpenFailed { .. }), "{reply:?}");
    assert_eq!(
        bench.append(&["a"]).len(),
        1,
        "the open one is not disturbed"
    );
}

pub(super) fn a_log_that_is_not_open_refuses(bench: &mut Bench<'_>) {
    let (name, body) = ("c".to_owned(), Bytes::new());
    let (from, until) = (Position::EARLIEST, Position::LATEST);
    let requests = [
        LogRequest::Append {
            ticket: 1,
            body: body.clone(),
            messages: 1,
        },
        LogRequest::Read {
            ticket: 2,
            from,
            until,
            entries_max: 1,
            bytes_max: 1,
        },
        LogRequest::ReadAt {
            ticket: 3,
            positions: vec![from],
        },
        LogRequest::CreateCursor {
            ticket: 4,
            name: name.clone(),
            snapshot: body,
        },
        LogRequest::DeleteCursor { ticket: 5, name },
        LogRequest::SetProperty {
            ticket: 6,
            key: "k".to_owned(),
            value: "v".to_owned(),
        },
        LogRequest::Close,
    ];
    let replies = requests.map(|request| bench.ask(request));
    let refused = matches!(
        &replies,
        [
            LogReply::NotStored { ticket: 1, .. },
            LogReply::Read {
                ticket: 2,
                result: Err(_),
                ..
            },
            LogReply::Read {
                ticket: 3,
                result: Err(_),
                ..
            },
            LogReply::CursorSaved {
                ticket: 4,
                result: Err(_),
                ..
            },
            LogReply::CursorDeleted {
                ticket: 5,
                result: Err(_),
                ..
            },
            LogReply::PropertySet {
                ticket: 6,
                result: Err(_),
            },
            LogReply::Closed,
        ]
    );
    assert!(refused, "{replies:?}");
}

pub(super) fn a_closed_log_opens_again_with_everything(bench: &mut Bench<'_>) {
    bench.opened();
    let positions = bench.append(&["a", "b"]);
    bench.close();
    let (extent, _) = bench.reopened();
    assert_eq!(extent, [(positions[1].ledger, positions[1].entry)]);
    let more = bench.append(&["c"]);
    assert!(more[0] > positions[1]);
    let texts: Vec<String> = bench.read_all().into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["a", "b", "c"]);
}

pub(super) fn a_property_comes_back_as_it_was_set(bench: &mut Bench<'_>) {
    bench.opened();
    bench.set_property("k", "1");
    bench.set_property("other", "2");
    bench.append(&["a"]);
    bench.set_property("k", "3");
    bench.logs.crash();
    let expected = [("k", "3"), ("other", "2")].map(|(k, v)| (k.to_owned(), v.to_owned()));
    assert_eq!(bench.properties_when_opened(), expected);
    bench.set_property("k", "4");
    bench.close();
    assert_eq!(bench.properties_when_opened()[0].1, "4");
}

pub(super) fn a_deleted_log_is_gone_with_all_it_held(bench: &mut Bench<'_>) {
    bench.opened();
    bench.append_in_ledgers(&["a", "b"]);
    bench.append(&["c"]);
    bench.create_cursor("s", b"snapshot").expect("a cursor");
    bench.set_property("key", "value");
    let gone = LogReply::Deleted { result: Ok(()) };
    assert_eq!(bench.ask(LogRequest::Delete), gone);
    let refused = bench.ask(LogRequest::Delete);
    assert!(
        matches!(&refused, LogReply::Deleted { result: Err(_) }),
        "one that is not open: {refused:?}"
    );
    let missing = LogReply::OpenFailed {
        error: LogError::NoSuchTopic(bench.topic.to_string()),
    };
    assert_eq!(bench.open(false), missing);
    bench.logs.crash();
    assert_eq!(bench.open(false), missing);
    let empty = LogReply::Opened {
        extent: vec![],
        cursors: vec![],
        properties: vec![],
    };
    assert_eq!(bench.open(true), empty, "made anew");
}
