//! Paths: which strings are one, what lies below which, and the names of sequential keys.
//!
//! A path accepted here is accepted by every store that stands behind the seam, so the strictest
//! of them, ZooKeeper, sets the characters (its `PathUtils`).

use crate::seam::MetadataError;

/// The longest path, in bytes. ZooKeeper has no such limit of its own; ours keeps a key well below a page run.
pub const MAX_PATH_BYTES: usize = 8192;

/// Digits of a sequential key's number; a number that needs more gets more.
pub const SEQUENCE_DIGITS: usize = 10;

/// Checks that a path can name a key: starts with `/`, no empty, `.` or `..` segment, no `/` at the
/// end, no character that a store refuses, at most [`MAX_PATH_BYTES`].
pub fn check_key(path: &str) -> Result<(), MetadataError> {
    if path == "/" {
        return bad(path, "the root holds no value");
    }
    check_shape(path)
}

/// Checks that a path can be asked for its children: as [`check_key`], or the root `/`.
pub fn check_parent(path: &str) -> Result<(), MetadataError> {
    if path == "/" {
        Ok(())
    } else {
        check_shape(path)
    }
}

fn check_shape(path: &str) -> Result<(), MetadataError> {
    if path.len() > MAX_PATH_BYTES {
        let shown: String = path.chars().take(64).collect();
        return bad(
            &format!("{shown}…"),
            &format!(
                "{} bytes long, at most {MAX_PATH_BYTES} are allowed",
                path.len()
            ),
        );
    }
    let Some(below) = path.strip_prefix('/') else {
        return bad(path, "it does not start with '/'");
    };
    for segment in below.split('/') {
        match segment {
            "" => return bad(path, "it has an empty name between or after slashes"),
            "." | ".." => return bad(path, "names '.' and '..' are not allowed"),
            _ => {}
        }
    }
    match path.chars().find(|c| refused(*c)) {
        Some(c) => bad(
            &path.escape_debug().to_string(),
            &format!("character U+{:04X} is not allowed", u32::from(c)),
        ),
        None => Ok(()),
    }
}

/// Control characters, the private-use area and the specials block, as in ZooKeeper.
fn refused(c: char) -> bool {
    c.is_control() || matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..='\u{ffff}')
}

fn bad(path: &str, why: &str) -> Result<(), MetadataError> {
    Err(MetadataError::BadPath(path.to_owned(), why.to_owned()))
}

/// The path above a valid one; `/` for a top-level path.
#[must_use]
pub fn parent(path: &str) -> &str {
    match path.rfind('/') {
        Some(at) if at > 0 => path.get(..at).unwrap_or("/"),
        _ => "/",
    }
}

/// What all keys below `path` start with: the path and a slash.
#[must_use]
pub fn below(path: &str) -> String {
    if path == "/" {
        "/".to_owned()
    } else {
        format!("{path}/")
    }
}

/// The first string after all keys below `path`, in byte order (`0` follows `/`).
#[must_use]
pub fn after_below(path: &str) -> String {
    if path == "/" {
        "0".to_owned()
    } else {
        format!("{path}0")
    }
}

/// The path of a sequential key: the number with [`SEQUENCE_DIGITS`] digits appended, like ZooKeeper's `%010d`.
#[must_use]
pub fn numbered(path: &str, number: u64) -> String {
    format!("{path}{number:0width$}", width = SEQUENCE_DIGITS)
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod path_tests;
