//! Walks a segment that has no good footer and decides what of it counts (the rule is in the crate's text).

use std::io;

use world::DiskFile;

use crate::header::HEADER_BYTES;
use crate::record::{ALIGNMENT, HEAD_BYTES, Head, MAGIC, Place, Seed, align};

/// Bytes read at once.
const WINDOW_BYTES: usize = 256 * 1024;
/// Where the disk fails to read a window, it is read in pieces of this many bytes.
const PIECE_BYTES: usize = 4096;

/// What others say about a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vouch {
    /// Nothing: it is the last one.
    Nobody,
    /// Its successor says where its records end.
    UpTo(u32),
    /// Later segments exist, but where its records end is not known.
    All,
}

/// An entry found by a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) ledger: i64,
    pub(crate) entry: i64,
    pub(crate) place: Place,
}

/// What counts of a segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scan {
    /// In the order of the file; those with a damaged body are among them, so that reading them says so.
    pub(crate) entries: Vec<Found>,
    /// Where the records end.
    pub(crate) end: u32,
    /// From here to `end` nobody vouches.
    pub(crate) doubtful_from: u32,
    /// Places where bytes were lost that the disk had promised to keep.
    pub(crate) damaged: u32,
    /// Records of a group that was never confirmed were dropped.
    pub(crate) tail_cut: bool,
}

/// One stretch of a segment.
#[derive(Clone, Copy)]
enum Stretch {
    Record {
        found: Found,
        group_start: u32,
        is_entry: bool,
        whole: bool,
    },
    Damage {
        from: u32,
        to: u32,
    },
}

/// Walks a segment.
///
/// # Errors
/// The disk cannot read bytes of which it is not known whether they had been confirmed.
pub(crate) fn scan(file: &dyn DiskFile, seed: &Seed, vouch: Vouch) -> io::Result<Scan> {
    let file_end = u32::try_from(file.len()?).unwrap_or(u32::MAX);
    let end = match vouch {
        Vouch::UpTo(end) => end.min(file_end),
        Vouch::Nobody | Vouch::All => file_end,
    };
    let mut window = Window::new(file, end);
    let stretches = walk(&mut window, seed, end)?;
    let vouched = match vouch {
        Vouch::UpTo(end) => end,
        Vouch::All => u32::MAX,
        Vouch::Nobody => stretches
            .iter()
            .map(group_start)
            .max()
            .unwrap_or(0)
            .max(HEADER_BYTES),
    };
    let result = judge(&stretches, vouched, vouch);
    if vouch == Vouch::Nobody && window.unreadable.is_some_and(|at| at >= result.end) {
        return Err(io::Error::other(
            "the disk cannot read the end of the last segment, which may hold confirmed entries; try again, or restore the directory from a backup",
        ));
    }
    Ok(result)
}

fn walk(window: &mut Window<'_>, seed: &Seed, end: u32) -> io::Result<Vec<Stretch>> {
    let mut stretches = Vec::new();
    let mut at = HEADER_BYTES;
    while at < end {
        if let Some(head) = head_at(window, seed, at)? {
            let place = Place {
                offset: at,
                bytes: head.bytes,
            };
            let body = u64::from(at) + HEAD_BYTES as u64;
            let whole = match window.bytes(body, place.body_bytes() as usize)? {
                Some(body) => !head.is_entry() || head.fits(body),
                None => false,
            };
            let found = Found {
                ledger: head.ledger,
                entry: head.entry,
                place,
            };
            stretches.push(Stretch::Record {
                found,
                group_start: head.group_start,
                is_entry: head.is_entry(),
                whole,
            });
            at = u32::try_from(place.end()).unwrap_or(end).min(end);
            continue;
        }
        let from = at;
        at = next_head(window, seed, at + ALIGNMENT, end)?;
        stretches.push(Stretch::Damage { from, to: at });
    }
    Ok(stretches)
}

fn head_at(window: &mut Window<'_>, seed: &Seed, at: u32) -> io::Result<Option<Head>> {
    let bytes = window.bytes(u64::from(at), HEAD_BYTES)?;
    Ok(bytes.and_then(|bytes| Head::decode(bytes, seed, at)))
}

