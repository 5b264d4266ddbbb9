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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    #[test]
    fn the_check_value_is_castagnolis() {
        assert_eq!(super::crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(super::crc32c(b""), 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn agrees_with_another_implementation(bytes in proptest::collection::vec(any::<u8>(), 0..3000), cut in 0usize..3000) {
            let expected = crc32c::crc32c(&bytes);
            prop_assert_eq!(super::crc32c(&bytes), expected);
            let (head, tail) = bytes.split_at(cut.min(bytes.len()));
            prop_assert_eq!(super::of_parts(&[head, tail]), expected);
        }
    }
}
