//! Bundles of a namespace: ranges of the hash of topic names. One broker serves them all; here they only name topics.

use super::Pages;
use super::admin::refused;
use super::answer::Answer;
use directory::Question;
use serde_json::Value;
use vocabulary::{NamespaceName, TopicName};

/// The range of everything, as Pulsar writes it.
const WHOLE: &str = "0x00000000_0xffffffff";

impl Pages {
    /// The bundle of a topic. That of a namespace that is not there is the whole range, as in Pulsar.
    pub(super) async fn bundle_of(&self, topic: &TopicName) -> Answer {
        let boundaries = match self.boundaries(topic.namespace()).await {
            Ok(boundaries) => boundaries,
            Err(_) => return Answer::text(WHOLE.to_owned()),
        };
        let hash = hash(topic);
        let range = ranges(&boundaries)
            .into_iter()
            .find(|range| range.has(hash));
        Answer::text(range.map_or(WHOLE.to_owned(), |range| range.name()))
    }

    /// Unloads the topics of a namespace, or of one of its bundles.
    pub(super) async fn unload_namespace(
        &self,
        namespace: &NamespaceName,
        bundle: Option<&str>,
    ) -> Answer {
        let boundaries = match self.boundaries(namespace).await {
            Ok(boundaries) => boundaries,
            Err(answer) => return answer,
        };
        let Some(bundle) = bundle else {
            return self
                .unload_all(|topic| topic.namespace() == namespace)
                .await;
        };
        match find(&boundaries, namespace, bundle) {
            Ok(range) => {
                let matches =
                    |topic: &TopicName| topic.namespace() == namespace && range.has(hash(topic));
                self.unload_all(matches).await
            }
            Err(text) => Answer::refused(412, &text),
        }
    }

    async fn boundaries(&self, namespace: &NamespaceName) -> Result<Vec<u32>, Answer> {
        let question = Question::Policy {
            namespace: namespace.clone(),
            field: "bundles",
        };
        match self.house.clerk.ask(question).await {
            Ok(bundles) => {
                let all = bundles.get("boundaries").and_then(Value::as_array);
                let all = all.into_iter().flatten().filter_map(Value::as_str);
                Ok(all.filter_map(number).collect())
            }
            Err(no) if no.text == "Namespace does not exist" => {
                Err(Answer::refused(404, "Namespace not found"))
            }
            Err(no) => Err(refused(&no)),
        }
    }
}

/// From the first hash on, up to but not including the second; the last range has its end too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    from: u32,
    to: u32,
}

impl Range {
    fn has(self, hash: u32) -> bool {
        (self.from..self.to).contains(&hash) || (self.to == u32::MAX && hash == u32::MAX)
    }

    fn name(self) -> String {
        format!("0x{:08x}_0x{:08x}", self.from, self.to)
    }
}

fn ranges(boundaries: &[u32]) -> Vec<Range> {
    let pairs = boundaries.iter().zip(boundaries.iter().skip(1));
    pairs
        .map(|(from, to)| Range {
            from: *from,
            to: *to,
        })
        .collect()
}

/// A bundle by its name, or what is wrong with it in Pulsar's words.
fn find(boundaries: &[u32], namespace: &NamespaceName, bundle: &str) -> Result<Range, String> {
    let parts = bundle.split_once('_');
    let numbers = parts.and_then(|(from, to)| Some((number(from)?, number(to)?)));
    let Some((from, to)) = numbers else {
        return Err(format!("Invalid bundle range: {bundle}"));
    };
    let found = ranges(boundaries)
        .into_iter()
        .find(|range| range.from == from);
    match found {
        None => Err(format!(
            "Invalid lower boundary for bundle {namespace}/{bundle}"
        )),
        Some(range) if range.to != to => Err(format!(
            "Invalid upper boundary for bundle {namespace}/{bundle}. Expected upper boundary of {namespace}/{}",
            range.name()
        )),
        Some(range) => Ok(range),
    }
}

fn number(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// Where a topic's name lies: CRC-32 (IEEE 802.3) of it, as in Pulsar.
fn hash(topic: &TopicName) -> u32 {
    let crc = topic.as_str().bytes().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg())
        })
    });
    !crc
}

#[cfg(test)]
mod tests {
    use super::{Range, find, hash, ranges};
    use vocabulary::{NamespaceName, TopicName};

    const FOUR: [u32; 5] = [0, 0x4000_0000, 0x8000_0000, 0xc000_0000, u32::MAX];

    /// The bundles that a Pulsar 4.0.8 named.
    #[test]
    fn topics_lie_where_pulsar_says() {
        let bundle = |name: &str| {
            let hash = hash(&TopicName::parse(name).unwrap());
            let mut all = ranges(&FOUR).into_iter();
            all.find(|range| range.has(hash)).unwrap().name()
        };
        assert_eq!(bundle("persistent://s/n/look"), "0x80000000_0xc0000000");
        assert_eq!(bundle("non-persistent://s/n/look"), "0xc0000000_0xffffffff");
    }

    #[test]
    fn the_last_range_has_its_end() {
        let last = Range {
            from: 5,
            to: u32::MAX,
        };
        assert!(last.has(u32::MAX) && last.has(5) && !last.has(4));
        let first = Range { from: 0, to: 5 };
        assert!(first.has(0) && !first.has(5));
    }

    #[test]
    fn a_bundle_that_is_none_is_named() {
        let namespace = NamespaceName::parse("a/b").unwrap();
        let find = |bundle| find(&FOUR, &namespace, bundle);
        assert!(find("0x00000000_0x40000000").is_ok());
        assert_eq!(
            find("0x00000000_0x10000000").unwrap_err(),
            "Invalid upper boundary for bundle a/b/0x00000000_0x10000000. Expected upper boundary of \
             a/b/0x00000000_0x40000000"
        );
        assert!(find("0x1_0x2").unwrap_err().contains("lower"));
        assert!(find("x").unwrap_err().contains("range"));
    }
}