/// The next offset at which a record of this segment lies; `end` if none does.
fn next_head(window: &mut Window<'_>, seed: &Seed, from: u32, end: u32) -> io::Result<u32> {
    let mut at = from;
    while at < end {
        let Some(ahead) = window.ahead(u64::from(at))? else {
            break;
        };
        let mut steps = ahead.chunks(ALIGNMENT as usize);
        match steps.position(|step| step.starts_with(MAGIC)) {
            None => at = align(u64::from(at) + ahead.len() as u64) as u32,
            Some(steps) => {
                at += steps as u32 * ALIGNMENT;
                if head_at(window, seed, at)?.is_some() {
                    return Ok(at);
                }
                at += ALIGNMENT;
            }
        }
    }
    Ok(end)
}

fn group_start(stretch: &Stretch) -> u32 {
    match stretch {
        Stretch::Record { group_start, .. } => *group_start,
        Stretch::Damage { .. } => 0,
    }
}

/// Applies the rule: damage before `vouched` is real, at or after it the log ends.
fn judge(stretches: &[Stretch], vouched: u32, vouch: Vouch) -> Scan {
    let mut scan = Scan {
        end: HEADER_BYTES,
        ..Scan::default()
    };
    for (position, stretch) in stretches.iter().enumerate() {
        let is_last = position + 1 == stretches.len();
        match *stretch {
            Stretch::Record { found, whole, .. } if !whole && found.place.offset >= vouched => {
                scan.tail_cut = true;
                break;
            }
            Stretch::Record {
                found,
                is_entry,
                whole,
                ..
            } => {
                scan.damaged += u32::from(!whole);
                scan.end = u32::try_from(found.place.end()).unwrap_or(u32::MAX);
                if is_entry {
                    scan.entries.push(found);
                }
            }
            Stretch::Damage { from, .. } if from >= vouched => {
                scan.tail_cut = !is_last;
                break;
            }
            // Where the end is not known, the last stretch is taken for what was never written.
            Stretch::Damage { .. } if is_last && vouch == Vouch::All => break,
            Stretch::Damage { to, .. } => {
                scan.damaged += 1;
                scan.end = to.min(vouched);
                if to > vouched {
                    scan.tail_cut = !is_last;
                    break;
                }
            }
        }
    }
    scan.doubtful_from = vouched.min(scan.end);
    scan
}

/// A moving view of a file, so that a segment is read once and not held whole.
struct Window<'a> {
    file: &'a dyn DiskFile,
    end: u64,
    start: u64,
    buffer: Vec<u8>,
    /// The last offset that the disk could not read; zeros stand for it.
    unreadable: Option<u32>,
}

impl<'a> Window<'a> {
    fn new(file: &'a dyn DiskFile, end: u32) -> Window<'a> {
        Window {
            file,
            end: u64::from(end),
            start: 0,
            buffer: Vec::new(),
            unreadable: None,
        }
    }

    /// That many bytes; `None` if they do not all lie before the end.
    fn bytes(&mut self, offset: u64, count: usize) -> io::Result<Option<&[u8]>> {
        if offset + count as u64 > self.end {
            return Ok(None);
        }
        let have =
            offset >= self.start && offset + count as u64 <= self.start + self.buffer.len() as u64;
        if !have {
            self.load(offset, count.max(WINDOW_BYTES))?;
        }
        let from = (offset - self.start) as usize;
        Ok(self.buffer.get(from..from + count))
    }

    /// As many bytes from an offset on as are at hand, at least one; `None` at the end.
    fn ahead(&mut self, offset: u64) -> io::Result<Option<&[u8]>> {
        if self.bytes(offset, 1)?.is_none() {
            return Ok(None);
        }
        let from = (offset - self.start) as usize;
        Ok(self.buffer.get(from..))
    }

    fn load(&mut self, offset: u64, count: usize) -> io::Result<()> {
        let count = (count as u64).min(self.end - offset) as usize;
        self.buffer.clear();
        self.buffer.resize(count, 0);
        self.start = offset;
        if self.file.read_at(&mut self.buffer, offset).is_ok() {
            return Ok(());
        }
        for (position, piece) in self.buffer.chunks_mut(PIECE_BYTES).enumerate() {
            let at = offset + (position * PIECE_BYTES) as u64;
            piece.fill(0);
            if self.file.read_at(piece, at).is_err() {
                piece.fill(0);
                let at = u32::try_from(at).unwrap_or(u32::MAX);
                self.unreadable = self.unreadable.max(Some(at));
            }
        }
        Ok(())
    }
}
