//! The list of a managed ledger's ledgers: the value of `/managed-ledgers/<persistence name>`,
//! Pulsar's `ManagedLedgerInfo`.

use super::proto::managed_ledger_info::LedgerInfo;
use super::proto::{KeyValue, ManagedLedgerInfo, NestedPositionInfo};
use super::{FormError, compressed};
use bytes::Bytes;
use prost::Message;
use vocabulary::Position;

/// One ledger of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedLedger {
    /// Its id.
    pub ledger: i64,
    /// Number of entries; 0 while it is open.
    pub entries: i64,
    /// Sum of body bytes; 0 while it is open.
    pub size: i64,
    /// When it was sealed, milliseconds since 1970; 0 while it is open.
    pub closed_at_ms: i64,
    /// What the stored form says beside that (offload context, properties), kept as it was.
    rest: LedgerInfo,
}

/// The list with what else its node holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LedgerList {
    /// In order; ids grow.
    pub ledgers: Vec<ListedLedger>,
    /// Set when the topic was terminated: its last position.
    pub terminated: Option<Position>,
    /// Properties of the topic.
    pub properties: Vec<(String, String)>,
}

impl ListedLedger {
    /// A ledger that was just made.
    #[must_use]
    pub fn open(ledger: i64) -> ListedLedger {
        ListedLedger {
            ledger,
            entries: 0,
            size: 0,
            closed_at_ms: 0,
            rest: LedgerInfo::default(),
        }
    }

    /// The number of its last entry, -1 if it has none.
    #[must_use]
    pub fn last_entry(&self) -> i64 {
        self.entries - 1
    }
}

impl LedgerList {
    /// Reads a stored list.
    pub fn decode(value: &Bytes) -> Result<LedgerList, FormError> {
        let body = compressed::body(value)?;
        let info = ManagedLedgerInfo::decode(body)
            .map_err(|error| FormError::Unreadable("ManagedLedgerInfo", error.to_string()))?;
        let mut ledgers: Vec<ListedLedger> = Vec::with_capacity(info.ledger_info.len());
        for listed in info.ledger_info {
            let ledger = read_ledger(listed)?;
            if ledgers
                .last()
                .is_some_and(|before| before.ledger >= ledger.ledger)
            {
                return nonsense(format!(
                    "ledger {} does not come in growing order",
                    ledger.ledger
                ));
            }
            ledgers.push(ledger);
        }
        let terminated = info.terminated_position.map(read_position).transpose()?;
        let properties = info
            .properties
            .into_iter()
            .map(read_property)
            .collect::<Result<_, _>>()?;
        Ok(LedgerList {
            ledgers,
            terminated,
            properties,
        })
    }

    /// Writes it as Pulsar does, uncompressed.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let info = ManagedLedgerInfo {
            ledger_info: self.ledgers.iter().map(write_ledger).collect(),
            terminated_position: self.terminated.map(|position| NestedPositionInfo {
                ledger_id: Some(position.ledger),
                entry_id: Some(position.entry),
            }),
            properties: self.properties.iter().map(write_property).collect(),
        };
        info.encode_to_vec().into()
    }
}

fn read_ledger(info: LedgerInfo) -> Result<ListedLedger, FormError> {
    let Some(ledger) = info.ledger_id else {
        return nonsense("a ledger without an id is listed".to_owned());
    };
    let (entries, size) = (info.entries.unwrap_or(0), info.size.unwrap_or(0));
    let closed_at_ms = info.timestamp.unwrap_or(0);
    if ledger < 0 || entries < 0 || size < 0 {
        return nonsense(format!(
            "ledger {ledger} is listed with {entries} entries and {size} bytes"
        ));
    }
    Ok(ListedLedger {
        ledger,
        entries,
        size,
        closed_at_ms,
        rest: info,
    })
}

/// An open ledger is written with its id and a zero time of closing only, as Pulsar does.
fn write_ledger(listed: &ListedLedger) -> LedgerInfo {
    LedgerInfo {
        ledger_id: Some(listed.ledger),
        entries: (listed.entries > 0).then_some(listed.entries),
        size: (listed.entries > 0).then_some(listed.size),
        timestamp: Some(listed.closed_at_ms),
        ..listed.rest.clone()
    }
}

fn read_position(info: NestedPositionInfo) -> Result<Position, FormError> {
    match (info.ledger_id, info.entry_id) {
        (Some(ledger), Some(entry)) => Ok(Position::new(ledger, entry)),
        _ => nonsense("the position of termination is incomplete".to_owned()),
    }
}

fn read_property(pair: KeyValue) -> Result<(String, String), FormError> {
    match (pair.key, pair.value) {
        (Some(key), Some(value)) => Ok((key, value)),
        _ => nonsense("a property lacks its key or value".to_owned()),
    }
}

fn write_property((key, value): &(String, String)) -> KeyValue {
    KeyValue {
        key: Some(key.clone()),
        value: Some(value.clone()),
    }
}

fn nonsense<T>(text: String) -> Result<T, FormError> {
    Err(FormError::Nonsense(text))
}
