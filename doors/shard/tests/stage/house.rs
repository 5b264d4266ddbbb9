//! The broker without its sockets and threads: shards, one bookie, a metadata store, a session for each connection.

use bookie::{Bookie, BookieRequest, LocalEffect, LocalLedgerStore};
use bytes::Bytes;
use directory::pattern::TopicPattern;
use directory::{Errand, Question, Step};
use disk_log::LogSettings;
use letters::{SessionLetter, ToTopic, TopicsQuestion};
use metadata_store::memory::MemoryStore;
use metadata_store::{Expect, KeyKind, MetadataRequest};
use pulsar_wire::frame::Frame;
use pulsar_wire::proto::BaseCommand;
use pulsar_wire::proto::base_command::Cmd;
use session::{
    AllowAll, Session, SessionEffect, SessionInput, SessionSettings, WriteToken, WrittenFrames,
};
use shard::{Shard, ShardAsk, ShardInput, ShardOutputs, ShardSettings};
use sim_world::{SimDice, SimDisk};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use topic::{NameSource, Topic, TopicSettings};
use vocabulary::{Moment, NamespaceName, Now, SessionId, ShardId, TopicName, WallTime};
use world::Disk;

/// What reached a client.
pub enum Arrival {
    Frame(Box<BaseCommand>, Option<Bytes>),
    /// The broker closed the connection.
    Closed(String),
}

/// Whether a connection's client takes what the broker writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Socket {
    Read,
    /// What is written waits in the socket.
    Full,
    /// What is written gets lost, and the broker does not know.
    Lost,
}

struct Visit {
    session: Session,
    socket: Socket,
    waiting: Vec<(BaseCommand, Option<Bytes>, WriteToken)>,
    arrived: Vec<Arrival>,
    closed: bool,
}

struct Desk {
    shard: Shard,
    inputs: Vec<ShardInput>,
    wake_at: Option<Moment>,
}

/// A broker's life is from `open` to `kill`; disk and metadata outlive it.
pub struct House {
    shard_count: usize,
    pub topic_settings: TopicSettings,
    pub session_settings: SessionSettings,
    disk: SimDisk,
    dice: SimDice,
    metadata: MemoryStore,
    moment: Moment,
    life: u32,
    desks: Vec<Desk>,
    bookie: Option<Bookie>,
    bookie_inbox: Vec<(usize, BookieRequest)>,
    pub disk_stalls: bool,
    visits: BTreeMap<SessionId, Visit>,
    last_session: u64,
    reports: Vec<String>,
}

/// Turns without a time passing, after which somebody must be talking to himself.
const TURNS_MAX: usize = 10_000;

impl House {
    pub fn new(shard_count: usize) -> House {
        let mut metadata = MemoryStore::well_behaved();
        let mut dice = SimDice::new(1);
        metadata.submit(vec![MetadataRequest::Put {
            ticket: 0,
            path: "/admin/policies/public/default".to_owned(),
            value: Bytes::from_static(b"{}"),
            expect: Expect::Absent,
            kind: KeyKind::Persistent,
        }]);
        metadata.turn(&mut dice);
        let url = "pulsar://localhost:6650".to_owned();
        House {
            shard_count,
            topic_settings: TopicSettings::default(),
            session_settings: SessionSettings::advertising(url, None),
            disk: SimDisk::new(),
            dice,
            metadata,
            moment: Moment(1_000_000_000),
            life: 0,
            desks: Vec::new(),
            bookie: None,
            bookie_inbox: Vec::new(),
            disk_stalls: false,
            visits: BTreeMap::new(),
            last_session: 0,
            reports: Vec::new(),
        }
    }

    pub fn is_open(&self) -> bool {
        self.bookie.is_some()
    }

    pub fn open(&mut self) {
        let settings = LogSettings {
            segment_bytes: 1024 * 1024,
            ..LogSettings::new("log", [7; 16])
        };
        let bookie = Bookie::open(Arc::new(self.disk.clone()), settings);
        self.bookie = Some(bookie.expect("the log opens"));
        self.life += 1;
        for number in 0..self.shard_count {
            let prefix = format!("here-{}", self.life);
            let settings = ShardSettings {
                topic: Arc::new(self.topic_settings.clone()),
                names: Arc::new(NameSource::new(
                    prefix,
                    number as u64,
                    self.shard_count as u64,
                )),
                log: topic_log::Settings::default(),
            };
            let mut ledgers = LocalLedgerStore::new("here:3181");
            let mut effects = Vec::new();
            if number == 0 {
                ledgers.start(&mut effects);
            }
            for effect in effects {
                if let LocalEffect::Bookie(request) = effect {
                    self.bookie_inbox.push((number, request));
                }
            }
            self.desks.push(Desk {
                shard: Shard::new(settings, ledgers),
                inputs: Vec::new(),
                wake_at: None,
            });
        }
        self.settle();
    }

