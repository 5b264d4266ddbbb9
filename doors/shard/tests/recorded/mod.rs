//! Plays recordings of real clients (`hulse record`) against the core: what the clients sent is sent again, in the same
//! order and at the same moments, and the broker must say what was heard then.
//!
//! What a broker chooses freely is not compared but translated: places of entries, generated producer names, urls. Which
//! of several consumers gets an entry, and when, hangs on how fast the client was; so deliveries are compared per
//! subscription, as sets. All other frames are compared one by one, each with the next of its kind and id.
//!
//! What was said over HTTP is not in a recording. A line `# partitions TOPIC NUMBER` makes a partitioned topic before it
//! begins.

mod ids;

use crate::stage::house::{Arrival, House};
use directory::Question;
use ids::Ids;
use pulsar_wire::frame::Frame;
use pulsar_wire::proto::base_command::Cmd;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use transcript::{Line, Said, Speaker, print_command};
use vocabulary::{Moment, SessionId, TopicName};

/// When a recording begins, nanoseconds.
const BEGIN: u64 = 1_000_000_000;

/// How much later than then a frame may come, nanoseconds: what was overtaken by a timer.
const SLACK: u64 = 3_000_000_000;

/// Entries that reached a subscription, by topic and name.
type Delivered = BTreeMap<(String, String), BTreeSet<Vec<u8>>>;

/// A connection of the recording.
#[derive(Default)]
struct Connection {
    session: Option<SessionId>,
    arrived: VecDeque<Frame>,
    /// Topic and subscription of each consumer.
    consumers: BTreeMap<u64, (String, String)>,
    is_closed: bool,
}

/// A recording that is played.
pub struct Player {
    house: House,
    connections: BTreeMap<u32, Connection>,
    ids: Ids,
    heard: Delivered,
    delivered: Delivered,
}

/// Plays a recording with so many shards.
///
/// # Errors
/// The first line that goes otherwise.
pub fn play(text: &str, shards: usize) -> Result<(), String> {
    let lines = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let lines: Vec<Line> = lines
        .map(|line| line.parse().map_err(|error| format!("{error} in {line}")))
        .collect::<Result<_, _>>()?;
    let mut player = Player {
        house: House::new(shards),
        connections: BTreeMap::new(),
        ids: Ids::of(&lines),
        heard: Delivered::new(),
        delivered: Delivered::new(),
    };
    player.house.open();
    for line in text.lines() {
        if let Some(made) = line.strip_prefix("# partitions ") {
            player.make_partitions(made)?;
        }
    }
    for line in &lines {
        player
            .line(line)
            .map_err(|problem| format!("{problem}\n  at {line}"))?;
    }
    player.end()
}

impl Player {
    fn make_partitions(&mut self, made: &str) -> Result<(), String> {
        let (topic, partitions) = made.split_once(' ').ok_or("# partitions TOPIC NUMBER")?;
        self.house.ask_directory(Question::CreatePartitioned {
            topic: TopicName::parse(topic).map_err(|error| error.to_string())?,
            partitions: partitions.trim().parse().map_err(|_| "no number")?,
            most: 100,
            properties: serde_json::Value::Null,
        });
        Ok(())
    }

    fn line(&mut self, line: &Line) -> Result<(), String> {
        self.house
            .set_moment(Moment(BEGIN + line.at_millis * 1_000_000));
        match &line.said {
            Said::Opened => {
                let connection = Connection {
                    session: Some(self.house.connect()),
                    ..Connection::default()
                };
                self.connections.insert(line.connection, connection);
            }
            Said::Frame(Speaker::Client, frame) => self.client_says(line.connection, frame)?,
            Said::Frame(Speaker::Broker, frame) => self.broker_said(line.connection, frame)?,
            Said::Bytes(..) => return Err("bytes that are no frame cannot be played".to_owned()),
            Said::Closed(Speaker::Client) => {
                if let Some(id) = self.connection(line.connection)?.session.take() {
                    self.house.hang_up(id);
                }
            }
            Said::Closed(Speaker::Broker) => {
                self.take_arrived();
                if !self.connection(line.connection)?.is_closed {
                    return Err("the broker does not close the connection".to_owned());
                }
            }
        }
        self.house.settle();
        self.house.check();
        self.take_arrived();
        Ok(())
    }

    fn connection(&mut self, number: u32) -> Result<&mut Connection, String> {
        self.connections
            .get_mut(&number)
            .ok_or_else(|| format!("connection {number} was not opened"))
    }

