//! What is stored, in Pulsar's own bytes: a locator in the metadata, and each version as the one entry of a ledger.
//!
//! ```text
//! /schemas/<tenant>/<namespace>/<url-encoded local name>  SchemaLocator: the newest version, and where each one lies
//! ledger N, entry 0                                       SchemaEntry: a SchemaInfo, and the versions before it
//! ```

use crate::sha256::sha256;
use bytes::Bytes;
use letters::{SchemaFound, SchemaText};
use prost::Message;

/// Why stored bytes could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a readable {0}: {1}")]
pub struct FormError(&'static str, String);

#[derive(Clone, PartialEq, Message)]
struct PositionInfo {
    #[prost(int64, optional, tag = "1")]
    ledger_id: Option<i64>,
    #[prost(int64, optional, tag = "2")]
    entry_id: Option<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct IndexEntry {
    #[prost(int64, optional, tag = "1")]
    version: Option<i64>,
    #[prost(message, optional, tag = "2")]
    position: Option<PositionInfo>,
    #[prost(bytes = "bytes", optional, tag = "3")]
    hash: Option<Bytes>,
}

#[derive(Clone, PartialEq, Message)]
struct SchemaLocator {
    #[prost(message, optional, tag = "1")]
    info: Option<IndexEntry>,
    #[prost(message, repeated, tag = "2")]
    index: Vec<IndexEntry>,
}

#[derive(Clone, PartialEq, Message)]
struct SchemaEntry {
    #[prost(bytes = "bytes", optional, tag = "2")]
    schema_data: Option<Bytes>,
    #[prost(message, repeated, tag = "5")]
    index: Vec<IndexEntry>,
}

#[derive(Clone, PartialEq, Message)]
struct KeyValuePair {
    #[prost(string, optional, tag = "1")]
    key: Option<String>,
    #[prost(string, optional, tag = "2")]
    value: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct SchemaInfo {
    #[prost(string, optional, tag = "1")]
    schema_id: Option<String>,
    #[prost(string, optional, tag = "2")]
    user: Option<String>,
    /// One more than in the protocol.
    #[prost(int32, optional, tag = "3")]
    kind: Option<i32>,
    #[prost(bytes = "bytes", optional, tag = "4")]
    schema: Option<Bytes>,
    #[prost(int64, optional, tag = "5")]
    timestamp: Option<i64>,
    #[prost(bool, optional, tag = "6")]
    deleted: Option<bool>,
    #[prost(message, repeated, tag = "7")]
    props: Vec<KeyValuePair>,
}

/// Where one version lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// 0, 1, 2, ...
    pub version: i64,
    /// Its ledger.
    pub ledger: i64,
    /// Its entry there.
    pub entry: i64,
    /// SHA-256 of the definition.
    pub hash: Bytes,
}

/// Where all versions lie, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locator {
    /// All of them.
    pub places: Vec<Place>,
}

/// A version as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// What it is; `None`: this version says that all before it are deleted.
    pub schema: Option<SchemaText>,
    /// When it was stored, milliseconds since 1970.
    pub stored_ms: i64,
}

impl Place {
    /// Where a new version will lie.
    #[must_use]
    pub fn of(version: i64, ledger: i64, schema: &SchemaText) -> Place {
        Place {
            version,
            ledger,
            entry: 0,
            hash: Bytes::copy_from_slice(&sha256(&schema.data)),
        }
    }

    fn read(entry: &IndexEntry) -> Option<Place> {
        let position = entry.position.as_ref()?;
        Some(Place {
            version: entry.version?,
            ledger: position.ledger_id?,
            entry: position.entry_id?,
            hash: entry.hash.clone().unwrap_or_default(),
        })
    }

    fn write(&self) -> IndexEntry {
        IndexEntry {
            version: Some(self.version),
            position: Some(PositionInfo {
                ledger_id: Some(self.ledger),
                entry_id: Some(self.entry),
            }),
            hash: Some(self.hash.clone()),
        }
    }
}

impl Locator {
    /// Reads a stored locator.
    pub fn decode(value: &Bytes) -> Result<Locator, FormError> {
        let stored = SchemaLocator::decode(value.clone())
            .map_err(|error| FormError("SchemaLocator", error.to_string()))?;
        let places = stored
            .index
            .iter()
            .map(Place::read)
            .collect::<Option<Vec<_>>>();
        match places {
            Some(places) if !places.is_empty() => Ok(Locator { places }),
            Some(_) => Err(FormError("SchemaLocator", "it lists no version".to_owned())),
            None => Err(FormError(
                "SchemaLocator",
                "a version lacks its number or position".to_owned(),
            )),
        }
    }

    /// As Pulsar writes it.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let stored = SchemaLocator {
            info: self.places.last().map(Place::write),
            index: self.places.iter().map(Place::write).collect(),
        };
        stored.encode_to_vec().into()
    }

    /// The number a new version gets.
    #[must_use]
    pub fn next_version(&self) -> i64 {
        self.places
            .last()
            .map_or(0, |place| place.version.saturating_add(1))
    }
}

impl Stored {
    /// Reads a stored version.
    pub fn decode(value: &Bytes) -> Result<Stored, FormError> {
        let unreadable = |error: prost::DecodeError| FormError("SchemaEntry", error.to_string());
        let entry = SchemaEntry::decode(value.clone()).map_err(unreadable)?;
        let data = entry.schema_data.unwrap_or_default();
        let info = SchemaInfo::decode(data).map_err(unreadable)?;
        let kind = info.kind.unwrap_or(1).saturating_sub(1);
        let pairs = info.props.into_iter();
        let schema = SchemaText {
            kind,
            data: info.schema.unwrap_or_default(),
            properties: pairs
                .map(|pair| (pair.key.unwrap_or_default(), pair.value.unwrap_or_default()))
                .collect(),
        };
        Ok(Stored {
            schema: (!info.deleted.unwrap_or(false)).then_some(schema),
            stored_ms: info.timestamp.unwrap_or(0),
        })
    }

    /// The entry of a new version, as Pulsar writes it; `None`: one that says that all before it are deleted.
    #[must_use]
    pub fn encode(id: &str, schema: Option<&SchemaText>, now_ms: u64, before: &Locator) -> Bytes {
        let deleted = schema.is_none();
        let schema = &schema.cloned().unwrap_or_default();
        let pairs = schema.properties.iter();
        let info = SchemaInfo {
            schema_id: Some(id.to_owned()),
            user: Some(String::new()),
            kind: Some(schema.kind.saturating_add(1)),
            schema: Some(schema.data.clone()),
            timestamp: Some(i64::try_from(now_ms).unwrap_or(i64::MAX)),
            deleted: Some(deleted),
            props: pairs
                .map(|(key, value)| KeyValuePair {
                    key: Some(key.clone()),
                    value: Some(value.clone()),
                })
                .collect(),
        };
        let mut index: Vec<IndexEntry> = before.places.iter().map(Place::write).collect();
        if index.is_empty() {
            // Pulsar's first version names itself, at no position.
            let itself = Place {
                entry: -1,
                ..Place::of(0, -1, schema)
            };
            index.push(itself.write());
        }
        let entry = SchemaEntry {
            schema_data: Some(info.encode_to_vec().into()),
            index,
        };
        entry.encode_to_vec().into()
    }

    /// As those who ask hear it.
    #[must_use]
    pub fn found(&self, version: i64) -> Option<SchemaFound> {
        Some(SchemaFound {
            version,
            schema: self.schema.clone()?,
            stored_ms: self.stored_ms,
        })
    }
}
