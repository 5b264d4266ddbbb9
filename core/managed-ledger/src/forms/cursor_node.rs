//! Where a cursor is kept: the value of `/managed-ledgers/<persistence name>/<url-encoded cursor>`,
//! Pulsar's `ManagedCursorInfo`.
//!
//! While there is no cursor ledger (`cursorsLedgerId` is -1), the state lies in the node itself: ours
//! in a field of our own, which holds a snapshot as the cursor room writes it.

use super::proto::ManagedCursorInfo;
use super::{FormError, compressed};
use bytes::Bytes;
use prost::Message;
use vocabulary::WallTime;

/// What a cursor's node says.
#[derive(Clone, Debug, PartialEq)]
pub enum CursorNode {
    /// The state is this snapshot.
    Here(Bytes),
    /// The state is in a cursor ledger.
    InLedger {
        /// Which.
        ledger: i64,
        /// The snapshot with which that ledger begins, if it is small: for the day on which the ledger cannot be read.
        /// (Pulsar's node keeps the mark of that moment for the same purpose.)
        fallback: Option<Bytes>,
    },
}

impl CursorNode {
    /// Reads a stored node.
    pub fn decode(value: &Bytes) -> Result<CursorNode, FormError> {
        let info = ManagedCursorInfo::decode(compressed::body(value)?)
            .map_err(|error| FormError::Unreadable("ManagedCursorInfo", error.to_string()))?;
        match (info.cursors_ledger_id, info.hulse_snapshot) {
            (Some(ledger), fallback) if ledger >= 0 => {
                Ok(CursorNode::InLedger { ledger, fallback })
            }
            (Some(-1), Some(snapshot)) => Ok(CursorNode::Here(snapshot)),
            (Some(-1), None) => Err(FormError::Nonsense(
                "the cursor's state is there in a form that only Apache Pulsar reads".to_owned(),
            )),
            (Some(ledger), _) => Err(FormError::Nonsense(format!(
                "{ledger} is no id of a cursor ledger"
            ))),
            (None, _) => Err(FormError::Nonsense(
                "no cursor ledger id is given".to_owned(),
            )),
        }
    }

    /// Writes it, with the time at which the cursor was last in use.
    #[must_use]
    pub fn encode(&self, last_active: WallTime) -> Bytes {
        let (ledger, snapshot) = match self {
            CursorNode::Here(snapshot) => (-1, Some(snapshot.clone())),
            CursorNode::InLedger { ledger, fallback } => (*ledger, fallback.clone()),
        };
        let info = ManagedCursorInfo {
            cursors_ledger_id: Some(ledger),
            last_active: Some(i64::try_from(last_active.0).unwrap_or(i64::MAX)),
            hulse_snapshot: snapshot,
            ..ManagedCursorInfo::default()
        };
        info.encode_to_vec().into()
    }
}
