//! Writes a small directory in the present disk format: `cargo run -p bookie --example write-fixture -- DIR`.
//!
//! Run once for each released format; the result is committed under `tests/fixtures/format-N` and opened by
//! every later version's tests.

use std::sync::Arc;

use bookie::Bookie;
use os_world::OsDisk;

#[path = "../tests/fixture_content/mod.rs"]
mod fixture_content;

use fixture_content::{LEDGERS, body, length, settings};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args()
        .nth(1)
        .ok_or("name the directory to write to")?;
    let disk = Arc::new(OsDisk::new(directory)?);
    let mut bookie = Bookie::open(disk.clone(), settings())?;
    let most = LEDGERS.iter().map(|(_, count)| *count).max().unwrap_or(0);
    for entry in 0..most {
        for (ledger, count) in LEDGERS {
            if entry < *count {
                bookie.append(
                    *ledger,
                    entry,
                    entry - 1,
                    length(*ledger, entry),
                    body(*ledger, entry),
                );
            }
        }
        for done in bookie.commit() {
            done.result?;
        }
        // A full segment, one closed early, and one left open.
        if entry == most / 2 {
            bookie.close()?;
            bookie = Bookie::open(disk.clone(), settings())?;
        }
    }
    Ok(())
}
