//! The house is opened on whatever the disk holds: nothing, everything, or what a power cut left.

use super::{Desk, House};
use crate::first_start;
use crate::plan::Plan;
use bookie::{Bookie, BookieRequest, LocalEffect, LocalLedgerStore};
use disk_log::LogSettings;
use disk_log::manifest::Manifest;
use metadata_store::EmbeddedStore;
use session::SessionSettings;
use shard::{Shard, ShardOutputs, ShardSettings};
use sim_world::SimDisk;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use topic::{NameSource, TopicSettings};
use vocabulary::Now;

/// Memory for pages of the metadata store, bytes.
const METADATA_CACHE_BYTES: usize = 64 * 1024;

/// Where the log lies.
const LOG_DIRECTORY: &str = "log";

/// The name under which ledgers are kept.
const BOOKIE_ID: &str = "standalone";

impl House {
    /// Opens it: metadata first, then the log, then desks.
    ///
    /// # Errors
    /// What the disk, or a room that does not like what it finds there, said.
    pub fn open(disk: &SimDisk, plan: &Plan, life: u32, now: Now) -> Result<House, String> {
        let log = log_settings(plan);
        let settings = metadata_store::embedded::Settings {
            // As in the program: beside a log, a missing metadata file is a loss.
            must_exist: !matches!(Manifest::load(disk, &log), Ok(None)),
            cache_bytes: METADATA_CACHE_BYTES,
            ..metadata_store::embedded::Settings::default()
        };
        let mut metadata =
            EmbeddedStore::open(disk, &settings).map_err(|error| error.to_string())?;
        first_start::prepare(&mut metadata, now.wall).map_err(|error| error.to_string())?;
        let bookie =
            Bookie::open(Arc::new(disk.clone()), log).map_err(|error| error.to_string())?;
        let report = bookie.report();
        if report.damaged + report.damaged_headers > 0 {
            return Err(format!("the log misses what it had synced: {report:?}"));
        }
        let mut house = House {
            shards: Vec::new(),
            reader: bookie.reader(),
            bookie,
            bookie_inbox: Vec::new(),
            reads: VecDeque::new(),
            metadata,
            metadata_inbox: Vec::new(),
            visits: BTreeMap::new(),
            session_settings: Arc::new(session_settings(plan)),
            shutting_down: false,
            segments_scanned: report.scanned,
            wants: Vec::new(),
        };
        for number in 0..plan.shards {
            let (shard, requests) = shard(plan, number, life);
            house.shards.push(Desk {
                shard,
                inbox: Vec::new(),
                outputs: ShardOutputs::default(),
                expects_turn: false,
                wake_at: None,
            });
            requests
                .into_iter()
                .for_each(|request| house.ask_bookie(number, request));
        }
        Ok(house)
    }
}

fn log_settings(plan: &Plan) -> LogSettings {
    LogSettings {
        segment_bytes: plan.segment_bytes,
        ..LogSettings::new(LOG_DIRECTORY, *b"the city's store")
    }
}

fn session_settings(plan: &Plan) -> SessionSettings {
    SessionSettings {
        // A segment takes no larger entry.
        max_message_size: plan.segment_bytes / 4,
        liveness_probe_timeout: Duration::from_millis(200),
        pending_publishes_max: 4,
        ..SessionSettings::advertising("pulsar://localhost:6650".to_owned(), None)
    }
}

/// One desk, and what it asks of the bookie before anything else.
fn shard(plan: &Plan, number: usize, life: u32) -> (Shard, Vec<BookieRequest>) {
    let topic = TopicSettings {
        read_entries_max: 7,
        round_robin_entries_max: 3,
        failover_delay: Duration::from_millis(20),
        ack_save_delay: Duration::from_millis(30),
        idle_before_sleep: Duration::from_millis(150),
        ..TopicSettings::default()
    };
    let managed_ledger = managed_ledger::Settings {
        ledger_entries_max: plan.ledger_entries_max,
        rollover_age_min: Duration::ZERO,
        cursor_ledger_entries_max: plan.cursor_ledger_entries_max,
        node_snapshot_bytes_max: plan.node_snapshot_bytes_max,
        retry_pause: Duration::from_millis(50),
        ..managed_ledger::Settings::default()
    };
    let settings = ShardSettings {
        topic: Arc::new(topic),
        names: Arc::new(NameSource::new(
            format!("city-{life}"),
            number as u64,
            plan.shards as u64,
        )),
        log: topic_log::Settings {
            managed_ledger,
            cache_bytes: plan.cache_bytes,
        },
    };
    let mut ledgers = LocalLedgerStore::new(BOOKIE_ID);
    let mut effects = Vec::new();
    if number == 0 {
        // Entries of deleted ledgers are looked for once in the process.
        ledgers.start(&mut effects);
    }
    let requests = effects.into_iter().filter_map(|effect| match effect {
        LocalEffect::Bookie(request) => Some(request),
        LocalEffect::Metadata(_) | LocalEffect::Reply(_) => None,
    });
    (Shard::new(settings, ledgers), requests.collect())
}
