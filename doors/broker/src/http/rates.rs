//! Rates per second, from the totals of two looks at the page. Pulsar takes them every minute; here they span the time
//! since the look before, so that nothing has to wake up for a page that nobody reads.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use vocabulary::{Moment, TopicName};

/// Looks closer together than this see the rates of the look before.
const SPAN_MIN: Duration = Duration::from_secs(10);

/// Messages and bytes, in and out.
pub type Totals = [u64; 4];

/// What was seen at the look before.
#[derive(Default)]
pub struct Rates {
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    at: Option<Moment>,
    totals: BTreeMap<TopicName, Totals>,
    rates: BTreeMap<TopicName, [f64; 4]>,
}

impl Rates {
    /// The rates of all topics; 0 until there were two looks. A topic that went to sleep in between begins anew.
    pub fn look(
        &self,
        now: Moment,
        totals: BTreeMap<TopicName, Totals>,
    ) -> BTreeMap<TopicName, [f64; 4]> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let span = seen.at.map(|at| now.since(at));
        if span.is_some_and(|span| span < SPAN_MIN) {
            return seen.rates.clone();
        }
        let seconds = span.map_or(f64::INFINITY, |span| span.as_secs_f64());
        let rates: BTreeMap<TopicName, [f64; 4]> = totals
            .iter()
            .map(|(topic, now)| {
                let before = seen.totals.get(topic).copied().unwrap_or_default();
                let mut rates = [0.0; 4];
                for ((rate, now), before) in rates.iter_mut().zip(now).zip(before) {
                    *rate = now.saturating_sub(before) as f64 / seconds;
                }
                (topic.clone(), rates)
            })
            .collect();
        *seen = Seen {
            at: Some(now),
            totals,
            rates: rates.clone(),
        };
        rates
    }
}

#[cfg(test)]
mod tests {
    use super::{Rates, Totals};
    use std::collections::BTreeMap;
    use vocabulary::{Now, TopicName};

    #[test]
    fn rates_span_the_time_between_two_looks() {
        let rates = Rates::default();
        let topic = TopicName::parse("t").unwrap();
        let look = |seconds: u64, totals: Totals| {
            let now = Now::at_millis(seconds * 1000).moment;
            rates
                .look(now, BTreeMap::from([(topic.clone(), totals)]))
                .get(&topic)
                .copied()
        };
        assert_eq!(look(0, [100, 1000, 0, 0]), Some([0.0; 4]));
        assert_eq!(look(5, [200, 1000, 0, 0]), Some([0.0; 4]), "too close");
        assert_eq!(look(20, [300, 3000, 20, 0]), Some([10.0, 100.0, 1.0, 0.0]));
        assert_eq!(
            look(25, [900, 9000, 90, 0]),
            Some([10.0, 100.0, 1.0, 0.0]),
            "too close"
        );
        assert_eq!(look(30, [10, 0, 0, 0]), Some([0.0; 4]), "begun anew");
    }
}
