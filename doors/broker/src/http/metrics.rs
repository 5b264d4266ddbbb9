//! The metrics page: Pulsar's names where Pulsar has them, `hulse_` for our own.

use super::Pages;
use super::answer::Answer;
use super::metrics_lines::{Kind, Lines};
use crate::counters::get;
use serde_json::{Value, json};
use topic::TopicStats;

impl Pages {
    pub(super) async fn metrics_page(&self) -> Answer {
        let mut lines = Lines::new(&self.house.settings.cluster);
        self.doors(&mut lines);
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
        lines.add("pulsar_active_connections", Kind::Gauge, &[], self.house.registry.connections());
        for (name, counter) in [
            ("pulsar_connection_created_total_count", &counters.connections_opened),
            ("pulsar_connection_create_success_count", &counters.connections_opened),
            ("pulsar_connection_create_fail_count", &counters.connections_refused),
            ("pulsar_connection_closed_total_count", &counters.connections_closed),
            ("hulse_read_bytes_total", &counters.bytes_read),
            ("hulse_written_bytes_total", &counters.bytes_written),
            ("hulse_desk_inputs_total", &counters.desk_inputs),
        ] {
            lines.add(name, Kind::Counter, &[], get(counter));
        }
    }
}

/// A topic's figures in Pulsar's words.
pub(super) fn stats_json(_stats: &TopicStats) -> Value {
    json!({})
}
