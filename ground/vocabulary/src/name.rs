//! Topic and namespace names, by the grammar of Pulsar 4.0 (`TopicName`, `NamespaceName`, `NamedEntity`).
//!
//! Old names with a cluster in the middle (`tenant/cluster/namespace/topic`) are refused, as Pulsar 5
//! does; the domains `topic` and `segment` of Pulsar 5 are recognised and refused by name.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// Whether a topic keeps its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Domain {
    /// Stored until acknowledged.
    Persistent,
    /// Delivered to who is there, never stored.
    NonPersistent,
}

/// A namespace: `tenant/namespace`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NamespaceName {
    text: Arc<str>,
    tenant_len: usize,
}

/// A topic (or one partition of one) by its full name, `domain://tenant/namespace/local`. Cheap to clone.
#[derive(Clone, Debug)]
pub struct TopicName {
    parts: Arc<Parts>,
}

#[derive(Debug)]
struct Parts {
    full: String,
    domain: Domain,
    namespace: NamespaceName,
    local_at: usize,
    partition: Option<(u32, usize)>,
}

/// Why a text is no name. The texts name the offender and the form expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The scheme is none that Pulsar knows.
    #[error(
        "Invalid topic domain '{0}' in topic name '{1}': expected persistent:// or non-persistent://"
    )]
    UnknownDomain(String, String),
    /// A Pulsar 5 scalable topic or one of its segments.
    #[error("Topic name '{0}' names a scalable topic ({1}://), which this broker does not serve")]
    Scalable(String, &'static str),
    /// Not `topic` nor `tenant/namespace/topic`.
    #[error(
        "Invalid short topic name '{0}', it should be in the format of <tenant>/<namespace>/<topic> or <topic>"
    )]
    ShortForm(String),
    /// Not three parts after the scheme.
    #[error("Invalid topic name '{0}': it should be <domain>://<tenant>/<namespace>/<topic>")]
    LongForm(String),
    /// `tenant/cluster/namespace/topic`.
    #[error(
        "Topic name '{0}' has a cluster in it (the old V1 form), which this broker does not serve: use <domain>://<tenant>/<namespace>/<topic>"
    )]
    V1(String),
    /// A tenant or namespace with a character outside `[-=:.\w]`.
    #[error(
        "Invalid tenant or namespace '{0}': only letters, digits and the characters - = : . _ are allowed"
    )]
    Entity(String),
    /// Nothing after the namespace.
    #[error("Topic name '{0}' has no local name")]
    Blank(String),
    /// `.` or `..` as a part of its own: names are parts of metadata paths, where these would mean other things.
    #[error(
        "Invalid topic name '{0}': its tenant, namespace and local name may each not be '.' or '..'"
    )]
    Dots(String),
    /// Longer than any name may be here.
    #[error("Topic name of {0} bytes is too long: at most {max} are allowed", max = NAME_BYTES_MAX)]
    TooLong(usize),
    /// Longer than any name may be here once it is URL-encoded.
    #[error(
        "Topic name of {0} bytes when URL-encoded is too long: at most {max} are allowed",
        max = ENCODED_NAME_BYTES_MAX
    )]
    TooLongEncoded(usize),
}

/// Longest name that is accepted, in bytes. Pulsar has no limit of its own; a metadata key has.
pub const NAME_BYTES_MAX: usize = 8 * 1024;

/// Longest a name may be as part of a metadata path, in bytes, where most characters take three bytes for one: what
/// [`NAME_BYTES_MAX`], the longest path, leaves beside the folders that come before names.
pub const ENCODED_NAME_BYTES_MAX: usize = NAME_BYTES_MAX - 64;
/// Whether a text is `.` or `..`, which no metadata path may have as one of its parts.
#[must_use]
pub fn is_dots(text: &str) -> bool {
    matches!(text, "." | "..")
}

const PARTITION_MARK: &str = "-partition-";

impl Domain {
    /// As it stands before `://`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Domain::Persistent => "persistent",
            Domain::NonPersistent => "non-persistent",
        }
    }
}

