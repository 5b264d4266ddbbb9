//! From settings to an open door, and back.

use crate::clerk::Clerk;
use crate::connection::Stage;
use crate::counters::Counters;
use crate::fate::Fate;
use crate::finder::Finder;
use crate::house::{self, House};
use crate::http::{self, Pages};
use crate::registry::Registry;
use crate::threads::desk::{self, DeskPremises};
use crate::threads::desk_inbox::DeskInbox;
use crate::threads::journal::Journal;
use crate::threads::metadata::{self, MetadataQueue};
use crate::watch_room::WatchRoom;
use crate::{BrokerSettings, first_start, listener, rooms, wholeness};
use bookie::Bookie;
use disk_log::LogSettings;
use metadata_store::embedded::EmbeddedStore;
use os_world::{DirectoryLock, OsClock, OsDice, OsDisk};
use session::AllowAll;
use shard::ShardAsk;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};
use world::Dice;

/// Memory for pages of the metadata store, bytes.
const METADATA_CACHE_BYTES: usize = 4 * 1024 * 1024;

/// Where the log lies in the data directory.
const LOG_DIRECTORY: &str = "log";

/// How long connections may take to part with their topics, at most half of the time for a stop.
const FAREWELL_WAIT: Duration = Duration::from_secs(5);

/// Why a broker does not start. Nothing was changed, except that a fresh data directory may have been made.
#[derive(Debug, Error)]
pub enum StartError {
    /// The data directory cannot be used, or somebody uses it.
    #[error("{0}")]
    Directory(io::Error),
    /// A port is taken, or not ours to take.
    #[error("cannot listen on {address} ({key}): {reason}; {}", hint(reason, key))]
    Listen {
        /// Host and port.
        address: String,
        /// The key that sets the port.
        key: &'static str,
        /// What the system said.
        reason: io::Error,
    },
    /// The directory is somebody else's.
    #[error(
        "{directory} holds {holds} and nothing of a broker; choose an empty or new directory with --data-dir"
    )]
    Foreign {
        /// The directory.
        directory: String,
        /// Something that is in it.
        holds: String,
    },
    /// The metadata store cannot be opened.
    #[error("{0}")]
    MetadataStore(#[from] metadata_store::embedded::OpenError),
    /// The metadata knows topics, but what they hold is gone.
    #[error(
        "the metadata knows topics, but their log is gone: there is none in {0}; restore it from a copy, or choose another directory"
    )]
    LogMissing(String),
    /// The metadata store cannot be written.
    #[error("cannot prepare the metadata store: {0}")]
    Metadata(#[from] metadata_store::MetadataError),
    /// The log cannot be opened.
    #[error("cannot open the log: {0}")]
    Log(#[from] disk_log::LogError),
    /// The system gives us no random numbers.
    #[error("the system has no randomness to give: {0}")]
    Dice(io::Error),
    /// The system has no more threads for us.
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
}

/// A broker that serves.
pub struct Broker {
    house: Arc<House>,
    fate: Fate,
    stage: watch::Sender<Stage>,
    binary_address: SocketAddr,
    web_address: SocketAddr,
    desks: Vec<JoinHandle<()>>,
    journal: Journal,
    metadata: Arc<MetadataQueue>,
    metadata_thread: JoinHandle<()>,
    _lock: DirectoryLock,
}

/// How a stop went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Clients were told, everything is saved.
    Cleanly,
    /// Time ran out before everything was saved. What was confirmed is safe; some messages may come again.
    OutOfTime,
}