    /// Memory is gone with all connections; what was written but not synced is in doubt only if the power went, too.
    pub fn kill(&mut self, power_too: bool) {
        self.desks.clear();
        self.bookie = None;
        self.bookie_inbox.clear();
        self.visits.clear();
        self.disk_stalls = false;
        match power_too {
            true => self.disk.restart(&mut self.dice),
            false => self.disk.kill(),
        }
    }

    /// As a broker stops: sessions take leave, then desks save what is unsaved, then the log is closed.
    pub fn shut_down(&mut self) {
        let ids: Vec<SessionId> = self.visits.keys().copied().collect();
        for id in ids {
            self.tell_session(id, SessionInput::ShutdownBegan);
        }
        self.settle();
        for desk in &mut self.desks {
            desk.inputs.push(ShardInput::Ask(ShardAsk::Shutdown));
        }
        self.settle();
    }

    /// Whether nothing in memory is unsaved.
    pub fn is_idle(&self) -> bool {
        self.desks.iter().all(|desk| desk.shard.is_idle())
    }

    /// The last thing a broker does.
    pub fn close_log(&mut self) {
        if let Some(bookie) = &mut self.bookie {
            bookie.close().expect("a disk that works");
        }
    }

    pub fn connect(&mut self) -> SessionId {
        self.last_session += 1;
        let id = SessionId(self.last_session);
        let settings = Arc::new(self.session_settings.clone());
        let address = format!("client:{}", id.0);
        let visit = Visit {
            session: Session::new(id, settings, Arc::new(AllowAll), address, self.now()),
            socket: Socket::Read,
            waiting: Vec::new(),
            arrived: Vec::new(),
            closed: false,
        };
        self.visits.insert(id, visit);
        id
    }

    pub fn send(&mut self, id: SessionId, command: Cmd, payload: Option<Bytes>) {
        let command = BaseCommand::new(command);
        command.validate().expect("clients send whole commands");
        self.tell_session(id, SessionInput::FrameArrived(Frame { command, payload }));
    }

    pub fn hang_up(&mut self, id: SessionId) {
        self.tell_session(id, SessionInput::PeerGone);
        self.visits.remove(&id);
    }

    /// What waited is written if the client reads again.
    pub fn set_socket(&mut self, id: SessionId, socket: Socket) {
        let Some(visit) = self.visits.get_mut(&id) else {
            return;
        };
        visit.socket = socket;
        for (command, payload, token) in std::mem::take(&mut visit.waiting) {
            self.write(id, command, payload, token);
        }
    }

    /// What the broker has written and the client has not read.
    pub fn waiting_in_socket(&self, id: SessionId) -> Vec<(BaseCommand, Bytes)> {
        let waiting = self.visits.get(&id).map(|visit| &visit.waiting);
        let messages = waiting.into_iter().flatten();
        messages
            .filter_map(|(command, payload, _)| Some((command.clone(), payload.clone()?)))
            .collect()
    }

    pub fn take_arrived(&mut self) -> Vec<(SessionId, Arrival)> {
        let mut arrived = Vec::new();
        for (id, visit) in &mut self.visits {
            arrived.extend(visit.arrived.drain(..).map(|arrival| (*id, arrival)));
        }
        arrived
    }

    pub fn take_reports(&mut self) -> Vec<String> {
        let mut reports = std::mem::take(&mut self.reports);
        reports.sort();
        reports
    }

    /// Turns until nobody has anything to say.
    pub fn settle(&mut self) {
        for _ in 0..TURNS_MAX {
            if !self.turn() {
                return;
            }
        }
        panic!("somebody talks without end");
    }

    /// When somebody next wants to be told the time.
    pub fn next_moment(&self) -> Option<Moment> {
        let desks = self.desks.iter().filter_map(|desk| desk.wake_at);
        let open = self.visits.values().filter(|visit| !visit.closed);
        desks
            .chain(open.map(|visit| visit.session.wakes_at()))
            .min()
    }

