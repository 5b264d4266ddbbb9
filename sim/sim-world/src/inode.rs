//! One file's bytes: what a reader sees now, and what the platter may hold instead.

use std::collections::BTreeMap;

/// What a disk writes whole or not at all, in bytes.
pub(crate) const BLOCK: usize = 512;

/// What a block held before: `None` stands for "never written".
pub(crate) type Version = Option<Box<[u8]>>;

/// A block changed since the last good sync.
#[derive(Clone, Debug)]
pub(crate) struct DirtyBlock {
    /// Everything it may still hold beside its present bytes, the oldest first.
    pub(crate) earlier: Vec<Version>,
    /// A sync of it failed: later syncs skip it, as Linux does, until it is written again.
    pub(crate) sync_failed: bool,
}

/// A file without its name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inode {
    /// Where it was last seen; for labels only.
    pub(crate) path: String,
    /// What a reader sees.
    pub(crate) now: Vec<u8>,
    pub(crate) dirty: BTreeMap<usize, DirtyBlock>,
    /// Lengths the platter may hold beside the present one.
    pub(crate) earlier_lengths: Vec<usize>,
    pub(crate) last_write_end: usize,
}

impl Inode {
    /// Overwrites or extends.
    pub(crate) fn write(&mut self, bytes: &[u8], offset: usize) {
        if bytes.is_empty() {
            return;
        }
        let end = offset + bytes.len();
        for block in offset / BLOCK..end.div_ceil(BLOCK) {
            self.remember(block);
        }
        if end > self.now.len() {
            self.earlier_lengths.push(self.now.len());
            self.now.resize(end, 0);
        }
        self.now[offset..end].copy_from_slice(bytes);
        self.last_write_end = end;
    }

    /// Cuts or grows.
    pub(crate) fn set_len(&mut self, len: usize) {
        if len == self.now.len() {
            return;
        }
        if len < self.now.len() {
            for block in len / BLOCK..self.now.len().div_ceil(BLOCK) {
                self.remember(block);
            }
        }
        self.earlier_lengths.push(self.now.len());
        self.now.resize(len, 0);
    }

    /// The bytes of a block as a reader sees them; shorter at the end of the file.
    pub(crate) fn block(&self, block: usize) -> &[u8] {
        let start = (block * BLOCK).min(self.now.len());
        &self.now[start..(start + BLOCK).min(self.now.len())]
    }

    fn remember(&mut self, block: usize) {
        let present = self.block(block);
        let version = (!present.is_empty()).then(|| present.into());
        let dirty = self.dirty.entry(block).or_insert(DirtyBlock {
            earlier: Vec::new(),
            sync_failed: false,
        });
        dirty.earlier.push(version);
        dirty.sync_failed = false;
    }

    /// A sync that worked. What an earlier failed one dropped stays in doubt.
    pub(crate) fn synced(&mut self) {
        self.dirty.retain(|_, block| block.sync_failed);
        self.earlier_lengths.clear();
    }

    /// A sync that failed: nobody knows what was kept.
    pub(crate) fn sync_failed(&mut self) {
        for block in self.dirty.values_mut() {
            block.sync_failed = true;
        }
    }

    /// The first byte that no sync has covered.
    pub(crate) fn first_dirty_byte(&self) -> Option<u64> {
        let block = self.dirty.iter().find(|(_, block)| !block.sync_failed)?.0;
        Some((block * BLOCK) as u64)
    }

    /// Rot: changes a byte in every version, so that no cut can undo it.
    pub(crate) fn flip(&mut self, offset: usize, mask: u8) {
        if let Some(byte) = self.now.get_mut(offset) {
            *byte ^= mask;
        }
        if let Some(dirty) = self.dirty.get_mut(&(offset / BLOCK)) {
            for version in dirty.earlier.iter_mut().flatten() {
                if let Some(byte) = version.get_mut(offset % BLOCK) {
                    *byte ^= mask;
                }
            }
        }
    }
}
