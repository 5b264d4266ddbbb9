//! Hash functions that clients and brokers must agree on.
//!
//! Partition routing and Key_Shared slots are computed on both sides, by programs of several languages: each function
//! here answers bit for bit what Pulsar's Java code answers.

/// Number of slots a Key_Shared subscription divides among its consumers.
const SLOT_COUNT: u32 = 65_536;

/// Murmur3 (x86, 32 bits, seed 0) without its sign bit: Pulsar's `Murmur3_32Hash`.
/// Partition routing takes it modulo the number of partitions.
pub fn murmur3_32(bytes: &[u8]) -> u32 {
    let (blocks, tail) = bytes.as_chunks::<4>();
    let mut hash = 0;
    for block in blocks {
        hash ^= scrambled(u32::from_le_bytes(*block));
        hash = hash
            .rotate_left(13)
            .wrapping_mul(5)
            .wrapping_add(0xe654_6b64);
    }
    if !tail.is_empty() {
        let word = tail
            .iter()
            .rev()
            .fold(0, |word, byte| (word << 8) | u32::from(*byte));
        hash ^= scrambled(word);
    }
    // The algorithm folds the length in as 32 bits; longer keys wrap, as they do in Java's int.
    finished(hash ^ bytes.len() as u32) & 0x7fff_ffff
}

fn scrambled(word: u32) -> u32 {
    word.wrapping_mul(0xcc9e_2d51)
        .rotate_left(15)
        .wrapping_mul(0x1b87_3593)
}

fn finished(mut hash: u32) -> u32 {
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x85eb_ca6b);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

/// Java's `String.hashCode` without its sign bit: the older clients' partition router (`JavaStringHash`).
/// Counts UTF-16 units, so characters beyond the basic plane count twice, as in Java.
pub fn java_string_hash(text: &str) -> u32 {
    let hash = text.encode_utf16().fold(0u32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(u32::from(unit))
    });
    hash & 0x7fff_ffff
}

/// Slot of a sticky key, 1..=65535, where ranges are assigned: STICKY, and AUTO_SPLIT by hash range.
/// Slot 0 stays free in Pulsar ("no hash"), so a key that falls on it moves to 1.
pub fn sticky_slot(key: &[u8]) -> u32 {
    (murmur3_32(key) % SLOT_COUNT).max(1)
}

/// Slot of a sticky key, 1..=65535, under AUTO_SPLIT with consistent hashing, Pulsar's default.
pub fn consistent_hash_slot(key: &[u8]) -> u32 {
    murmur3_32(key) % (SLOT_COUNT - 1) + 1
}

#[cfg(test)]
#[path = "hash_tests.rs"]
mod tests;
