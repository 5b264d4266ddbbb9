//! Random schedules of letters, delays, failures and crashes, held to the model of what must be true.

use super::model::Model;
use letters::SubscriptionType;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

fn run(kind: SubscriptionType, steps: Vec<(u8, u8, u8)>) {
    let mut model = Model::new(kind);
    for step in steps {
        model.step(step);
    }
    model.finish();
}

fn config() -> Config {
    Config {
        cases: 400,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(3),
        ..Config::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn shared_keeps_its_sums_under_any_order(steps in proptest::collection::vec(any::<(u8, u8, u8)>(), 1..250)) {
        run(SubscriptionType::Shared, steps);
    }

    #[test]
    fn exclusive_keeps_its_order_under_any_order(steps in proptest::collection::vec(any::<(u8, u8, u8)>(), 1..250)) {
        run(SubscriptionType::Exclusive, steps);
    }

    #[test]
    fn failover_keeps_its_order_under_any_order(steps in proptest::collection::vec(any::<(u8, u8, u8)>(), 1..250)) {
        run(SubscriptionType::Failover, steps);
    }
}
