//! Keys of ledgers in the metadata store, as BookKeeper's hierarchical ledger manager names them.
//!
//! Ids below 2^31-1: ten digits, split 2-4-4 (`/ledgers/00/0000/L0001`). Others: nineteen digits, split
//! 3-4-4-4-4 (`/ledgers/000/0000/0000/0000/L0001`).

/// Where ledgers are listed.
pub const ROOT: &str = "/ledgers";

/// The key of a ledger.
pub fn ledger_path(ledger: i64) -> String {
    let (digits, head) = if ledger < i64::from(i32::MAX) {
        (format!("{ledger:010}"), 2)
    } else {
        (format!("{ledger:019}"), 3)
    };
    let mut path = format!("{ROOT}/{}", &digits[..head]);
    let mut rest = &digits[head..];
    while rest.len() > 4 {
        path.push('/');
        path.push_str(&rest[..4]);
        rest = &rest[4..];
    }
    path.push_str("/L");
    path.push_str(rest);
    path
}

/// What a path below [`ROOT`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// The key of this ledger.
    Ledger(i64),
    /// May have ledgers below it.
    Directory,
    /// Something else (`available`, `LAYOUT`, ...).
    Other,
}

/// Tells what a path is.
pub fn path_kind(path: &str) -> PathKind {
    let Some(below) = path
        .strip_prefix(ROOT)
        .and_then(|rest| rest.strip_prefix('/'))
    else {
        return PathKind::Other;
    };
    let digits: String = below
        .chars()
        .filter(|letter| letter.is_ascii_digit())
        .collect();
    if below
        .chars()
        .all(|letter| letter.is_ascii_digit() || letter == '/')
    {
        return match digits.len() <= 15 {
            true => PathKind::Directory,
            false => PathKind::Other,
        };
    }
    match digits.parse() {
        Ok(ledger) if ledger_path(ledger) == path => PathKind::Ledger(ledger),
        _ => PathKind::Other,
    }
}
