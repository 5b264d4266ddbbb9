//! A set of entry numbers of one ledger, of any size and with any number of holes: runs where they are few,
//! bits where they would be many. A question costs the logarithm of the number of runs and blocks.

use std::collections::BTreeMap;

use crate::block::{BLOCK, Block};

/// Runs that may begin in one block before bits take their place: about as large as the bits.
const RUNS_PER_BLOCK_MAX: usize = 32;

/// What lies at a number, up to the next number listed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    /// All numbers up to and including this one.
    Run(i64),
    /// Some of the block that begins here: neither none of it nor all.
    Bits(Box<Block>),
}

/// A part of a set as it is kept, for writing it down.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'a> {
    /// All of `first..=last`.
    Run { first: i64, last: i64 },
    /// Some of a block that begins at `base`.
    Bits { base: i64, block: &'a Block },
}

/// Entry numbers (0 or higher) of one ledger.
#[derive(Clone, Debug, Default)]
pub struct EntrySet {
    /// By first number. Nodes do not overlap; runs do not touch each other (but may touch blocks).
    nodes: BTreeMap<i64, Node>,
    count: u64,
}

impl PartialEq for EntrySet {
    /// The same numbers, however they are kept.
    fn eq(&self, other: &EntrySet) -> bool {
        self.count == other.count && self.runs().eq(other.runs())
    }
}

impl Eq for EntrySet {}

impl EntrySet {
    /// How many numbers are in the set.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Whether this number is in the set.
    #[must_use]
    pub fn contains(&self, entry: i64) -> bool {
        match self.node_at(entry) {
            Some((_, Node::Run(_))) => true,
            Some((start, Node::Bits(block))) => block.contains(offset(start, entry)),
            None => false,
        }
    }

    /// The lowest number from `from` on that is not in the set.
    #[must_use]
    pub fn next_absent(&self, mut from: i64) -> i64 {
        // At most four turns: bits, a run, bits - and in each block something is absent.
        while let Some((start, node)) = self.node_at(from) {
            match node {
                Node::Run(last) => from = last + 1,
                Node::Bits(block) => match block.next_absent(offset(start, from)) {
                    Some(at) => return start + at as i64,
                    None => from = start + BLOCK,
                },
            }
        }
        from
    }

    /// The lowest number from `from` on that is in the set.
    #[must_use]
    pub fn next_present(&self, from: i64) -> Option<i64> {
        match self.node_at(from) {
            Some((_, Node::Run(_))) => return Some(from),
            Some((start, Node::Bits(block))) => {
                if let Some(at) = block.next_present(offset(start, from)) {
                    return Some(start + at as i64);
                }
            }
            None => {}
        }
        let (start, node) = self.nodes.range(from..).find(|(start, _)| **start > from)?;
        match node {
            Node::Run(_) => Some(*start),
            Node::Bits(block) => block.next_present(0).map(|at| start + at as i64),
        }
    }

    /// Adds `first..=last`; says how many of them were new.
    pub fn insert(&mut self, first: i64, last: i64) -> u64 {
        let before = self.count;
        let mut from = first;
        while from <= last {
            let to = match self.bits_at(from) {
                Some(start) => self.insert_bits(start, from, last.min(start + BLOCK - 1)),
                None => {
                    let end = self.next_bits(from, last).map_or(last, |start| start - 1);
                    self.insert_run(from, end)
                }
            };
            from = to + 1;
        }
        self.count - before
    }

    /// Adds the numbers from `base` on whose bits are set.
    pub fn insert_word(&mut self, base: i64, mut word: u64) {
        while word != 0 {
            let low = word.trailing_zeros();
            let ones = (word >> low).trailing_ones();
            self.insert(base + i64::from(low), base + i64::from(low + ones - 1));
            word &= u64::MAX.checked_shl(low + ones).unwrap_or(0);
        }
    }

    /// Removes the numbers up to and including `up_to`; says how many there were.
    pub fn remove_to(&mut self, up_to: i64) -> u64 {
        let before = self.count;
        while let Some(mut node) = self.nodes.first_entry() {
            step();
            let first = *node.key();
            if first > up_to {
                break;
            }
            match node.get_mut() {
                Node::Run(last) => {
                    let last = *last;
                    node.remove();
                    self.count -= length(first, last.min(up_to));
                    if last > up_to {
                        self.nodes.insert(up_to + 1, Node::Run(last));
                        break;
                    }
                }
                Node::Bits(block) => {
                    self.count -= block.remove(0, offset(first, up_to.min(first + BLOCK - 1)));
                    if block.count() > 0 {
                        break;
                    }
                    node.remove();
                }
            }
        }
        before - self.count
    }

    /// Removes the numbers from `from` on; says how many there were.
    pub fn remove_from(&mut self, from: i64) -> u64 {
        let before = self.count;
        while let Some(mut node) = self.nodes.last_entry() {
            let first = *node.key();
            let left = match node.get_mut() {
                Node::Run(last) => {
                    if *last < from {
                        break;
                    }
                    self.count -= length(first.max(from), *last);
                    *last = from - 1;
                    first < from
                }
                Node::Bits(block) => {
                    if first + BLOCK <= from {
                        break;
                    }
                    self.count -=
                        block.remove(offset(first, from.max(first)), offset(0, BLOCK - 1));
                    block.count() > 0
                }
            };
            if left {
                break;
            }
            node.remove();
        }
        before - self.count
    }