impl NamespaceName {
    /// From its two parts.
    pub fn new(tenant: &str, namespace: &str) -> Result<NamespaceName, NameError> {
        for part in [tenant, namespace] {
            let fine =
                |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '=' | ':' | '.' | '_');
            if part.is_empty() || !part.chars().all(fine) {
                return Err(NameError::Entity(part.to_owned()));
            }
            if is_dots(part) {
                return Err(NameError::Dots(format!("{tenant}/{namespace}")));
            }
        }
        Ok(NamespaceName {
            text: format!("{tenant}/{namespace}").into(),
            tenant_len: tenant.len(),
        })
    }

    /// From `tenant/namespace`.
    pub fn parse(text: &str) -> Result<NamespaceName, NameError> {
        match text.split_once('/') {
            Some((tenant, namespace)) => NamespaceName::new(tenant, namespace),
            None => Err(NameError::Entity(text.to_owned())),
        }
    }

    /// The tenant alone.
    #[must_use]
    pub fn tenant(&self) -> &str {
        &self.text[..self.tenant_len]
    }

    /// The part after the tenant.
    #[must_use]
    pub fn local(&self) -> &str {
        &self.text[self.tenant_len + 1..]
    }

    /// `tenant/namespace`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl TopicName {
    /// Parses a short (`t`, `tenant/ns/t`) or full (`persistent://tenant/ns/t`) name.
    pub fn parse(text: &str) -> Result<TopicName, NameError> {
        if text.len() > NAME_BYTES_MAX {
            return Err(NameError::TooLong(text.len()));
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            let mut parts = text.splitn(4, '/');
            return match (parts.next(), parts.next(), parts.next(), parts.next()) {
                (Some(local), None, ..) => {
                    TopicName::build(Domain::Persistent, "public", "default", local, text)
                }
                (Some(tenant), Some(namespace), Some(local), None) => {
                    TopicName::build(Domain::Persistent, tenant, namespace, local, text)
                }
                _ => Err(NameError::ShortForm(text.to_owned())),
            };
        };
        let domain = match scheme {
            "persistent" => Domain::Persistent,
            "non-persistent" => Domain::NonPersistent,
            "topic" => return Err(NameError::Scalable(text.to_owned(), "topic")),
            "segment" => return Err(NameError::Scalable(text.to_owned(), "segment")),
            other => return Err(NameError::UnknownDomain(other.to_owned(), text.to_owned())),
        };
        let mut parts = rest.splitn(4, '/');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(tenant), Some(namespace), Some(local), None) => {
                TopicName::build(domain, tenant, namespace, local, text)
            }
            (_, _, _, Some(_)) => Err(NameError::V1(text.to_owned())),
            _ => Err(NameError::LongForm(text.to_owned())),
        }
    }

    /// From its parts, as an HTTP path has them (the local part already decoded).
    pub fn from_parts(
        domain: Domain,
        tenant: &str,
        namespace: &str,
        local: &str,
    ) -> Result<TopicName, NameError> {
        TopicName::build(domain, tenant, namespace, local, local)
    }

    fn build(
        domain: Domain,
        tenant: &str,
        namespace: &str,
        local: &str,
        text: &str,
    ) -> Result<TopicName, NameError> {
        let namespace = NamespaceName::new(tenant, namespace)?;
        if local.trim().is_empty() {
            return Err(NameError::Blank(text.to_owned()));
        }
        if is_dots(local) {
            return Err(NameError::Dots(text.to_owned()));
        }
        if local.contains('/') {
            return Err(NameError::V1(text.to_owned()));
        }
        let full = format!("{}://{}/{}", domain.as_str(), namespace.as_str(), local);
        if full.len() > NAME_BYTES_MAX {
            return Err(NameError::TooLong(full.len()));
        }
        let encoded_len = full.len() - local.len() + url_encode(local).len();
        if encoded_len > ENCODED_NAME_BYTES_MAX {
            return Err(NameError::TooLongEncoded(encoded_len));
        }
        let local_at = full.len() - local.len();
        let partition = partition_of(local).map(|(index, mark)| (index, local_at + mark));
        Ok(TopicName {
            parts: Arc::new(Parts {
                full,
                domain,
                namespace,
                local_at,
                partition,
            }),
        })
    }

    /// The full name, `domain://tenant/namespace/local`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.parts.full
    }

    /// Whether its messages are stored.
    #[must_use]
    pub fn domain(&self) -> Domain {
        self.parts.domain
    }

    /// The namespace it lies in.
    #[must_use]
    pub fn namespace(&self) -> &NamespaceName {
        &self.parts.namespace
    }

    /// The name within the namespace, partition suffix included.
    #[must_use]
    pub fn local(&self) -> &str {
        &self.parts.full[self.parts.local_at..]
    }

    /// The partition's number, if the name ends in `-partition-N` with a plain number.
    #[must_use]
    pub fn partition(&self) -> Option<u32> {
        self.parts.partition.map(|(index, _)| index)
    }

    /// The full name without the partition suffix.
    #[must_use]
    pub fn base(&self) -> &str {
        match self.parts.partition {
            Some((_, mark)) => &self.parts.full[..mark],
            None => &self.parts.full,
        }
    }

    /// The name of partition `index` of this topic.
    pub fn partition_name(&self, index: u32) -> Result<TopicName, NameError> {
        TopicName::parse(&format!("{}{PARTITION_MARK}{index}", self.base()))
    }

    /// The key under which the managed ledger is kept: `tenant/namespace/domain/url-encoded local`.
    #[must_use]
    pub fn persistence_name(&self) -> String {
        let namespace = self.parts.namespace.as_str();
        format!(
            "{namespace}/{}/{}",
            self.parts.domain.as_str(),
            url_encode(self.local())
        )
    }
}