    fn client_says(&mut self, number: u32, frame: &Frame) -> Result<(), String> {
        let mut frame = frame.clone();
        self.ids.translate(&mut frame.command);
        let connection = self.connection(number)?;
        match &frame.command.cmd {
            Some(Cmd::Subscribe(subscribe)) => {
                let place = (
                    subscribe.topic.clone().unwrap_or_default(),
                    subscribe.subscription.clone().unwrap_or_default(),
                );
                let id = subscribe.consumer_id.unwrap_or_default();
                connection.consumers.insert(id, place);
            }
            Some(Cmd::Send(send)) => {
                let key = (number, send.producer_id.unwrap_or_default());
                let entry = frame.payload.clone().unwrap_or_default();
                self.ids
                    .sent(key, send.sequence_id.unwrap_or_default(), entry);
            }
            _ => {}
        }
        let id = self.connection(number)?.session;
        let id = id.ok_or("a client speaks that has hung up")?;
        let command = frame.command.cmd.ok_or("a command without a body")?;
        self.house.send(id, command, frame.payload);
        Ok(())
    }

    fn broker_said(&mut self, number: u32, frame: &Frame) -> Result<(), String> {
        match &frame.command.cmd {
            // Each side's keepalive is its own affair.
            Some(Cmd::Ping(_) | Cmd::Pong(_)) => return Ok(()),
            Some(Cmd::Message(message)) => {
                let id = message.consumer_id.unwrap_or_default();
                let entry = frame.payload.clone().unwrap_or_default();
                let place = self.connection(number)?.consumers.get(&id).cloned();
                let place = place.ok_or_else(|| format!("consumer {id} never subscribed"))?;
                self.heard.entry(place).or_default().insert(entry.to_vec());
                return Ok(());
            }
            _ => {}
        }
        let said = self.await_like(number, frame)?;
        self.ids.learn(&frame.command, &said.command);
        let mut expected = frame.command.clone();
        self.ids.translate(&mut expected);
        let (mut expected, mut said) = (expected, said.command);
        ids::leave_out_what_is_free(&mut expected);
        ids::leave_out_what_is_free(&mut said);
        let (expected, said) = (print_command(&expected), print_command(&said));
        match expected == said {
            true => Ok(()),
            false => Err(format!("expected {expected}\n     got {said}")),
        }
    }

    /// The next frame of that kind and id, if need be after a while.
    fn await_like(&mut self, number: u32, like: &Frame) -> Result<Frame, String> {
        let latest = Moment(self.house.moment().0 + SLACK);
        loop {
            self.take_arrived();
            let arrived = &mut self.connection(number)?.arrived;
            let found = arrived
                .iter()
                .position(|frame| ids::answers_same(&frame.command, &like.command));
            if let Some(frame) = found.and_then(|index| arrived.remove(index)) {
                return Ok(frame);
            }
            match self.house.next_moment() {
                Some(moment) if moment <= latest => self.house.set_moment(moment),
                _ => {
                    let waiting: Vec<String> = self
                        .connection(number)?
                        .arrived
                        .iter()
                        .map(|frame| print_command(&frame.command))
                        .collect();
                    return Err(format!("nothing like it is said; unheard: {waiting:?}"));
                }
            }
        }
    }

    fn take_arrived(&mut self) {
        for (session, arrival) in self.house.take_arrived() {
            let mut connections = self.connections.iter_mut();
            let found = connections.find(|(_, connection)| connection.session == Some(session));
            let Some((number, connection)) = found else {
                continue;
            };
            match arrival {
                Arrival::Closed(_) => connection.is_closed = true,
                Arrival::Frame(command, payload) => {
                    if let Some(Cmd::Message(message)) = &command.cmd {
                        let id = message.consumer_id.unwrap_or_default();
                        let place = connection.consumers.get(&id).cloned().unwrap_or_default();
                        let entry = payload.clone().unwrap_or_default();
                        self.delivered
                            .entry(place)
                            .or_default()
                            .insert(entry.to_vec());
                        continue;
                    }
                    if matches!(&command.cmd, Some(Cmd::Ping(_) | Cmd::Pong(_))) {
                        continue;
                    }
                    self.ids.receipt(*number, &command);
                    connection.arrived.push_back(Frame {
                        command: *command,
                        payload,
                    });
                }
            }
        }
    }

    fn end(mut self) -> Result<(), String> {
        self.take_arrived();
        for (number, connection) in &self.connections {
            if connection.session.is_none() {
                // It had hung up; what was under way to it, nobody heard.
                continue;
            }
            if let Some(frame) = connection.arrived.front() {
                let text = print_command(&frame.command);
                return Err(format!("connection {number}: nobody expects {text}"));
            }
        }
        for (place, heard) in &self.heard {
            let delivered = self.delivered.remove(place).unwrap_or_default();
            let missing = heard.difference(&delivered).count();
            if missing > 0 {
                return Err(format!(
                    "{place:?}: {missing} of {} entries are not delivered",
                    heard.len()
                ));
            }
        }
        Ok(())
    }
}
