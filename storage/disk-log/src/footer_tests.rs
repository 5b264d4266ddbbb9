use sim_world::SimDisk;
use world::{Disk, OpenHow};

use crate::footer::{Footer, FooterBuilder};
use crate::record::{Place, Seed};

const SEED: Seed = Seed {
    store_id: [9; 16],
    number: 5,
};

fn builder() -> FooterBuilder {
    let mut footer = FooterBuilder::default();
    for (position, (ledger, entry)) in [(4, 0), (-2, 7), (4, 1), (4, 5), (4, 6)]
        .into_iter()
        .enumerate()
    {
        let place = Place {
            offset: 4096 + position as u32 * 64,
            bytes: 60,
        };
        footer.add(ledger, entry, place);
    }
    footer
}

fn load(bytes: &[u8], seed: &Seed) -> Option<Footer> {
    let disk = SimDisk::new();
    let file = disk.open("a", OpenHow::CreateNew).unwrap();
    file.write_at(&[bytes], 0).unwrap();
    Footer::load(&*file, seed).unwrap()
}

fn file() -> Vec<u8> {
    let mut bytes = vec![0; 5000];
    let footer = builder();
    let expected = footer.bytes_with(0);
    let (footer, _) = footer.encode(&SEED, 5000, 4416);
    assert_eq!(
        footer.len(),
        expected,
        "the room set aside is the room taken"
    );
    bytes.extend_from_slice(&footer);
    bytes
}

#[test]
fn it_lists_runs_by_ledger() {
    let footer = load(&file(), &SEED).unwrap();
    assert_eq!(footer.records_end, 4416);
    let runs: Vec<_> = footer
        .runs
        .iter()
        .map(|run| (run.ledger, run.first, run.count))
        .collect();
    assert_eq!(runs, [(-2, 7, 1), (4, 0, 2), (4, 5, 2)]);
    assert_eq!(footer.runs, builder().encode(&SEED, 5000, 4416).1);
}

#[test]
fn a_footer_of_another_life_does_not_pass() {
    assert_eq!(load(&file(), &Seed { number: 4, ..SEED }), None);
    let mut moved = file();
    moved.insert(0, 0);
    assert_eq!(load(&moved, &SEED), None, "it knows where it lies");
    assert_eq!(load(&[], &SEED), None);
    assert_eq!(load(&[0; 5000], &SEED), None);
}

#[test]
fn no_flipped_byte_passes() {
    let whole = file();
    for offset in 5000..whole.len() {
        let mut bent = whole.clone();
        bent[offset] ^= 0x10;
        assert_eq!(load(&bent, &SEED), None, "byte {offset}");
    }
}
