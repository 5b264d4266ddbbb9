//! What is left after a power cut.
//!
//! Every block that no good sync covered holds its present bytes, any of its earlier ones or, if it had
//! never been written, zeros or the bytes of a removed file (blocks are recycled). Every change of a length
//! or a name that no sync covered is kept or lost. The dice decide, each time with another leaning, so that
//! "all kept", "all lost", "the first half kept" and "every other block kept" all come up.

use std::collections::BTreeSet;

use world::Dice;

use crate::inode::{BLOCK, Inode, Version};
use crate::names::{Names, Node};
use crate::state::State;

/// How the dice lean for one file or directory tree.
#[derive(Clone, Copy)]
enum Leaning {
    KeepAll,
    LoseAll,
    KeepFirst(u64),
    /// Each thing on its own: kept this many times out of eight.
    Each(u64),
}

impl Leaning {
    fn roll(dice: &mut dyn Dice, things: usize) -> Leaning {
        match dice.below(6) {
            0 => Leaning::KeepAll,
            1 => Leaning::LoseAll,
            2 => Leaning::KeepFirst(dice.below(things as u64 + 1)),
            3 => Leaning::Each(1),
            4 => Leaning::Each(7),
            _ => Leaning::Each(4),
        }
    }

    fn keeps(self, position: usize, dice: &mut dyn Dice) -> bool {
        match self {
            Leaning::KeepAll => true,
            Leaning::LoseAll => false,
            Leaning::KeepFirst(count) => (position as u64) < count,
            Leaning::Each(times) => dice.chance(times, 8),
        }
    }
}

/// Turns a state with things in doubt into one without.
pub(crate) fn settle(state: &mut State, dice: &mut dyn Dice) {
    settle_names(&mut state.names, dice);
    let alive: BTreeSet<usize> = state
        .names
        .now
        .values()
        .filter_map(|node| match node {
            Node::File(inode) => Some(*inode),
            Node::Dir => None,
        })
        .collect();
    for (index, inode) in &mut state.inodes {
        if alive.contains(index) {
            settle_file(inode, &state.graveyard, dice);
        }
    }
    for (path, node) in &state.names.now {
        if let Node::File(inode) = node
            && let Some(inode) = state.inodes.get_mut(inode)
        {
            path.clone_into(&mut inode.path);
        }
    }
    let gone: Vec<usize> = state
        .inodes
        .keys()
        .filter(|index| !alive.contains(index))
        .copied()
        .collect();
    for index in gone {
        state.bury(index);
    }
}

fn settle_names(names: &mut Names, dice: &mut dyn Dice) {
    let pending = std::mem::take(&mut names.pending);
    let leaning = Leaning::roll(dice, pending.len());
    let mut tree = std::mem::take(&mut names.durable);
    for (position, change) in pending.iter().enumerate() {
        if leaning.keeps(position, dice) {
            change.apply(&mut tree);
        }
    }
    names.now = tree;
    names.drop_orphans();
    names.durable = names.now.clone();
}

fn settle_file(inode: &mut Inode, graveyard: &[Vec<u8>], dice: &mut dyn Dice) {
    let dirty = std::mem::take(&mut inode.dirty);
    let leaning = Leaning::roll(dice, dirty.len());
    let stale = match dice.below(graveyard.len() as u64 + 1) as usize {
        0 => None,
        grave => graveyard.get(grave - 1),
    };
    let lengths = std::mem::take(&mut inode.earlier_lengths);
    let length = match lengths.len() {
        0 => inode.now.len(),
        _ if leaning.keeps(0, dice) => inode.now.len(),
        count => lengths[dice.below(count as u64) as usize],
    };
    let longest = lengths.iter().copied().fold(inode.now.len(), usize::max);
    inode.now.resize(longest.next_multiple_of(BLOCK), 0);
    for (position, (block, dirty)) in dirty.into_iter().enumerate() {
        if leaning.keeps(position, dice) {
            continue;
        }
        let pick = dice.below(dirty.earlier.len() as u64) as usize;
        put_back(inode, block, &dirty.earlier[pick], stale);
    }
    inode.now.truncate(length);
}

fn put_back(inode: &mut Inode, block: usize, version: &Version, stale: Option<&Vec<u8>>) {
    let start = block * BLOCK;
    let Some(into) = inode.now.get_mut(start..start + BLOCK) else {
        return;
    };
    into.fill(0);
    let old: &[u8] = match version {
        Some(bytes) => bytes,
        None => {
            let stale = stale.map_or(&[][..], |file| file.as_slice());
            let from = start.min(stale.len());
            &stale[from..(start + BLOCK).min(stale.len())]
        }
    };
    into[..old.len()].copy_from_slice(old);
}
