use super::*;

/// Broker entry metadata, checksum, metadata `[0xaa]`, payload `[1, 2]`.
fn full_entry() -> Bytes {
    let covered = [0, 0, 0, 1, 0xaa, 1, 2];
    let mut out = BytesMut::new();
    out.put_u16(0x0e02);
    out.put_u32(3);
    out.put_slice(&[7, 8, 9]);
    out.put_u16(0x0e01);
    out.put_u32(crc32c::crc32c(&covered));
    out.put_slice(&covered);
    out.freeze()
}

#[test]
fn every_part_is_found() {
    let entry = full_entry();
    let headers = EntryHeaders::parse(&entry).unwrap();
    assert_eq!(headers.broker_entry_metadata, Some(&[7, 8, 9][..]));
    assert_eq!(headers.covered, [0, 0, 0, 1, 0xaa, 1, 2]);
    assert_eq!(headers.metadata, [0xaa]);
    assert_eq!(headers.payload, [1, 2]);
    assert_eq!(headers.verify_checksum(), Ok(()));
}

#[test]
fn a_changed_bit_anywhere_under_the_checksum_is_noticed() {
    let entry = full_entry();
    let covered_from = entry.len() - 7;
    for bit in covered_from * 8..entry.len() * 8 {
        let mut damaged = entry.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let verified = EntryHeaders::parse(&damaged)
            .and_then(|headers| headers.verify_checksum().map_err(EntryError::from));
        // A damaged metadata length may also point beyond the entry.
        assert!(verified.is_err(), "bit {bit}");
    }
}

#[test]
fn the_brokers_section_is_not_under_the_checksum() {
    let mut entry = full_entry().to_vec();
    entry[7] ^= 0xff;
    assert_eq!(
        EntryHeaders::parse(&entry).unwrap().verify_checksum(),
        Ok(())
    );
}

#[test]
fn every_cut_is_refused_by_the_name_of_the_part() {
    let entry = full_entry();
    // 6 + 3 bytes of the broker's section, 6 of the checksum, 4 + 1 of the metadata; the payload may be empty.
    let part_at = |length| match length {
        2..9 => "broker entry metadata",
        11..15 => "checksum",
        _ => "message metadata",
    };
    for length in 0..20 {
        let expected = EntryError::Truncated {
            part: part_at(length),
            entry_length: length,
        };
        assert_eq!(
            EntryHeaders::parse(&entry[..length]),
            Err(expected),
            "{length}"
        );
    }
    assert!(
        EntryHeaders::parse(&entry[..20])
            .unwrap()
            .payload
            .is_empty()
    );
}

#[test]
fn a_length_beyond_the_entry_is_refused() {
    for magic in [&[][..], &[0x0e, 0x02]] {
        let mut entry = magic.to_vec();
        entry.extend_from_slice(&u32::MAX.to_be_bytes());
        entry.extend_from_slice(&[0; 40]);
        assert!(matches!(
            EntryHeaders::parse(&entry),
            Err(EntryError::Truncated { .. })
        ));
    }
}

#[test]
fn a_missing_checksum_is_added_where_it_belongs() {
    let entry = full_entry();
    let mut bare = BytesMut::from(&entry[..9]);
    bare.put_slice(&entry[15..]);
    let bare = bare.freeze();
    assert_eq!(EntryHeaders::parse(&bare).unwrap().checksum, None);
    assert_eq!(
        EntryHeaders::parse(&bare).unwrap().verify_checksum(),
        Ok(())
    );
    assert_eq!(add_checksum(&bare).unwrap(), entry);
    // The same without the broker's section.
    assert_eq!(add_checksum(&bare.slice(9..)).unwrap(), entry.slice(9..));
}

#[test]
fn a_present_checksum_stays_even_if_it_is_wrong() {
    let mut entry = full_entry().to_vec();
    *entry.last_mut().unwrap() ^= 1;
    let entry = Bytes::from(entry);
    let same = add_checksum(&entry).unwrap();
    assert_eq!(same.as_ptr(), entry.as_ptr());
    assert!(
        EntryHeaders::parse(&same)
            .unwrap()
            .verify_checksum()
            .is_err()
    );
}

#[test]
fn stripping_shares_the_bytes() {
    let entry = full_entry();
    let stripped = strip_broker_entry_metadata(&entry).unwrap();
    assert_eq!(stripped, entry.slice(9..));
    assert_eq!(stripped.as_ptr(), entry[9..].as_ptr());
    assert_eq!(strip_broker_entry_metadata(&stripped).unwrap(), stripped);
    assert!(strip_broker_entry_metadata(&entry.slice(..8)).is_err());
}

#[test]
fn a_new_entry_has_its_checksum_and_its_parts() {
    let metadata = MessageMetadata {
        producer_name: Some("p".into()),
        sequence_id: Some(0),
        publish_time: Some(1_700_000_000_000),
        ..Default::default()
    };
    let entry = encode_entry(&metadata, b"hello");
    let headers = EntryHeaders::parse(&entry).unwrap();
    assert!(headers.checksum.is_some());
    assert_eq!(headers.verify_checksum(), Ok(()));
    assert_eq!(MessageMetadata::decode(headers.metadata).unwrap(), metadata);
    assert_eq!(headers.payload, b"hello");
    // The golden frames carry this very entry.
    let golden = include_str!("../tests/golden/golden-frames.tsv");
    let hex: String = entry.iter().map(|byte| format!("{byte:02x}")).collect();
    let row = golden
        .lines()
        .find(|row| row.starts_with("SEND_SINGLE"))
        .unwrap();
    assert!(row.contains(&hex), "{hex}");
}
