//! Whatever a client sends and whenever topics answer: no panic, exactly one answer per request, receipts in order,
//! and in the end the session and the topics agree on who is there.

mod crowd;

use crowd::{Crowd, Step};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn step() -> impl Strategy<Value = Step> {
    let id = 0u64..3;
    let topic = 0usize..2;
    prop_oneof![
        4 => (id.clone(), topic.clone()).prop_map(|(id, topic)| Step::Producer { id, topic }),
        8 => (id.clone(), any::<bool>()).prop_map(|(id, damaged)| Step::Send { id, damaged }),
        2 => id.clone().prop_map(Step::CloseProducer),
        4 => (id.clone(), topic.clone()).prop_map(|(id, topic)| Step::Subscribe { id, topic }),
        2 => id.clone().prop_map(Step::Flow),
        4 => (id.clone(), any::<bool>()).prop_map(|(id, receipt)| Step::Ack { id, receipt }),
        1 => id.clone().prop_map(Step::Redeliver),
        2 => id.clone().prop_map(Step::CloseConsumer),
        2 => id.clone().prop_map(Step::Unsubscribe),
        1 => id.clone().prop_map(Step::Seek),
        1 => id.clone().prop_map(Step::LastMessageId),
        1 => id.clone().prop_map(Step::ConsumerStats),
        2 => topic.clone().prop_map(Step::Lookup),
        2 => topic.clone().prop_map(Step::Partitions),
        1 => Just(Step::ListTopics),
        1 => Just(Step::Ping),
        20 => (topic.clone(), proptest::bool::weighted(0.8)).prop_map(|(topic, well)| Step::TopicAnswers { topic, well }),
        1 => (topic.clone(), id.clone(), any::<bool>()).prop_map(|(topic, id, drops_first)| Step::TopicClosesProducer { topic, id, drops_first }),
        1 => (topic.clone(), id.clone()).prop_map(|(topic, id)| Step::TopicClosesConsumer { topic, id }),
        2 => (topic.clone(), id).prop_map(|(topic, id)| Step::TopicDelivers { topic, id }),
        1 => topic.prop_map(Step::TopicProbes),
        2 => Just(Step::Written),
        1 => (1u64..4000).prop_map(Step::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        rng_seed: RngSeed::Fixed(6650),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn everybody_gets_one_answer(steps in proptest::collection::vec(step(), 1..200), shutdown in any::<bool>()) {
        let mut crowd = Crowd::new();
        for step in steps {
            crowd.take(step);
        }
        crowd.settle();
        prop_assert_eq!(crowd.unanswered(), Vec::<u64>::new());
        if !crowd.closed() {
            prop_assert_eq!(crowd.of_session(), crowd.of_topics());
            prop_assert!(!crowd.paused);
        }
        if shutdown {
            crowd.shut_down();
            crowd.settle();
            prop_assert!(crowd.closed());
            prop_assert_eq!(crowd.of_topics(), (0, 0));
        }
    }
}
