//! CRC32C (Castagnoli), the one checksum of Pulsar's entries.

use crc_fast::{CrcAlgorithm, Digest};

/// CRC32C of the bytes: reflected, initial value and final xor all ones, as Pulsar writes it.
pub fn crc32c(bytes: &[u8]) -> u32 {
    of_parts(&[bytes])
}

/// CRC32C of several slices read one after the other.
pub fn of_parts(parts: &[&[u8]]) -> u32 {
    let mut digest = Digest::new(CrcAlgorithm::Crc32Iscsi);
    for part in parts {
        digest.update(part);
    }
    // A 32-bit CRC in the library's 64-bit answer.
    digest.finalize() as u32
}