/// The number after the last `-partition-` and where that mark begins, if it is a number without leading zeros.
fn partition_of(local: &str) -> Option<(u32, usize)> {
    let mark = local.rfind(PARTITION_MARK)?;
    let digits = &local[mark + PARTITION_MARK.len()..];
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if !plain || (digits.len() > 1 && digits.starts_with('0')) || mark == 0 {
        return None;
    }
    let index: u32 = digits.parse().ok()?;
    (index <= i32::MAX as u32).then_some((index, mark))
}

/// `java.net.URLEncoder` with UTF-8: letters, digits and `.-*_` stay, a space becomes `+`, all else `%XX`.
#[must_use]
pub fn url_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => {
                out.push(byte as char)
            }
            b' ' => out.push('+'),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

/// The reverse of [`url_encode`]; `None` if the text is not one that it writes.
#[must_use]
pub fn url_decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                let high = (bytes.next()? as char).to_digit(16)?;
                let low = (bytes.next()? as char).to_digit(16)?;
                out.push((high * 16 + low) as u8);
            }
            other => out.push(other),
        }
    }
    String::from_utf8(out).ok()
}

impl PartialEq for TopicName {
    fn eq(&self, other: &TopicName) -> bool {
        Arc::ptr_eq(&self.parts, &other.parts) || self.parts.full == other.parts.full
    }
}

impl Eq for TopicName {}

impl PartialOrd for TopicName {
    fn partial_cmp(&self, other: &TopicName) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TopicName {
    fn cmp(&self, other: &TopicName) -> std::cmp::Ordering {
        self.parts.full.cmp(&other.parts.full)
    }
}

impl std::hash::Hash for TopicName {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.parts.full.hash(state);
    }
}

impl fmt::Display for TopicName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.parts.full)
    }
}

impl fmt::Display for NamespaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for TopicName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.parts.full)
    }
}

impl<'de> Deserialize<'de> for TopicName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TopicName, D::Error> {
        let text = String::deserialize(deserializer)?;
        TopicName::parse(&text).map_err(serde::de::Error::custom)
    }
}
