//! A histogram of durations for the metrics page; written by one thread or many, read at any time.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the buckets, microseconds.
const BOUNDS_MICROS: [u64; 14] = [
    10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000, 100_000, 1_000_000, 10_000_000,
];

/// How often something took how long.
#[derive(Default)]
pub struct Histogram {
    buckets: [AtomicU64; BOUNDS_MICROS.len()],
    count: AtomicU64,
    sum_nanos: AtomicU64,
}

impl Histogram {
    /// Counts one duration.
    pub fn record(&self, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_MICROS
            .iter()
            .position(|bound| nanos <= bound * 1_000);
        if let Some(bucket) = bucket.and_then(|index| self.buckets.get(index)) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        self.sum_nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    /// How many durations were counted.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Writes the samples of a Prometheus histogram in seconds; `labels` without braces.
    pub fn render(&self, name: &str, labels: &str, page: &mut String) {
        let mut so_far = 0;
        // Writing to a string cannot fail.
        for (bucket, bound) in self.buckets.iter().zip(BOUNDS_MICROS) {
            so_far += bucket.load(Ordering::Relaxed);
            let seconds = bound as f64 / 1e6;
            let _ = writeln!(page, "{name}_bucket{{{labels},le=\"{seconds}\"}} {so_far}");
        }
        let count = self.count();
        let sum = self.sum_nanos.load(Ordering::Relaxed) as f64 / 1e9;
        let _ = writeln!(page, "{name}_bucket{{{labels},le=\"+Inf\"}} {count}");
        let _ = writeln!(page, "{name}_sum{{{labels}}} {sum}");
        let _ = writeln!(page, "{name}_count{{{labels}}} {count}");
    }
}
