//! A bounded fuzz run that needs no fuzzer: golden frames, altered by a fixed sequence, through every decoder.

use bytes::{Bytes, BytesMut};
use pulsar_wire::entry::EntryHeaders;
use pulsar_wire::frame::decode_frame;
use pulsar_wire::fuzz;

const ROUNDS: usize = 200_000;

/// Marsaglia's xorshift: small, and the same everywhere.
struct Sequence(u64);

impl Sequence {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

fn golden_frames() -> Vec<Vec<u8>> {
    include_str!("golden/golden-frames.tsv")
        .lines()
        .skip(1)
        .map(|line| {
            let hex = line.split('\t').nth(2).unwrap();
            (0..hex.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
        })
        .map(Iterator::collect)
        .collect()
}

/// Entries, their metadata and their payloads, as the golden frames hold them.
fn golden_parts(frames: &[Vec<u8>]) -> [Vec<Vec<u8>>; 3] {
    let entries: Vec<Bytes> = frames
        .iter()
        .filter_map(|frame| {
            decode_frame(&mut BytesMut::from(&frame[..]), 1 << 20)
                .unwrap()
                .unwrap()
                .payload
        })
        .collect();
    assert_eq!(entries.len(), 6);
    let parts = entries
        .iter()
        .map(|entry| EntryHeaders::parse(entry).unwrap());
    let (metadata, payloads) = parts
        .map(|parts| (parts.metadata.to_vec(), parts.payload.to_vec()))
        .unzip();
    [
        entries.iter().map(|entry| entry.to_vec()).collect(),
        metadata,
        payloads,
    ]
}

/// One to four changes of the kinds that break decoders: flipped bits, extreme bytes, cuts, doubled and moved pieces.
fn alter(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Sequence) {
    const EXTREMES: [u8; 6] = [0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff];
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        match random.below(7) {
            0 | 1 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            2 if !bytes.is_empty() => bytes[at] = EXTREMES[random.below(EXTREMES.len())],
            3 => bytes.truncate(at),
            4 => bytes.insert(at, random.next() as u8),
            5 => {
                let piece: Vec<u8> = bytes[at..]
                    .iter()
                    .take(1 + random.below(16))
                    .copied()
                    .collect();
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
            _ => {
                let other = &seeds[random.below(seeds.len())];
                bytes.truncate(at);
                bytes.extend_from_slice(&other[random.below(other.len())..]);
            }
        }
    }
}

fn run(seeds: &[Vec<u8>], seed: u64, target: fn(&[u8])) {
    for bytes in seeds {
        target(bytes);
    }
    let mut random = Sequence(seed);
    for _ in 0..ROUNDS {
        let mut bytes = seeds[random.below(seeds.len())].clone();
        alter(&mut bytes, seeds, &mut random);
        target(&bytes);
    }
}

/// Altered commands within lengths that fit, so that the lengths do not shield what lies behind them.
fn fuzz_framed_command(command: &[u8]) {
    let length = command.len() as u32;
    let lengths = [(length + 4).to_be_bytes(), length.to_be_bytes()].concat();
    fuzz::fuzz_frame(&[&lengths, command].concat());
}

#[test]
fn frames() {
    run(&golden_frames(), 1, fuzz::fuzz_frame);
}

#[test]
fn commands() {
    let commands: Vec<_> = golden_frames()
        .iter()
        .map(|frame| {
            frame[8..][..u32::from_be_bytes(frame[4..8].try_into().unwrap()) as usize].to_vec()
        })
        .collect();
    run(&commands, 2, fuzz_framed_command);
}

#[test]
fn entries() {
    let [entries, ..] = golden_parts(&golden_frames());
    run(&entries, 3, fuzz::fuzz_entry);
}

#[test]
fn metadata() {
    let [_, metadata, _] = golden_parts(&golden_frames());
    run(&metadata, 4, fuzz::fuzz_peek);
}

#[test]
fn batches() {
    let [.., payloads] = golden_parts(&golden_frames());
    run(&payloads, 5, fuzz::fuzz_batch);
}
