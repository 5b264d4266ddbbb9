//! The metrics page: Pulsar's names where Pulsar has them, `hulse_` for our own.

use super::Pages;
use super::answer::Answer;
use super::metrics_lines::{Kind, Lines};
use crate::counters::get;
use shard::{ShardAnswer, ShardAsk, TopicFigures};
use std::collections::BTreeMap;

impl Pages {
    pub(super) async fn metrics_page(&self) -> Answer {
        let mut lines = Lines::new(&self.house.settings.cluster);
        self.doors(&mut lines);
        self.topics(&mut lines).await;
        let labels = lines.common_labels();
        let mut page = lines.finish();
        let counters = &self.house.counters;
        for (name, histogram) in [
            ("hulse_desk_turn_seconds", &counters.desk_turn),
            ("hulse_journal_commit_seconds", &counters.journal_commit),
            ("hulse_metadata_commit_seconds", &counters.metadata_commit),
        ] {
            page.push_str(&format!("# TYPE {name} histogram\n"));
            histogram.render(name, &labels, &mut page);
        }
        Answer::metrics(page)
    }

    fn doors(&self, lines: &mut Lines) {
        let counters = &self.house.counters;
        lines.add(
            "pulsar_active_connections",
            Kind::Gauge,
            &[],
            self.house.registry.connections(),
        );
        for (name, counter) in [
            (
                "pulsar_connection_created_total_count",
                &counters.connections_opened,
            ),
            (
                "pulsar_connection_create_success_count",
                &counters.connections_opened,
            ),
            (
                "pulsar_connection_create_fail_count",
                &counters.connections_refused,
            ),
            (
                "pulsar_connection_closed_total_count",
                &counters.connections_closed,
            ),
            ("hulse_read_bytes_total", &counters.bytes_read),
            ("hulse_written_bytes_total", &counters.bytes_written),
            ("hulse_desk_inputs_total", &counters.desk_inputs),
            ("hulse_requests_ignored_total", &counters.requests_ignored),
            ("hulse_sends_dropped_total", &counters.sends_dropped),
            (
                "hulse_acks_of_unreadable_entries_total",
                &counters.acks_of_unreadable_entries,
            ),
        ] {
            lines.add(name, Kind::Counter, &[], get(counter));
        }
    }

    /// Figures of all topics in memory. A desk that does not answer is left out; the health page tells of it.
    async fn topics(&self, lines: &mut Lines) {
        let mut totals = Totals::default();
        let mut counted = BTreeMap::new();
        for (number, desk) in self.house.desks.iter().enumerate() {
            let answer = self.asks.ask(desk, |id| ShardAsk::Figures { id }).await;
            let Some(ShardAnswer::Figures { topics, logs, .. }) = answer else {
                continue;
            };
            for topic in &topics {
                topic_lines(topic, lines);
                totals.add(topic);
                counted.insert(topic.topic.clone(), counts(&topic.stats));
            }
            let shard = number.to_string();
            for (name, kind, value) in [
                ("pulsar_ml_cache_used_size", Kind::Gauge, logs.cache_bytes),
                ("pulsar_ml_count", Kind::Gauge, logs.logs),
                ("hulse_cache_hits_total", Kind::Counter, logs.cache_hits),
                ("hulse_cache_misses_total", Kind::Counter, logs.cache_misses),
                ("hulse_ledger_rolls_total", Kind::Counter, logs.rolls),
                ("hulse_ledger_trims_total", Kind::Counter, logs.trims),
            ] {
                lines.add(name, kind, &[("shard", &shard)], value);
            }
        }
        for (topic, rates) in self.rates.look(self.house.now().moment, counted) {
            let labels = [
                ("namespace", topic.namespace().as_str()),
                ("topic", topic.as_str()),
            ];
            let names = [
                "pulsar_rate_in",
                "pulsar_throughput_in",
                "pulsar_rate_out",
                "pulsar_throughput_out",
            ];
            for (name, rate) in names.into_iter().zip(rates) {
                lines.add(name, Kind::Gauge, &labels, rate);
            }
        }
        for (name, value) in [
            ("pulsar_broker_topics_count", totals.topics),
            ("pulsar_broker_producers_count", totals.producers),
            ("pulsar_broker_consumers_count", totals.consumers),
            ("pulsar_broker_subscriptions_count", totals.subscriptions),
            ("pulsar_broker_msg_backlog", totals.backlog),
        ] {
            lines.add(name, Kind::Gauge, &[], value);
        }
    }
}

