//! The bytes of the rows, one file per kind. Numbers are little-endian. Every record starts with a
//! format byte and a CRC-32C, since redb does not check pages when it reads them.

pub mod counter;
pub mod head;
pub mod key;

/// Why bytes are no record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// Shorter than its fixed part.
    #[error("the {0} record is {1} bytes long, at least {2} were expected: the file is damaged")]
    Short(&'static str, usize, usize),
    /// Written by a newer program.
    #[error("the {0} record has format {1}, this program reads format 1: use a newer program")]
    Format(&'static str, u8),
    /// The bytes are not those that were written.
    #[error("the {0} record does not match its checksum: the file is damaged")]
    Checksum(&'static str),
}

/// CRC-32C over the row's name and what follows the checksum, so that a row that got under another
/// name is found out too.
fn checksum(name: &str, parts: &[&[u8]]) -> [u8; 4] {
    let mut digest = crc_fast::Digest::new(crc_fast::CrcAlgorithm::Crc32Iscsi);
    digest.update(name.as_bytes());
    for part in parts {
        digest.update(part);
    }
    // The algorithm has 32 bits; the library hands out 64 for all.
    (digest.finalize() as u32).to_le_bytes()
}

/// Takes the next `N` bytes off the front.
fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*head)
}

/// Checks format and checksum; what is left is the record's fields.
fn open_record<'a>(
    kind: &'static str,
    least: usize,
    name: &str,
    bytes: &'a [u8],
) -> Result<&'a [u8], RecordError> {
    let short = RecordError::Short(kind, bytes.len(), least);
    if bytes.len() < least {
        return Err(short);
    }
    let mut rest = bytes;
    let [format] = take::<1>(&mut rest).ok_or_else(|| short.clone())?;
    if format != FORMAT {
        return Err(RecordError::Format(kind, format));
    }
    let sum = take::<4>(&mut rest).ok_or(short)?;
    if sum != checksum(name, &[rest]) {
        return Err(RecordError::Checksum(kind));
    }
    Ok(rest)
}

/// The format all records have so far.
const FORMAT: u8 = 1;
/// Format byte and checksum.
const PREFIX_BYTES: usize = 5;

#[cfg(test)]
mod record_tests;
