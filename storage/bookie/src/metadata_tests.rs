use crate::metadata::{closed, decode, encode, end_of, open_ledger};
use crate::paths::{PathKind, ledger_path, path_kind};

fn from_hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .bytes()
        .filter_map(|byte| (byte as char).to_digit(16).map(|digit| digit as u8))
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

/// Written by BookKeeper: three bookies, closed at entry 2, 6 bytes, password "secret".
fn vector() -> Vec<u8> {
    let mut bytes = from_hex(
        "426f6f6b69654d65746164617461466f726d617456657273696f6e09330a 5d 0802 1003 1806 2002 2803 3232",
    );
    for bookie in ["127.0.0.1:3181", "127.0.0.1:3182", "127.0.0.1:3183"] {
        bytes.extend_from_slice(&[0x0a, 0x0e]);
        bytes.extend_from_slice(bookie.as_bytes());
    }
    bytes.extend(from_hex("1000 3803 4206"));
    bytes.extend_from_slice(b"secret");
    bytes.extend(from_hex("4802 5a0f 0a09"));
    bytes.extend_from_slice(b"component");
    bytes.extend(from_hex("1202"));
    bytes.extend_from_slice(b"ml");
    bytes.extend(from_hex("6000"));
    bytes
}

#[test]
fn bookkeepers_own_bytes_are_read_and_written_back() {
    let metadata = decode(&vector()).unwrap();
    assert_eq!(end_of(&metadata), Some((2, 6)));
    assert_eq!(metadata.segment[0].ensemble_member.len(), 3);
    assert_eq!(metadata.password.as_deref(), Some(&b"secret"[..]));
    assert_eq!(encode(&metadata), vector());
}

#[test]
fn a_ledger_opens_and_closes() {
    let open = open_ledger("bookie-1", vec![("a".into(), b"b".to_vec())]);
    assert_eq!(end_of(&open), None);
    assert_eq!(decode(&encode(&open)), Ok(open.clone()));
    let shut = closed(open, 41, 1000);
    assert_eq!(end_of(&decode(&encode(&shut)).unwrap()), Some((41, 1000)));
}

#[test]
fn other_versions_and_broken_bytes_are_named() {
    let text = decode(b"BookieMetadataFormatVersion\t2\nquorumSize: 1").unwrap_err();
    assert!(text.contains("Version\\t2"), "{text}");
    assert!(decode(b"").is_err());
    for cut in 31..vector().len() {
        assert!(decode(&vector()[..cut]).is_err(), "cut to {cut} bytes");
    }
}

#[test]
fn paths_are_bookkeepers() {
    for (ledger, path) in [
        (0, "/ledgers/00/0000/L0000"),
        (1, "/ledgers/00/0000/L0001"),
        (1_234_567_890, "/ledgers/12/3456/L7890"),
        (2_147_483_646, "/ledgers/21/4748/L3646"),
        (2_147_483_647, "/ledgers/000/0000/0021/4748/L3647"),
        (i64::MAX, "/ledgers/922/3372/0368/5477/L5807"),
    ] {
        assert_eq!(ledger_path(ledger), path);
        assert_eq!(path_kind(path), PathKind::Ledger(ledger));
    }
}

#[test]
fn other_paths_are_not_taken_for_ledgers() {
    for directory in [
        "/ledgers/00",
        "/ledgers/00/0000",
        "/ledgers/000/0000/0021/4748",
    ] {
        assert_eq!(path_kind(directory), PathKind::Directory, "{directory}");
    }
    for other in [
        "/ledgers",
        "/ledgers/available",
        "/ledgers/LAYOUT",
        "/ledgers/idgen-long",
        "/ledgers/00/0000/L001",
        "/ledgers/00/0000/X0001",
        "/ledgers/99/9999/L9999",
        "/ledgers/cookies/127.0.0.1:3181",
        "/else/00/0000/L0001",
        "/ledgers/922/3372/0368/5477/L5808",
    ] {
        assert_eq!(path_kind(other), PathKind::Other, "{other}");
    }
}
