//! FindTopic: does it exist, how many partitions.

use super::world::{World, code, text};
use letters::log::TopicFacts;
use letters::{LogError, LogRequest, RefusalCode, SessionLetter, TopicLetter};

fn find(world: &mut World, may_create: bool) -> SessionLetter {
    world.tell(
        1,
        TopicLetter::FindTopic {
            request_id: 5,
            may_create,
        },
    );
    world.heard_by(1).remove(0)
}

fn found(partitions: u32) -> SessionLetter {
    SessionLetter::TopicFound {
        request_id: 5,
        partitions,
    }
}

#[test]
fn an_existing_topic_answers_its_partitions_without_being_opened() {
    let mut world = World::new();
    world.log.facts = TopicFacts {
        exists: true,
        namespace_exists: true,
        partitions: Some(3),
    };
    world.prompt_log = false;
    world.tell(
        1,
        TopicLetter::FindTopic {
            request_id: 5,
            may_create: false,
        },
    );
    assert!(matches!(world.asked()[..], [LogRequest::Find { .. }]));
    assert_eq!(world.asleep, 0);
    world.answer_all();
    assert_eq!(world.heard_by(1), [found(3)]);
    assert_eq!(world.asleep, 1, "nothing keeps it in memory");
}

#[test]
fn a_missing_topic_is_promised_only_if_it_may_be_created() {
    let mut world = World::new();
    assert_eq!(find(&mut world, true), found(0));
    assert_eq!(
        code(&find(&mut world, false)),
        Some(RefusalCode::TopicNotFound)
    );
    let mut world = World::with(|settings| settings.auto_create_topics = false);
    assert_eq!(
        code(&find(&mut world, true)),
        Some(RefusalCode::TopicNotFound)
    );
}

#[test]
fn a_missing_namespace_is_no_topic() {
    let mut world = World::new();
    world.log.facts = TopicFacts::default();
    let answer = find(&mut world, true);
    assert_eq!(code(&answer), Some(RefusalCode::TopicNotFound));
    assert!(
        text(&answer).starts_with("Namespace not found"),
        "{}",
        text(&answer)
    );
    world.log.find_error = Some(LogError::NoSuchNamespace("public/default".to_owned()));
    assert_eq!(
        code(&find(&mut world, true)),
        Some(RefusalCode::TopicNotFound)
    );
}

#[test]
fn a_failing_store_is_a_metadata_error_since_clients_close_the_connection_on_service_not_ready() {
    let mut world = World::new();
    world.log.find_error = Some(LogError::Timeout("metadata".to_owned()));
    assert_eq!(
        code(&find(&mut world, true)),
        Some(RefusalCode::MetadataError)
    );
}

#[test]
fn a_partition_has_no_partitions() {
    let mut world = World::named("persistent://public/default/t-partition-1", |_| {});
    world.log.facts = TopicFacts {
        exists: true,
        namespace_exists: true,
        partitions: Some(3),
    };
    assert_eq!(find(&mut world, false), found(0));
}

#[test]
fn questions_are_bounded() {
    let mut world = World::with(|settings| settings.finds_max = 1);
    world.prompt_log = false;
    world.tell(
        1,
        TopicLetter::FindTopic {
            request_id: 5,
            may_create: true,
        },
    );
    world.tell(
        2,
        TopicLetter::FindTopic {
            request_id: 6,
            may_create: true,
        },
    );
    assert_eq!(
        code(&world.heard_by(2)[0]),
        Some(RefusalCode::TooManyRequests)
    );
}

fn partition(index: u32, count: Option<u32>, auto_create_topics: bool) -> World {
    let name = format!("persistent://public/default/t-partition-{index}");
    let mut world = World::named(&name, |settings| {
        settings.auto_create_topics = auto_create_topics;
    });
    world.log.facts = TopicFacts {
        partitions: count,
        namespace_exists: true,
        ..TopicFacts::default()
    };
    world
}

#[test]
fn a_partition_is_made_where_its_topic_has_so_many() {
    for (index, count, auto_create_topics, made) in [
        (2, Some(3), true, true),
        (2, Some(3), false, true),
        (3, Some(3), true, false),
        (0, Some(0), true, false),
        (7, None, true, true),
        (7, None, false, false),
    ] {
        let refused = (!made).then_some(RefusalCode::TopicNotFound);
        let mut world = partition(index, count, auto_create_topics);
        assert_eq!(
            code(&find(&mut world, true)),
            refused,
            "{index} of {count:?}"
        );
        world.producer(1, 1, Some("a"));
        assert_eq!(code(&world.heard()[0].1), refused, "{index} of {count:?}");
        assert_eq!(world.log.is_open, made);
    }
}

#[test]
fn a_non_persistent_partition_needs_its_topic() {
    for (count, made) in [(Some(3), true), (Some(2), false), (None, false)] {
        let mut world = World::named("non-persistent://public/default/t-partition-2", |_| {});
        world.log.facts.partitions = count;
        world.producer(1, 1, Some("a"));
        let refused = (!made).then_some(RefusalCode::TopicNotFound);
        assert_eq!(code(&world.heard()[0].1), refused, "{count:?}");
    }
}
