use super::*;

/// `(input, output)` of every golden row of that kind.
fn golden(kind: &str) -> Vec<(&'static str, u32)> {
    let table = include_str!("../../../wire/pulsar-wire/tests/golden/golden-hashes.tsv");
    let rows: Vec<_> = table
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(|row| row[0] == kind)
        .map(|row| (row[1], row[2].parse().expect("a number")))
        .collect();
    assert!(rows.len() >= 3, "golden rows of {kind}");
    rows
}

#[test]
fn murmur3_agrees_with_the_golden_table() {
    for (key, expected) in golden("murmur3_32_masked") {
        assert_eq!(murmur3_32(key.as_bytes()), expected, "{key:?}");
    }
}

#[test]
fn slots_agree_with_the_golden_table() {
    for (key, expected) in golden("sticky_slot") {
        assert_eq!(sticky_slot(key.as_bytes()), expected, "{key:?}");
    }
    for (key, expected) in golden("consistent_hash_slot") {
        assert_eq!(consistent_hash_slot(key.as_bytes()), expected, "{key:?}");
    }
}

#[test]
fn java_string_hash_agrees_with_the_golden_table() {
    for (key, expected) in golden("java_string_hash_masked") {
        assert_eq!(java_string_hash(key), expected, "{key:?}");
    }
}

#[test]
fn java_string_hash_counts_utf16_units() {
    // U+1F600 is the pair d83d de00 in Java: 0xd83d * 31 + 0xde00.
    assert_eq!(java_string_hash("\u{1f600}"), 0xd83d * 31 + 0xde00);
}

#[test]
fn tails_of_every_length_count() {
    // Published values of Murmur3 x86_32 with seed 0.
    let known: [(&str, u32); 4] = [
        ("test", 0xba6b_d213),
        ("ab", 0x9bbf_d75f),
        ("abc", 0xb3dd_93fa),
        ("The quick brown fox jumps over the lazy dog", 0x2e4f_f723),
    ];
    for (key, unmasked) in known {
        assert_eq!(
            murmur3_32(key.as_bytes()),
            unmasked & 0x7fff_ffff,
            "{key:?}"
        );
    }
}
