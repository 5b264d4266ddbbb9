use crate::histogram::Histogram;
use crate::http::metrics_lines::{Kind, Lines};
use std::time::Duration;

#[test]
fn samples_of_a_name_stand_together_and_labels_are_escaped() {
    let mut lines = Lines::new("standalone");
    lines.add("pulsar_b", Kind::Counter, &[("topic", "a\"b\\c\nd")], 1);
    lines.add("pulsar_a", Kind::Gauge, &[], 2.5);
    lines.add("pulsar_b", Kind::Counter, &[], 3);
    assert_eq!(
        lines.finish(),
        "# TYPE pulsar_a gauge\n\
         pulsar_a{cluster=\"standalone\"} 2.5\n\
         # TYPE pulsar_b counter\n\
         pulsar_b{cluster=\"standalone\",topic=\"a\\\"b\\\\c\\nd\"} 1\n\
         pulsar_b{cluster=\"standalone\"} 3\n"
    );
}

#[test]
fn buckets_of_a_histogram_add_up() {
    let histogram = Histogram::default();
    for micros in [5, 10, 11, 20_000_000] {
        histogram.record(Duration::from_micros(micros));
    }
    let mut page = String::new();
    histogram.render("turn_seconds", "cluster=\"c\"", &mut page);
    assert!(
        page.contains("turn_seconds_bucket{cluster=\"c\",le=\"0.00001\"} 2\n"),
        "{page}"
    );
    assert!(page.contains("le=\"0.000025\"} 3\n"), "{page}");
    assert!(page.contains("le=\"10\"} 3\n"), "{page}");
    assert!(page.contains("le=\"+Inf\"} 4\n"), "{page}");
    assert!(
        page.contains("turn_seconds_count{cluster=\"c\"} 4\n"),
        "{page}"
    );
}
