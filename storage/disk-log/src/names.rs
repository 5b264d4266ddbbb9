//! Names of files in `segments/`.

/// The directory of segments below the log's own.
pub const SEGMENTS: &str = "segments";

/// What a name in `segments/` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// A segment of this number.
    Segment(u64),
    /// A file ready to become one.
    Spare(u64),
    /// A spare whose making was interrupted.
    Preparing(u64),
}

/// Reads a name; `None`: not one of ours.
pub fn parse(name: &str) -> Option<Named> {
    let (number, ending) = name.split_once('.')?;
    let lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if number.len() != 16 || !number.bytes().all(lower) {
        return None;
    }
    let number = u64::from_str_radix(number, 16).ok()?;
    match ending {
        "seg" => Some(Named::Segment(number)),
        "spare" => Some(Named::Spare(number)),
        "prep" => Some(Named::Preparing(number)),
        _ => None,
    }
}

/// Writes a name, with `segments/` before it.
pub fn path(named: Named) -> String {
    match named {
        Named::Segment(number) => format!("{SEGMENTS}/{number:016x}.seg"),
        Named::Spare(number) => format!("{SEGMENTS}/{number:016x}.spare"),
        Named::Preparing(number) => format!("{SEGMENTS}/{number:016x}.prep"),
    }
}