    /// The runs of the set in order, first and last number of each. They neither overlap nor touch.
    pub fn runs(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        let mut from = 0;
        std::iter::from_fn(move || {
            let first = self.next_present(from)?;
            from = self.next_absent(first);
            Some((first, from - 1))
        })
    }

    /// The set as it is kept, in order.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        self.nodes.iter().map(|(first, node)| match node {
            Node::Run(last) => Part::Run {
                first: *first,
                last: *last,
            },
            Node::Bits(block) => Part::Bits {
                base: *first,
                block,
            },
        })
    }

    /// The node that spans this number, and where it begins.
    fn node_at(&self, entry: i64) -> Option<(i64, &Node)> {
        step();
        let (start, node) = self.nodes.range(..=entry).next_back()?;
        let last = match node {
            Node::Run(last) => *last,
            Node::Bits(_) => start + BLOCK - 1,
        };
        (entry <= last).then_some((*start, node))
    }

    /// Where the block begins that spans this number, if it is kept as bits.
    fn bits_at(&self, entry: i64) -> Option<i64> {
        match self.node_at(entry) {
            Some((start, Node::Bits(_))) => Some(start),
            _ => None,
        }
    }

    /// Where the first block kept as bits begins that lies after `from` and not after `last`.
    fn next_bits(&self, from: i64, last: i64) -> Option<i64> {
        // The runs passed on the way are about to be swallowed by the one that is added.
        let mut after = self.nodes.range(from..=last);
        after.find_map(|(start, node)| matches!(node, Node::Bits(_)).then_some(*start))
    }

    /// Adds `from..=to`, which lies in the block of bits at `start`. Answers `to`.
    fn insert_bits(&mut self, start: i64, from: i64, to: i64) -> i64 {
        if let Some(Node::Bits(block)) = self.nodes.get_mut(&start) {
            self.count += block.insert(offset(start, from), offset(start, to));
            let full = BLOCK.unsigned_abs();
            if block.count() == full {
                self.nodes.remove(&start);
                self.count -= full;
                self.insert_run(start, start + BLOCK - 1);
            }
        }
        to
    }

    /// Adds `from..=to`, where nothing is kept as bits. Answers `to`.
    fn insert_run(&mut self, from: i64, to: i64) -> i64 {
        let (mut low, mut high, mut known) = (from, to, 0);
        if let Some(Node::Run(last)) = self.nodes.get(&(to + 1)) {
            high = *last;
            self.nodes.remove(&(to + 1));
        }
        while let Some((&first, Node::Run(last))) = self.nodes.range(..=to).next_back() {
            let last = *last;
            if last < from - 1 {
                break;
            }
            step();
            known += length(first.max(from), last.min(to));
            (low, high) = (low.min(first), high.max(last));
            self.nodes.remove(&first);
        }
        self.count += length(from, to) - known;
        self.nodes.insert(low, Node::Run(high));
        if low == from {
            self.thicken(from - from % BLOCK);
        }
        to
    }

    /// Keeps a block as bits if too many runs begin in it.
    fn thicken(&mut self, start: i64) {
        let end = start + BLOCK - 1;
        if self
            .nodes
            .range(start..=end)
            .take(RUNS_PER_BLOCK_MAX + 1)
            .count()
            <= RUNS_PER_BLOCK_MAX
        {
            return;
        }
        let mut block = Block::empty();
        if let Some((_, Node::Run(last))) = self.nodes.range_mut(..start).next_back()
            && *last >= start
        {
            // Not beyond the block: other runs begin in it.
            block.insert(0, offset(start, *last));
            *last = start - 1;
        }
        while let Some((&first, Node::Run(last))) = self.nodes.range(start..=end).next() {
            step();
            let last = *last;
            block.insert(offset(start, first), offset(start, last.min(end)));
            self.nodes.remove(&first);
            if last > end {
                self.nodes.insert(end + 1, Node::Run(last));
            }
        }
        self.nodes.insert(start, Node::Bits(block));
    }
}

/// How far a number lies behind the first of its block.
fn offset(start: i64, entry: i64) -> usize {
    // Invariant: callers ask for numbers of the block only.
    assert!(
        (0..BLOCK).contains(&(entry - start)),
        "entry {entry} is not in the block that begins at {start}"
    );
    (entry - start) as usize
}

/// How many numbers `first..=last` are, none if `last` lies before.
fn length(first: i64, last: i64) -> u64 {
    (last - first + 1).max(0).unsigned_abs()
}

/// One node was looked at: what tests count instead of time.
fn step() {
    #[cfg(test)]
    steps::add();
}

#[cfg(test)]
pub(crate) mod steps {
    use std::cell::Cell;

    thread_local!(static STEPS: Cell<u64> = const { Cell::new(0) });

    pub(crate) fn add() {
        STEPS.with(|steps| steps.set(steps.get() + 1));
    }

    /// How many nodes were looked at meanwhile.
    pub(crate) fn of(action: impl FnOnce()) -> u64 {
        let before = STEPS.with(Cell::get);
        action();
        STEPS.with(Cell::get) - before
    }
}
