use crate::{DecompressError, decompress};
use pulsar_wire::proto::CompressionType;
use std::io::Write;

const TEXT: &[u8] = b"one message, one message, one message, one message";

fn compressed(codec: CompressionType) -> Vec<u8> {
    match codec {
        CompressionType::None => TEXT.to_vec(),
        CompressionType::Lz4 => lz4_flex::block::compress(TEXT),
        CompressionType::Zlib => {
            let mut encoder =
                flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(TEXT).unwrap();
            encoder.finish().unwrap()
        }
        CompressionType::Zstd => zstd::encode_all(TEXT, 3).unwrap(),
        CompressionType::Snappy => snap::raw::Encoder::new().compress_vec(TEXT).unwrap(),
    }
}

const ALL: [CompressionType; 5] = [
    CompressionType::None,
    CompressionType::Lz4,
    CompressionType::Zlib,
    CompressionType::Zstd,
    CompressionType::Snappy,
];

#[test]
fn every_compression_of_the_protocol_is_undone() {
    for codec in ALL {
        assert_eq!(
            decompress(codec, &compressed(codec), TEXT.len()).as_deref(),
            Ok(TEXT),
            "{codec:?}"
        );
    }
}

#[test]
fn other_sizes_than_promised_are_refused() {
    for codec in &ALL[1..] {
        for size in [TEXT.len() - 1, TEXT.len() + 1] {
            assert!(
                decompress(*codec, &compressed(*codec), size).is_err(),
                "{codec:?} {size}"
            );
        }
    }
}

#[test]
fn damaged_and_boundless_payloads_are_refused() {
    for codec in &ALL[1..] {
        assert!(
            decompress(*codec, b"\xff\xff\xff\xffnothing of the kind", TEXT.len()).is_err(),
            "{codec:?}"
        );
        assert!(decompress(*codec, b"", TEXT.len()).is_err(), "{codec:?}");
    }
    assert_eq!(
        decompress(CompressionType::Lz4, b"", usize::MAX),
        Err(DecompressError::TooLarge(usize::MAX))
    );
}