impl Broker {
    /// Opens what is kept, starts the threads, opens the doors.
    pub async fn start(settings: BrokerSettings) -> Result<Broker, StartError> {
        wholeness::expect_ours(&settings.data_directory)?;
        let disk = OsDisk::new(&settings.data_directory).map_err(StartError::Directory)?;
        let lock = DirectoryLock::take(&settings.data_directory).map_err(StartError::Directory)?;
        let binary = bind(
            &settings.bind_address,
            settings.binary_port,
            "brokerServicePort",
        )
        .await?;
        let web = bind(&settings.bind_address, settings.web_port, "webServicePort").await?;
        let (binary_address, web_address) = (address_of(&binary)?, address_of(&web)?);
        let binary_url = url(
            "pulsar",
            &settings.advertised_address,
            binary_address.port(),
        );
        let web_url = url("http", &settings.advertised_address, web_address.port());

        let clock = OsClock::new();
        let fate = Fate::default();
        let counters = Arc::new(Counters::default());
        let disk: Arc<dyn world::Disk> = Arc::new(disk);
        let has_log = wholeness::has_log(disk.as_ref(), LOG_DIRECTORY);
        let mut store = open_metadata(disk.as_ref(), has_log)?;
        let now = house::read(&clock).wall;
        wholeness::expect_log(&mut store, now, has_log, LOG_DIRECTORY)?;
        let urls = first_start::ClusterUrls {
            web: web_url.clone(),
            binary: binary_url.clone(),
        };
        first_start::prepare(&mut store, now, &settings.cluster, &urls)?;
        let instance = store.owner();
        let bookie = open_bookie(Arc::clone(&disk), &settings)?;
        let journal = Journal::start(
            &fate,
            bookie,
            settings.reader_threads,
            Arc::clone(&counters),
        )
        .map_err(StartError::Thread)?;
        let metadata = Arc::new(MetadataQueue::default());
        let watch_room = Arc::new(WatchRoom::default());
        let metadata_thread = metadata::start(
            &fate,
            store,
            Arc::clone(&metadata),
            clock.clone(),
            Arc::clone(&counters),
            Arc::clone(&watch_room),
        )
        .map_err(StartError::Thread)?;

        let house = Arc::new(House {
            session_settings: Arc::new(rooms::session_settings(&settings, &binary_url)),
            gate: Arc::new(AllowAll),
            registry: Arc::new(Registry::default()),
            clerk: Clerk::new(Arc::clone(&metadata), Arc::clone(&watch_room)),
            asks: Arc::default(),
            desks: (0..settings.shards)
                .map(|_| Arc::new(DeskInbox::default()))
                .collect(),
            counters: Arc::clone(&counters),
            clock: clock.clone(),
            settings,
        });
        let mut desks = Vec::new();
        for (number, inbox) in house.desks.iter().enumerate() {
            let (shard, first_requests) = rooms::shard(&house.settings, number, instance);
            journal.door().send(first_requests, inbox);
            let premises = DeskPremises {
                inbox: Arc::clone(inbox),
                registry: Arc::clone(&house.registry),
                journal: journal.door(),
                metadata: Arc::clone(&metadata),
                asks: Arc::clone(&house.asks),
                clock: clock.clone(),
                counters: Arc::clone(&counters),
            };
            desks.push(desk::start(&fate, number, shard, premises).map_err(StartError::Thread)?);
        }

        let stage = watch::Sender::new(Stage::Serving);
        let pages = Arc::new(Pages {
            house: Arc::clone(&house),
            asks: Arc::clone(&house.asks),
            finder: Finder::start(Arc::clone(&house)),
            journal: journal.door(),
            binary_url,
            web_url,
            rates: http::Rates::default(),
        });
        tokio::spawn(listener::listen(
            Arc::clone(&house),
            binary,
            stage.subscribe(),
        ));
        tokio::spawn(watch_room.announce(Arc::clone(&house.registry)));
        tokio::spawn(http::serve(pages, web, stage.subscribe()));
        Ok(Broker {
            house,
            fate,
            stage,
            binary_address,
            web_address,
            desks,
            journal,
            metadata,
            metadata_thread,
            _lock: lock,
        })
    }

    /// Where the binary protocol is served.
    pub fn binary_address(&self) -> SocketAddr {
        self.binary_address
    }

    /// Where the pages are served.
    pub fn web_address(&self) -> SocketAddr {
        self.web_address
    }

    /// Waits for a failure that the process must not survive, and says what it was. Whoever hears it ends the process
    /// at once, without [`Broker::stop`].
    pub async fn failed(&self) -> String {
        self.fate.failed().await
    }

