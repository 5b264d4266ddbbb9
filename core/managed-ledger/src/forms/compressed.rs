//! The compressed form of metadata values, as Pulsar writes it above a threshold when
//! `managedLedgerInfoCompressionType` or `managedCursorInfoCompressionType` is not NONE:
//!
//! ```text
//! u16 0x4778 | u32 length of header | header {compressionType, uncompressedSize} | body
//! ```
//!
//! No plain value starts with 0x47: it would be field 8 with a wire type that does not exist.

use super::FormError;
use super::proto::{CompressionType, ManagedLedgerInfoMetadata};
use bytes::{Buf, Bytes};
use prost::Message;

const MAGIC: [u8; 2] = [0x47, 0x78];

/// The protobuf bytes within a stored value. Codec NONE is read; another one is an error that names it.
pub fn body(value: &Bytes) -> Result<Bytes, FormError> {
    if !value.starts_with(&MAGIC) {
        return Ok(value.clone());
    }
    let unreadable = |why: &str| FormError::Unreadable("compression header", why.to_owned());
    let mut rest = value.slice(MAGIC.len()..);
    let header_bytes = rest
        .try_get_u32()
        .map_err(|_| unreadable("it is cut short"))? as usize;
    if header_bytes > rest.len() {
        return Err(unreadable("it is longer than the value"));
    }
    let header = ManagedLedgerInfoMetadata::decode(rest.split_to(header_bytes))
        .map_err(|error| unreadable(&error.to_string()))?;
    let number = header
        .compression_type
        .ok_or_else(|| unreadable("it names no codec"))?;
    let size = header
        .uncompressed_size
        .ok_or_else(|| unreadable("it gives no size"))?;
    match CompressionType::try_from(number) {
        Ok(CompressionType::None) if usize::try_from(size) == Ok(rest.len()) => Ok(rest),
        Ok(CompressionType::None) => Err(unreadable(&format!(
            "it says {size} bytes and {} follow",
            rest.len()
        ))),
        Ok(codec) => Err(FormError::Codec(codec.as_str_name().to_owned())),
        Err(_) => Err(FormError::Codec(format!("unknown codec {number}"))),
    }
}