/// Sums over all topics.
#[derive(Default)]
struct Totals {
    topics: u64,
    producers: u64,
    consumers: u64,
    subscriptions: u64,
    backlog: u64,
}

impl Totals {
    fn add(&mut self, topic: &TopicFigures) {
        self.topics += 1;
        self.producers += topic.stats.producers.len() as u64;
        self.subscriptions += topic.stats.subscriptions.len() as u64;
        for subscription in &topic.stats.subscriptions {
            self.consumers += subscription.consumers.len() as u64;
            self.backlog += subscription.backlog_entries;
        }
    }
}

/// Messages and bytes, in and out.
fn counts(stats: &topic::TopicStats) -> super::rates::Totals {
    let out =
        |figure: fn(&topic::SubscriptionStats) -> u64| stats.subscriptions.iter().map(figure).sum();
    [
        stats.messages_in,
        stats.bytes_in,
        out(|s| s.messages_out),
        out(|s| s.bytes_out),
    ]
}

fn topic_lines(figures: &TopicFigures, lines: &mut Lines) {
    let stats = &figures.stats;
    let namespace = figures.topic.namespace().as_str();
    let labels = [("namespace", namespace), ("topic", figures.topic.as_str())];
    let of_all = |figure: fn(&topic::SubscriptionStats) -> u64| {
        stats.subscriptions.iter().map(figure).sum::<u64>()
    };
    for (name, kind, value) in [
        (
            "pulsar_producers_count",
            Kind::Gauge,
            stats.producers.len() as u64,
        ),
        (
            "pulsar_subscriptions_count",
            Kind::Gauge,
            stats.subscriptions.len() as u64,
        ),
        (
            "pulsar_consumers_count",
            Kind::Gauge,
            of_all(|s| s.consumers.len() as u64),
        ),
        ("pulsar_in_messages_total", Kind::Counter, stats.messages_in),
        ("pulsar_in_bytes_total", Kind::Counter, stats.bytes_in),
        (
            "pulsar_out_messages_total",
            Kind::Counter,
            of_all(|s| s.messages_out),
        ),
        (
            "pulsar_out_bytes_total",
            Kind::Counter,
            of_all(|s| s.bytes_out),
        ),
        (
            "pulsar_msg_backlog",
            Kind::Gauge,
            of_all(|s| s.backlog_entries),
        ),
        (
            "hulse_publish_failures_total",
            Kind::Counter,
            stats.publish_failures,
        ),
    ] {
        lines.add(name, kind, &labels, value);
    }
    for subscription in &stats.subscriptions {
        let labels = [
            labels[0],
            labels[1],
            ("subscription", subscription.name.as_str()),
        ];
        for (name, kind, value) in [
            (
                "pulsar_subscription_back_log",
                Kind::Gauge,
                subscription.backlog_entries,
            ),
            (
                "pulsar_subscription_back_log_no_delayed",
                Kind::Gauge,
                subscription.backlog_entries,
            ),
            (
                "pulsar_subscription_unacked_messages",
                Kind::Gauge,
                subscription.unacked_messages,
            ),
            (
                "pulsar_subscription_blocked_on_unacked_messages",
                Kind::Gauge,
                u64::from(subscription.blocked_on_unacked),
            ),
            (
                "pulsar_subscription_consumers_count",
                Kind::Gauge,
                subscription.consumers.len() as u64,
            ),
            (
                "hulse_subscription_out_messages_total",
                Kind::Counter,
                subscription.messages_out,
            ),
            (
                "hulse_subscription_out_bytes_total",
                Kind::Counter,
                subscription.bytes_out,
            ),
            (
                "hulse_subscription_acks_ignored_total",
                Kind::Counter,
                subscription.acks_ignored,
            ),
            (
                "hulse_subscription_damaged_entries_total",
                Kind::Counter,
                subscription.damaged_entries_met,
            ),
            (
                "hulse_cursor_saves_total",
                Kind::Counter,
                subscription.cursor_saves,
            ),
            (
                "hulse_cursor_save_failures_total",
                Kind::Counter,
                subscription.cursor_save_failures,
            ),
        ] {
            lines.add(name, kind, &labels, value);
        }
    }
}