    pub fn moment(&self) -> Moment {
        self.moment
    }

    /// The time is this; whoever waited for it is told.
    pub fn set_moment(&mut self, moment: Moment) {
        self.moment = moment.max(self.moment);
        let due = |visit: &Visit| !visit.closed && visit.session.wakes_at() <= self.moment;
        let ids: Vec<SessionId> = self
            .visits
            .iter()
            .filter(|(_, visit)| due(visit))
            .map(|(id, _)| *id)
            .collect();
        for id in ids {
            self.tell_session(id, SessionInput::TimeCame);
        }
        self.settle();
    }

    pub fn topic(&self, name: &TopicName) -> Option<&Topic> {
        self.desks
            .get(self.shard_of(name))?
            .shard
            .desk()
            .topic(name)
    }

    /// Non-persistent topics in use.
    fn passing(&self, namespace: &NamespaceName) -> Vec<String> {
        let desks = self.desks.iter();
        let topics = desks.flat_map(|desk| desk.shard.desk().topics());
        let mut names: Vec<String> = topics
            .filter(|topic| topic.passes_now() && topic.name().namespace() == namespace)
            .map(|topic| topic.name().to_string())
            .collect();
        names.sort();
        names
    }

    pub fn check(&self) {
        let topics = self
            .desks
            .iter()
            .flat_map(|desk| desk.shard.desk().topics());
        for topic in topics {
            topic.check();
            assert_eq!(topic.find_stalled(), None, "{} stalls", topic.name());
        }
    }

    /// As the broker's threads and the simulator share out topics.
    pub fn shard_of(&self, topic: &TopicName) -> usize {
        ShardId::of(topic, self.shard_count).index()
    }

    pub fn shard_count(&self) -> usize {
        self.shard_count
    }

    /// A byte of what was written goes bad; false: nothing like it is on the disk.
    pub fn rot(&self, text: &[u8]) -> bool {
        let names = self
            .disk
            .list("log/segments")
            .or_else(|_| self.disk.list("log"));
        for name in names.expect("the log's directory") {
            for path in [format!("log/segments/{name}"), format!("log/{name}")] {
                let bytes = self.disk.bytes_of(&path).unwrap_or_default();
                if let Some(at) = bytes.windows(text.len()).position(|window| window == text) {
                    self.disk.flip(&path, at as u64, 1);
                    return true;
                }
            }
        }
        false
    }

    /// Somebody else writes into the metadata store.
    pub fn overwrite_metadata(&mut self, path: &str, value: &'static [u8]) {
        let value = Some(Bytes::from_static(value));
        self.metadata.interfere(path, value).expect("a path");
    }

    fn now(&self) -> Now {
        Now {
            moment: self.moment,
            wall: WallTime(self.moment.0 / 1_000_000),
        }
    }

    /// One turn of everybody who has something to do; false if nobody had.
    fn turn(&mut self) -> bool {
        let mut something = false;
        for number in 0..self.desks.len() {
            something |= self.desk_turn(number);
        }
        if !self.disk_stalls && !self.bookie_inbox.is_empty() {
            something = true;
            self.bookie_turn();
        }
        something
    }

    fn desk_turn(&mut self, number: usize) -> bool {
        let now = self.now();
        let Some(desk) = self.desks.get_mut(number) else {
            return false;
        };
        if desk.wake_at.is_some_and(|moment| moment <= now.moment) {
            desk.inputs.push(ShardInput::TimeCame);
        }
        if desk.inputs.is_empty() {
            return false;
        }
        let mut outputs = ShardOutputs::default();
        desk.shard.turn(now, &mut desk.inputs, &mut outputs);
        desk.wake_at = outputs.wake_at;
        let requests = outputs.bookie.into_iter().map(|request| (number, request));
        self.bookie_inbox.extend(requests);
        self.metadata.tell_time(now.wall);
        self.metadata.submit(outputs.metadata);
        let replies = self.metadata.turn(&mut self.dice);
        desk.inputs
            .extend(replies.into_iter().map(ShardInput::Metadata));
        let reports = outputs.reports.into_iter();
        self.reports.extend(reports.map(|(_, text)| text));
        for letter in outputs.letters {
            self.tell_session(letter.session, SessionInput::LetterCame(letter.letter));
        }
        true
    }