    /// Lets nobody in, tells clients, saves everything.
    pub async fn stop(self) -> Stopped {
        let timeout = self.house.settings.shutdown_timeout;
        let began = Instant::now();
        self.stage.send_replace(Stage::Leaving);
        let farewell_ends = began + (timeout / 2).min(FAREWELL_WAIT);
        say_farewell(&self.house.registry, farewell_ends).await;
        self.stage.send_replace(Stage::Gone);
        for desk in &self.house.desks {
            desk.reply([shard::ShardInput::Ask(ShardAsk::Shutdown)]);
        }
        let Broker {
            desks,
            journal,
            metadata,
            metadata_thread,
            ..
        } = self;
        let saving = spawn_blocking(move || {
            // Desks first: they still have things to say to the disks.
            for thread in desks {
                let _ = thread.join();
            }
            journal.close();
            metadata.close();
            let _ = metadata_thread.join();
        });
        match timeout_at(began + timeout, saving).await {
            Ok(_) => Stopped::Cleanly,
            Err(_) => Stopped::OutOfTime,
        }
    }
}

/// Waits until nobody is connected any more, or the deadline passes.
async fn say_farewell(registry: &Registry, deadline: Instant) {
    if timeout_at(deadline, registry.emptied()).await.is_err() {
        tracing::warn!(
            "{} connections did not leave in time and are dropped",
            registry.connections()
        );
    }
}

/// What to do about an address that cannot be had.
fn hint(reason: &io::Error, key: &str) -> String {
    match reason.kind() {
        io::ErrorKind::AddrInUse => {
            format!("is another broker running there? Choose another with --set {key}=PORT")
        }
        io::ErrorKind::PermissionDenied => format!(
            "ports below 1024 are the system's; choose another with --set {key}=PORT"
        ),
        // Not of this machine, or no address at all.
        _ => "--set bindAddress=ADDRESS says which of this machine's addresses to listen on (0.0.0.0: all)"
            .to_owned(),
    }
}

async fn bind(host: &str, port: u16, key: &'static str) -> Result<TcpListener, StartError> {
    let failed = |reason| StartError::Listen {
        address: format!("{host}:{port}"),
        key,
        reason,
    };
    TcpListener::bind((host, port)).await.map_err(failed)
}

fn address_of(listener: &TcpListener) -> Result<SocketAddr, StartError> {
    listener.local_addr().map_err(StartError::Directory)
}

/// Where there is a log already, a missing metadata file is a loss, and no new one is made in its place.
pub(crate) fn open_metadata(
    disk: &dyn world::Disk,
    must_exist: bool,
) -> Result<EmbeddedStore, StartError> {
    let settings = metadata_store::embedded::Settings {
        must_exist,
        cache_bytes: METADATA_CACHE_BYTES,
        ..metadata_store::embedded::Settings::default()
    };
    Ok(EmbeddedStore::open(disk, &settings)?)
}

fn open_bookie(
    disk: Arc<dyn world::Disk>,
    settings: &BrokerSettings,
) -> Result<Bookie, StartError> {
    let mut dice = OsDice::new().map_err(StartError::Dice)?;
    let mut store_id = [0; 16];
    for part in store_id.chunks_mut(8) {
        part.copy_from_slice(&dice.roll().to_le_bytes());
    }
    let mut log = LogSettings::new(LOG_DIRECTORY, store_id);
    log.segment_bytes = u32::try_from(settings.segment_bytes).unwrap_or(u32::MAX);
    let bookie = Bookie::open(disk, log)?;
    let report = bookie.report();
    if report.tail_cut {
        tracing::info!("the log ended in an unconfirmed write, which was cut off");
    }
    if report.damaged + report.damaged_headers > 0 {
        tracing::error!(
            "the disk has lost {} places of the log and {} segment headers that it had promised to keep; the entries \
             there cannot be read, all others can. Check the disk, and restore from a copy if you have one",
            report.damaged,
            report.damaged_headers
        );
    }
    Ok(bookie)
}

/// `scheme://host:port`, with brackets around an IPv6 address.
pub fn url(scheme: &str, host: &str, port: u16) -> String {
    if host.contains(':') {
        format!("{scheme}://[{host}]:{port}")
    } else {
        format!("{scheme}://{host}:{port}")
    }
}
