//! Owns: the codecs that producers compress payloads with, read only.
//! Never: compresses; believes a size that a message claims before checking it.
//! Told: a codec, bytes, the size that is to come out.
//! Says: the bytes as the producer had them, or why not.
//! Read first: [`decompress`].

use pulsar_wire::proto::CompressionType;
use std::io::Read;
use thiserror::Error;

/// No broker takes entries beyond this, and no payload is believed to be larger, bytes.
const PAYLOAD_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Why a payload cannot be shown.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum DecompressError {
    /// The metadata claims an impossible size.
    #[error(
        "the message says that it has {0} bytes without compression; at most {PAYLOAD_BYTES_MAX} are read"
    )]
    TooLarge(usize),
    /// The codec did not understand its input.
    #[error("the payload is not {codec}: {reason}")]
    Damaged {
        /// The codec by its protocol name.
        codec: &'static str,
        /// What the codec said.
        reason: String,
    },
    /// Other bytes came out than were promised.
    #[error("the payload has {found} bytes without compression, its message says {expected}")]
    WrongSize {
        /// As the metadata says.
        expected: usize,
        /// What came out.
        found: usize,
    },
}

/// Undoes a producer's compression; `size` is what the metadata says comes out.
pub fn decompress(
    codec: CompressionType,
    payload: &[u8],
    size: usize,
) -> Result<Vec<u8>, DecompressError> {
    if codec == CompressionType::None {
        return Ok(payload.to_vec());
    }
    if size > PAYLOAD_BYTES_MAX {
        return Err(DecompressError::TooLarge(size));
    }
    let damaged = |reason: String| DecompressError::Damaged {
        codec: codec.as_str_name(),
        reason,
    };
    let plain = match codec {
        CompressionType::None => payload.to_vec(),
        CompressionType::Lz4 => lz4_flex::block::decompress(payload, size)
            .map_err(|error| damaged(error.to_string()))?,
        CompressionType::Zlib => take(flate2::read::ZlibDecoder::new(payload), size)
            .map_err(|error| damaged(error.to_string()))?,
        CompressionType::Zstd => zstd::stream::read::Decoder::new(payload)
            .and_then(|decoder| take(decoder, size))
            .map_err(|error| damaged(error.to_string()))?,
        CompressionType::Snappy => {
            let promised =
                snap::raw::decompress_len(payload).map_err(|error| damaged(error.to_string()))?;
            if promised != size {
                return Err(DecompressError::WrongSize {
                    expected: size,
                    found: promised,
                });
            }
            snap::raw::Decoder::new()
                .decompress_vec(payload)
                .map_err(|error| damaged(error.to_string()))?
        }
    };
    if plain.len() == size {
        Ok(plain)
    } else {
        Err(DecompressError::WrongSize {
            expected: size,
            found: plain.len(),
        })
    }
}

/// Reads one byte more than expected at most, so that too much is noticed and costs nothing.
fn take(reader: impl Read, size: usize) -> std::io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    reader.take(size as u64 + 1).read_to_end(&mut plain)?;
    Ok(plain)
}

#[cfg(test)]
mod compression_tests;