    fn bookie_turn(&mut self) {
        let Some(bookie) = &mut self.bookie else {
            return self.bookie_inbox.clear();
        };
        // The bookie answers all appends in their order, then all others in theirs.
        let (appends, others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.bookie_inbox)
            .into_iter()
            .partition(|(_, request)| matches!(request, BookieRequest::Append { .. }));
        let (askers, requests): (Vec<usize>, Vec<BookieRequest>) =
            appends.into_iter().chain(others).unzip();
        let replies = bookie.turn(requests);
        assert_eq!(replies.len(), askers.len(), "replies of the bookie");
        for (asker, reply) in askers.into_iter().zip(replies) {
            if let Some(desk) = self.desks.get_mut(asker) {
                desk.inputs.push(ShardInput::Bookie(reply));
            }
        }
    }

    fn tell_session(&mut self, id: SessionId, input: SessionInput) {
        let now = self.now();
        let Some(visit) = self.visits.get_mut(&id) else {
            // A letter to a session that is gone is dropped.
            return;
        };
        let mut effects = Vec::new();
        visit.session.handle(now, input, &mut effects);
        for effect in effects {
            match effect {
                SessionEffect::SendFrame(frame) => {
                    frame
                        .command
                        .validate()
                        .expect("the broker sends whole commands");
                    self.write(id, frame.command, frame.payload, frame.token);
                }
                SessionEffect::WriteLetter(letter) => self.post(letter),
                SessionEffect::AskDirectory(question) => self.list_topics(id, question),
                SessionEffect::EndWatch { .. }
                | SessionEffect::WakeAt(_)
                | SessionEffect::PauseReading
                | SessionEffect::ResumeReading => {}
                SessionEffect::Close { reason } => self.close_visit(id, &reason.to_string()),
            }
        }
    }

    /// As the broker's clerk does it.
    fn list_topics(&mut self, id: SessionId, question: TopicsQuestion) {
        let passing = match question.non_persistent {
            true => self.passing(&question.namespace),
            false => Vec::new(),
        };
        let answer = self.ask_directory(Question::Topics {
            namespace: question.namespace,
            with_system_topics: false,
            must_exist: false,
        });
        let pattern = question
            .pattern
            .map(|pattern| TopicPattern::parse(&pattern).expect("a pattern"));
        let names = answer
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|name| name.as_str())
            .filter(|_| question.persistent);
        let names = passing.iter().map(String::as_str).chain(names);
        let wanted = names.filter(|name| {
            let topic = TopicName::parse(name).expect("a topic's name");
            pattern
                .as_ref()
                .is_none_or(|pattern| pattern.matches(&topic))
        });
        let letter = SessionLetter::TopicsListed {
            request_id: question.request_id,
            result: Ok(wanted.map(str::to_owned).collect()),
        };
        self.tell_session(id, SessionInput::LetterCame(letter));
    }

    /// Asks the directory, as a page of the HTTP door does.
    pub fn ask_directory(&mut self, question: Question) -> serde_json::Value {
        let mut errand = Errand::new(question);
        let mut replies = Vec::new();
        loop {
            match errand.go_on(replies) {
                Step::Ask(requests) => {
                    self.metadata.submit(requests);
                    replies = self.metadata.turn(&mut self.dice);
                }
                Step::Done(answer) => return answer.expect("an answer"),
            }
        }
    }

    fn post(&mut self, letter: ToTopic) {
        let number = self.shard_of(&letter.topic);
        if let Some(desk) = self.desks.get_mut(number) {
            desk.inputs.push(ShardInput::Letter(letter));
        }
    }

    fn close_visit(&mut self, id: SessionId, reason: &str) {
        if let Some(visit) = self.visits.get_mut(&id) {
            visit.closed = true;
            visit.arrived.push(Arrival::Closed(reason.to_owned()));
        }
    }

    fn write(
        &mut self,
        id: SessionId,
        command: BaseCommand,
        payload: Option<Bytes>,
        token: WriteToken,
    ) {
        let Some(visit) = self.visits.get_mut(&id) else {
            return;
        };
        if visit.socket == Socket::Full {
            return visit.waiting.push((command, payload, token));
        }
        if visit.socket == Socket::Read {
            visit
                .arrived
                .push(Arrival::Frame(Box::new(command), payload));
        }
        let mut written = WrittenFrames::new();
        written.add(token);
        self.tell_session(id, SessionInput::FramesWritten(written));
    }
}

/// For settings.
pub fn millis(number: u64) -> Duration {
    Duration::from_millis(number)
}
