use super::head::Head;
use super::key::KeyRecord;
use super::{RecordError, counter};
use crate::seam::Stat;

const STAT: Stat = Stat {
    version: 3,
    created_ms: 1_700_000_000_000,
    modified_ms: 1_700_000_000_001,
    ephemeral: true,
};

/// Pins the layout: these bytes are on people's disks.
#[test]
fn the_layouts_do_not_change() {
    let key = KeyRecord {
        stat: STAT,
        owner: 9,
        value: b"hi",
    }
    .encode("/a");
    assert_eq!(
        hex(&key),
        "01 b2e989c3 0300000000000000 0068e5cf8b010000 0168e5cf8b010000 0900000000000000 6869"
    );
    assert_eq!(
        hex(&counter::encode("/a", 258)),
        "01 c8506bf5 0201000000000000"
    );
    let head = Head {
        incompatible_features: 2,
        openings: 5,
    }
    .encode();
    assert_eq!(hex(&head), "01 ad08a5cb 0200000000000000 0500000000000000");
}

/// Byte, checksum, then eight bytes each.
fn hex(bytes: &[u8]) -> String {
    let mut shown = Vec::new();
    let mut rest = bytes;
    for length in [1, 4, 8, 8, 8, 8, usize::MAX] {
        let (head, tail) = rest.split_at(length.min(rest.len()));
        shown.push(
            head.iter()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>(),
        );
        rest = tail;
    }
    shown.join(" ").trim_end().to_owned()
}

#[test]
fn records_come_back() {
    for value in [&b""[..], b"x", &[0; 5000]] {
        for owner in [0, 7] {
            let stat = Stat {
                ephemeral: owner != 0,
                ..STAT
            };
            let record = KeyRecord { stat, owner, value };
            assert_eq!(KeyRecord::decode("/a", &record.encode("/a")), Ok(record));
        }
    }
    assert_eq!(
        counter::decode("/a", &counter::encode("/a", u64::MAX)),
        Ok(u64::MAX)
    );
    let head = Head {
        incompatible_features: 0,
        openings: 3,
    };
    assert_eq!(Head::decode(&head.encode()), Ok(head));
}

#[test]
fn every_flipped_bit_is_found_out() {
    let key = KeyRecord {
        stat: STAT,
        owner: 9,
        value: b"value",
    }
    .encode("/a");
    for (at, bit) in (0..key.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut bytes = key.clone();
        bytes[at] ^= 1 << bit;
        assert!(
            KeyRecord::decode("/a", &bytes).is_err(),
            "byte {at} bit {bit}"
        );
    }
    let counter = counter::encode("/a", 4);
    let head = Head::default().encode();
    for at in 0..counter.len().min(head.len()) {
        let (mut bytes, mut head) = (counter.clone(), head.clone());
        bytes[at] ^= 0x10;
        head[at] ^= 0x10;
        assert!(counter::decode("/a", &bytes).is_err());
        assert!(Head::decode(&head).is_err());
    }
}

#[test]
fn a_row_under_another_name_is_found_out() {
    let key = KeyRecord {
        stat: STAT,
        owner: 9,
        value: b"value",
    }
    .encode("/a");
    assert_eq!(
        KeyRecord::decode("/b", &key),
        Err(RecordError::Checksum("key"))
    );
    assert_eq!(
        counter::decode("/b", &counter::encode("/a", 4)),
        Err(RecordError::Checksum("counter"))
    );
}

#[test]
fn short_and_newer_records_are_named() {
    let key = KeyRecord {
        stat: STAT,
        owner: 9,
        value: b"",
    }
    .encode("/a");
    for length in 0..key.len() {
        assert_eq!(
            KeyRecord::decode("/a", &key[..length]),
            Err(RecordError::Short("key", length, 37))
        );
    }
    let mut newer = Head::default().encode();
    newer[0] = 2;
    let error = Head::decode(&newer).unwrap_err();
    assert!(error.to_string().contains("format 2"), "{error}");
}
