//! What is stored in metadata nodes, in Pulsar's own bytes.

pub mod compressed;
pub mod cursor_node;
pub mod ledger_list;

/// The generated types.
#[expect(missing_docs, reason = "generated from proto/ManagedLedger.proto")]
pub mod proto {
    include!(concat!(env!("OUT_DIR"), "/pulsar.mledger.rs"));
}

#[cfg(test)]
mod forms_tests;

/// Why stored bytes could not be read. The text says what was wrong; the caller adds where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    /// Not the protobuf message it should be.
    #[error("not a readable {0}: {1}")]
    Unreadable(&'static str, String),
    /// Compressed in a way that is not supported.
    #[error(
        "compressed with {0}, which is not supported here: write it with managedLedgerInfoCompressionType=NONE and managedCursorInfoCompressionType=NONE"
    )]
    Codec(String),
    /// The message can be read but says something impossible.
    #[error("{0}")]
    Nonsense(String),
}
