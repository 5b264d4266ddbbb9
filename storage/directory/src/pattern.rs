//! Which topics a pattern subscription means.

use regex::{Regex, RegexBuilder};
use vocabulary::TopicName;

/// Memory for one compiled pattern, bytes. Matching takes time in proportion to the name, whatever the pattern is.
const PATTERN_BYTES_MAX: usize = 1024 * 1024;

/// A pattern over names of topics without their domain, as in `public/default/orders-.*`; it must match the whole name.
#[derive(Clone, Debug)]
pub struct TopicPattern {
    /// `None`: whatever the name.
    regex: Option<Regex>,
}

impl TopicPattern {
    /// Reads a pattern; a domain in front of it is left out.
    ///
    /// # Errors
    /// It is no regular expression of the kind that RE2 and this broker know (no look-around, no back-references).
    pub fn parse(pattern: &str) -> Result<TopicPattern, regex::Error> {
        let without_domain = pattern
            .split_once("://")
            .map_or(pattern, |(_, without_domain)| without_domain);
        let regex = RegexBuilder::new(&format!("^(?:{without_domain})$"))
            .size_limit(PATTERN_BYTES_MAX)
            .build()?;
        Ok(TopicPattern { regex: Some(regex) })
    }

    /// The pattern of all topics.
    #[must_use]
    pub fn any() -> TopicPattern {
        TopicPattern { regex: None }
    }

    /// Whether it means this topic: a partition is meant where its partitioned topic is.
    #[must_use]
    pub fn matches(&self, topic: &TopicName) -> bool {
        let base = topic.base();
        let without_domain = base.split_once("://").map_or(base, |(_, rest)| rest);
        let regex = self.regex.as_ref();
        regex.is_none_or(|regex| regex.is_match(without_domain))
    }
}
