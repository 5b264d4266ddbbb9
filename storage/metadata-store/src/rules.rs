//! The verdicts that every provider of ours shares.

use crate::seam::{Expect, KeyKind, MetadataError, MetadataReply, MetadataRequest, Stat, Ticket};
use std::fmt;
use vocabulary::WallTime;

impl fmt::Display for Expect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expect::Anything => f.write_str("anything"),
            Expect::Absent => f.write_str("no such key"),
            Expect::Version(version) => write!(f, "version {version}"),
        }
    }
}

impl KeyKind {
    /// Bound to a session.
    #[must_use]
    pub fn is_ephemeral(self) -> bool {
        matches!(self, KeyKind::Ephemeral | KeyKind::EphemeralSequential)
    }

    /// Gets a number appended.
    #[must_use]
    pub fn is_sequential(self) -> bool {
        matches!(self, KeyKind::Sequential | KeyKind::EphemeralSequential)
    }
}

impl Stat {
    /// Of a key written for the first time.
    #[must_use]
    pub fn created(now: WallTime, ephemeral: bool) -> Stat {
        Stat {
            version: 0,
            created_ms: now.0,
            modified_ms: now.0,
            ephemeral,
        }
    }

    /// Of a key written once more.
    #[must_use]
    pub fn rewritten(self, now: WallTime) -> Stat {
        Stat {
            version: self.version.saturating_add(1),
            modified_ms: now.0,
            ..self
        }
    }
}

/// Whether a key whose version is `found` is as expected.
pub fn check_expect(path: &str, expect: Expect, found: Option<i64>) -> Result<(), MetadataError> {
    let met = match expect {
        Expect::Anything => true,
        Expect::Absent => found.is_none(),
        Expect::Version(version) => found == Some(version),
    };
    if met {
        return Ok(());
    }
    let found = found.map_or_else(
        || "no such key".to_owned(),
        |version| format!("version {version}"),
    );
    Err(MetadataError::BadVersion(
        path.to_owned(),
        format!("{expect}, found {found}"),
    ))
}

impl MetadataRequest {
    /// The number the asker chose.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        match self {
            MetadataRequest::Get { ticket, .. }
            | MetadataRequest::Put { ticket, .. }
            | MetadataRequest::Delete { ticket, .. }
            | MetadataRequest::Children { ticket, .. } => *ticket,
        }
    }

    /// The path asked about.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            MetadataRequest::Get { path, .. }
            | MetadataRequest::Put { path, .. }
            | MetadataRequest::Delete { path, .. }
            | MetadataRequest::Children { path, .. } => path,
        }
    }

    /// Whether carrying it out may change the store.
    #[must_use]
    pub fn is_change(&self) -> bool {
        matches!(
            self,
            MetadataRequest::Put { .. } | MetadataRequest::Delete { .. }
        )
    }

    /// The reply that says it failed.
    #[must_use]
    pub fn failed(&self, error: MetadataError) -> MetadataReply {
        let (ticket, path) = (self.ticket(), self.path().to_owned());
        match self {
            MetadataRequest::Get { .. } => MetadataReply::Got {
                ticket,
                path,
                result: Err(error),
            },
            MetadataRequest::Put { .. } => MetadataReply::Put {
                ticket,
                result: Err(error),
            },
            MetadataRequest::Delete { .. } => MetadataReply::Deleted {
                ticket,
                path,
                result: Err(error),
            },
            MetadataRequest::Children { .. } => MetadataReply::Children {
                ticket,
                path,
                result: Err(error),
            },
        }
    }
}

impl MetadataReply {
    /// The ticket it answers; none for a notification.
    #[must_use]
    pub fn ticket(&self) -> Option<Ticket> {
        match self {
            MetadataReply::Got { ticket, .. }
            | MetadataReply::Put { ticket, .. }
            | MetadataReply::Deleted { ticket, .. }
            | MetadataReply::Children { ticket, .. } => Some(*ticket),
            MetadataReply::Changed { .. }
            | MetadataReply::SessionLost
            | MetadataReply::SessionEstablished => None,
        }
    }
}
