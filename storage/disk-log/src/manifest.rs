//! The file that says what a directory is, and whether this program may open it.
//!
//! ```text
//! 0   8  magic "HulseLog"
//! 8   4  format version
//! 12  8  incompatible features, one bit each
//! 20 16  store id, random
//! 36  4  size of new segments when this was written, in bytes
//! 40  8  ceiling: no segment number from here on has ever been used
//! 48  4  CRC32C of the 48 bytes before it
//! ```
//! All numbers are big-endian. It is replaced whole: written under another name, synced, renamed, and the
//! directory synced.

use std::io;

use crc_fast::crc32_iscsi;
use world::{Disk, OpenHow};

use crate::error::LogError;
use crate::settings::LogSettings;

/// The version that this program writes, and the newest it reads.
pub const FORMAT_VERSION: u32 = 1;
/// Features that a reader must know; none so far.
pub const KNOWN_FEATURES: u64 = 0;

const MAGIC: &[u8; 8] = b"HulseLog";
const NAME: &str = "MANIFEST";
const TEMPORARY_NAME: &str = "MANIFEST.new";
const BYTES: usize = 52;

/// The manifest of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Bits of features without which the data cannot be read.
    pub features: u64,
    /// Seeds every checksum.
    pub store_id: [u8; 16],
    /// Size of new segments, in bytes.
    pub segment_bytes: u32,
    /// Segment numbers from here on are unused.
    pub number_ceiling: u64,
}

impl Manifest {
    /// The bytes of the file.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&FORMAT_VERSION.to_be_bytes());
        bytes.extend_from_slice(&self.features.to_be_bytes());
        bytes.extend_from_slice(&self.store_id);
        bytes.extend_from_slice(&self.segment_bytes.to_be_bytes());
        bytes.extend_from_slice(&self.number_ceiling.to_be_bytes());
        let crc = crc32_iscsi(&bytes);
        bytes.extend_from_slice(&crc.to_be_bytes());
        bytes
    }

    /// Reads the bytes of the file; `directory` is for messages.
    ///
    /// # Errors
    /// [`LogError::Refused`]: no manifest, a newer one, or a damaged one; the message says what to do.
    pub fn decode(bytes: &[u8], directory: &str) -> Result<Manifest, LogError> {
        let refused = |text: String| Err(LogError::Refused(format!("{directory}/{NAME}: {text}")));
        let mut rest = bytes;
        if take::<8>(&mut rest).as_ref() != Some(MAGIC) {
            return refused("this is not a log of hulse; choose another directory or restore the file from a backup".into());
        }
        let version = take::<4>(&mut rest).map_or(0, u32::from_be_bytes);
        if version > FORMAT_VERSION {
            return refused(format!(
                "the data has format version {version}, this program reads up to version {FORMAT_VERSION}; start the newer program that wrote it"
            ));
        }
        let whole = bytes.get(..BYTES - 4).zip(bytes.get(BYTES - 4..BYTES));
        if whole.is_none_or(|(checked, crc)| crc32_iscsi(checked).to_be_bytes() != crc)
            || version == 0
        {
            return refused("the file is damaged; restore it from a backup".into());
        }
        let features = take::<8>(&mut rest).map_or(0, u64::from_be_bytes);
        let unknown = features & !KNOWN_FEATURES;
        if unknown != 0 {
            return refused(format!(
                "the data uses features {features:#x}, this program knows {KNOWN_FEATURES:#x}; start the newer program that wrote it"
            ));
        }
        Ok(Manifest {
            features,
            store_id: take::<16>(&mut rest).unwrap_or_default(),
            segment_bytes: take::<4>(&mut rest).map_or(0, u32::from_be_bytes),
            number_ceiling: take::<8>(&mut rest).map_or(0, u64::from_be_bytes),
        })
    }

    /// The manifest of a directory; `None`: there is none.
    ///
    /// # Errors
    /// See [`Manifest::decode`]; or the disk said no.
    pub fn load(disk: &dyn Disk, settings: &LogSettings) -> Result<Option<Manifest>, LogError> {
        let path = settings.path(NAME);
        let file = match disk.open(&path, OpenHow::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(LogError::from_disk("cannot open the manifest", &error)),
        };
        let mut bytes = [0; 256];
        let count = file
            .read_at(&mut bytes, 0)
            .map_err(|error| LogError::from_disk("cannot read the manifest", &error))?;
        Manifest::decode(&bytes[..count], &settings.directory).map(Some)
    }

    /// Replaces the manifest of a directory; it lasts once this returns.
    ///
    /// # Errors
    /// The disk said no; the old manifest or the new one is in place.
    pub fn store(&self, disk: &dyn Disk, settings: &LogSettings) -> Result<(), LogError> {
        let failed = |error: io::Error| LogError::from_disk("cannot write the manifest", &error);
        let temporary = settings.path(TEMPORARY_NAME);
        let file = disk
            .open(&temporary, OpenHow::CreateOrOpen)
            .map_err(failed)?;
        file.write_at(&[&self.encode()], 0).map_err(failed)?;
        file.set_len(BYTES as u64).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        disk.rename(&temporary, &settings.path(NAME))
            .map_err(failed)?;
        disk.sync_dir(&settings.directory).map_err(failed)
    }
}

/// The first bytes of a slice, which is moved on.
pub(crate) fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, others) = rest.split_first_chunk::<N>()?;
    *rest = others;
    Some(*first)
}
