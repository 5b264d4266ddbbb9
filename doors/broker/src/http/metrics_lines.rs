//! Prometheus' text format, version 0.0.4: samples of one name stand together under one TYPE line.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};

/// What kind of number it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Goes up and down.
    Gauge,
    /// Only goes up, until the process ends.
    Counter,
}

/// A page in the making. Every sample has the label `cluster`.
pub struct Lines {
    cluster: String,
    families: BTreeMap<&'static str, (Kind, String)>,
}

impl Lines {
    /// An empty page.
    pub fn new(cluster: &str) -> Lines {
        Lines {
            cluster: escape(cluster),
            families: BTreeMap::new(),
        }
    }

    /// The labels that every sample has, as they stand between the braces.
    pub fn common_labels(&self) -> String {
        format!("cluster=\"{}\"", self.cluster)
    }

    /// Adds a sample.
    pub fn add(
        &mut self,
        name: &'static str,
        kind: Kind,
        labels: &[(&str, &str)],
        value: impl Display,
    ) {
        let (_, samples) = self
            .families
            .entry(name)
            .or_insert_with(|| (kind, String::new()));
        // Writing to a string cannot fail.
        let _ = write!(samples, "{name}{{cluster=\"{}\"", self.cluster);
        for (label, text) in labels {
            let _ = write!(samples, ",{label}=\"{}\"", escape(text));
        }
        let _ = writeln!(samples, "}} {value}");
    }

    /// The page.
    pub fn finish(self) -> String {
        let mut page = String::new();
        for (name, (kind, samples)) in self.families {
            let kind = match kind {
                Kind::Gauge => "gauge",
                Kind::Counter => "counter",
            };
            let _ = write!(page, "# TYPE {name} {kind}\n{samples}");
        }
        page
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
