//! The notation of conversations of a whole broker; `conversations/broker/README.md` explains it.
//!
//! A line is played, then everybody is heard until nobody has anything left to say. What is said is sorted by client,
//! since the order between clients is nobody's promise; to each client it is in order.

mod asks;
mod clients;
mod entries;
pub mod house;
mod lines;
mod shows;

use clients::{Connection, Handle, Role, Said};
use house::{Arrival, House};
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{CommandConnect, CommandPong, MessageIdData, ServerError};
use std::collections::BTreeMap;
use vocabulary::{Moment, Position, TopicName};

/// The house and its clients.
pub struct Stage {
    house: House,
    connections: BTreeMap<String, Connection>,
    /// In the order in which they first came.
    handles: Vec<Handle>,
    /// Who waits for an answer to what.
    requests: BTreeMap<u64, (String, Request)>,
    last_request: u64,
    /// What lies where, as far as a client has heard.
    places: BTreeMap<(TopicName, Position), String>,
    notes: Vec<String>,
    is_shutting_down: bool,
}

/// A request that will be answered.
#[derive(Clone, PartialEq)]
enum Request {
    Open,
    Close,
    Ack(String),
    Seek,
    Unsubscribe,
    LastMessage,
    Lookup(String),
    Partitions(String),
}

type Played<T> = Result<T, String>;

impl Stage {
    pub fn new(shard_count: usize) -> Stage {
        Stage {
            house: House::new(shard_count),
            connections: BTreeMap::new(),
            handles: Vec::new(),
            requests: BTreeMap::new(),
            last_request: 0,
            places: BTreeMap::new(),
            notes: Vec::new(),
            is_shutting_down: false,
        }
    }

    /// Plays a line; what is said to it.
    pub fn play(&mut self, line: &str) -> Played<Vec<String>> {
        if !line.starts_with("with ") && !self.house.is_open() && self.handles.is_empty() {
            self.house.open();
        }
        self.act(line)?;
        self.listen()?;
        self.go_when_saved();
        let mut said: Vec<String> = self
            .handles
            .iter_mut()
            .flat_map(Handle::take_said)
            .collect();
        let reports = self.house.take_reports();
        said.append(&mut self.notes);
        said.extend(
            reports
                .iter()
                .map(|text| format!("an operator reads: {}", self.with_names(text))),
        );
        Ok(said)
    }

    /// Sums and queues are in order, and nobody waits for what he could have.
    pub fn check(&self) {
        self.house.check();
    }

    fn go_when_saved(&mut self) {
        if self.is_shutting_down && self.house.is_idle() {
            self.is_shutting_down = false;
            self.house.close_log();
            self.notes
                .push("the broker is gone, everything is saved".to_owned());
        }
    }

    /// Hears everybody until nobody says anything.
    fn listen(&mut self) -> Played<()> {
        loop {
            self.house.settle();
            let arrived = self.house.take_arrived();
            if arrived.is_empty() {
                return Ok(());
            }
            for (session, arrival) in arrived {
                let found = self.connections.iter().find(|(_, c)| c.session == session);
                let Some((name, connection)) = found else {
                    continue;
                };
                let (name, is_silent) = (name.clone(), connection.is_silent);
                match arrival {
                    Arrival::Closed(reason) => self.closed(&name, &reason),
                    Arrival::Frame(..) if is_silent => {}
                    Arrival::Frame(command, payload) => {
                        let command = command.cmd.ok_or("a command without a body")?;
                        self.heard(&name, command, payload)?;
                    }
                }
            }
        }
    }

    fn closed(&mut self, connection: &str, reason: &str) {
        self.connections.remove(connection);
        let mut names = Vec::new();
        for handle in &mut self.handles {
            if handle.connection == connection {
                handle.is_open = false;
                names.push(handle.name.clone());
            }
        }
        self.notes.push(format!(
            "the connection of {} is closed: {reason}",
            names.join(", ")
        ));
    }

    fn heard(
        &mut self,
        connection: &str,
        command: Cmd,
        payload: Option<bytes::Bytes>,
    ) -> Played<()> {
        match command {
            Cmd::Connected(_) | Cmd::Pong(_) => {}
            Cmd::Ping(_) => self.send(connection, Cmd::Pong(CommandPong {}), None)?,
            Cmd::ProducerSuccess(success) if !success.producer_ready() => {
                let (name, _) = self.request(success.request_id())?;
                self.handle(&name)?.comes_back = true;
                self.say(&name, "waits for its turn".to_owned())?;
            }
            Cmd::ProducerSuccess(success) => {
                let epoch = success.topic_epoch;
                let mut text = match epoch {
                    Some(epoch) => format!("is open in epoch {epoch}"),
                    None => "is open".to_owned(),
                };
                if let Some(version) = success.schema_version().first_chunk::<8>() {
                    let version = i64::from_be_bytes(*version);
                    text = format!("{text}, its schema is version {version}");
                }
                let handle = self.opened(success.request_id())?;
                if let Role::Producer(producer) = &mut handle.role {
                    producer.topic_epoch = epoch;
                }
                if let Role::Producer(producer) = &mut handle.role
                    && producer.name.is_none()
                {
                    producer.name = success.producer_name.clone();
                    handle.said.push(Said::Other(
                        "is open, with a name that the broker made".to_owned(),
                    ));
                } else {
                    handle.said.push(Said::Other(text));
                }
                self.begin(success.request_id())?;
            }
            Cmd::Success(success) => match self.request(success.request_id())? {
                (_, Request::Open) => {
                    let handle = self.opened(success.request_id())?;
                    handle.said.push(Said::Other("is subscribed".to_owned()));
                    self.begin(success.request_id())?;
                }
                (name, request) => self.succeeded(&name, &request)?,
            },
            Cmd::Error(error) => {
                let (name, _) = self.request(error.request_id())?;
                if error.error() == ServerError::ProducerFenced {
                    // Clients take it for the last word.
                    self.handle(&name)?.comes_back = false;
                }
                let text = clients::error(error.error() as i32, error.message.as_deref());
                self.say(&name, format!("is refused: {text}"))?;
            }
            Cmd::GetLastMessageIdResponse(response) => self.last_told(&response)?,
            Cmd::SendReceipt(receipt) => {
                let handle = self.by_id(receipt.producer_id())?;
                let label = handle.answered(receipt.sequence_id());
                handle.said.push(Said::Receipt(label.clone()));
                let topic = handle.topic_name();
                self.note_place(topic, receipt.message_id.as_ref(), label);
            }
            Cmd::SendError(error) => {
                let handle = self.by_id(error.producer_id())?;
                let label = handle.answered(error.sequence_id());
                let text = clients::error(error.error() as i32, error.message.as_deref());
                handle
                    .said
                    .push(Said::Other(format!("may not send {label}: {text}")));
            }
            Cmd::Message(message) => {
                let handle = self.by_id(message.consumer_id())?;
                let label = handle.got(&message, &payload.unwrap_or_default());
                let topic = handle.topic_name();
                self.note_place(topic, message.message_id.as_ref(), label);
            }
            Cmd::ActiveConsumerChange(change) => {
                let text = match change.is_active() {
                    true => "hears that it is the active one",
                    false => "hears that it is not the active one",
                };
                let handle = self.by_id(change.consumer_id())?;
                handle.said.push(Said::Other(text.to_owned()));
            }
            Cmd::AckResponse(response) => {
                let (name, request) = self.request(response.request_id())?;
                let Request::Ack(what) = request else {
                    return Err("an answer to an ack that was none".to_owned());
                };
                let text = match response.error {
                    Some(code) => {
                        let text = clients::error(code, response.message.as_deref());
                        format!("may not ack {what}: {text}")
                    }
                    None => format!("has a receipt for its ack of {what}"),
                };
                self.say(&name, text)?;
            }
            Cmd::CloseProducer(close) => self.thrown_out(close.producer_id())?,
            Cmd::CloseConsumer(close) => self.thrown_out(close.consumer_id())?,
            Cmd::LookupTopicResponse(response) => {
                let (name, request) = self.request(response.request_id())?;
                let Request::Lookup(topic) = request else {
                    return Err("an answer to a lookup that was none".to_owned());
                };
                let text = match response.error {
                    Some(code) => clients::error(code, response.message.as_deref()),
                    None => response.broker_service_url().to_owned(),
                };
                self.say(&name, format!("is told where {topic} is: {text}"))?;
            }
            Cmd::PartitionMetadataResponse(response) => {
                self.partitions_told(&response)?;
            }
            other => return Err(format!("nobody expects {other:?}")),
        }
        Ok(())
    }

    fn partitions_told(
        &mut self,
        response: &pulsar_wire::proto::CommandPartitionedTopicMetadataResponse,
    ) -> Played<()> {
        let (name, request) = self.request(response.request_id())?;
        let Request::Partitions(topic) = request else {
            return Err("an answer about partitions that nobody asked for".to_owned());
        };
        let text = match response.error {
            Some(code) => clients::error(code, response.message.as_deref()),
            None => format!("{}", response.partitions()),
        };
        self.say(&name, format!("is told the partitions of {topic}: {text}"))
    }

    fn thrown_out(&mut self, id: u64) -> Played<()> {
        let handle = self.by_id(id)?;
        handle.is_open = false;
        let text = "is told to look its topic up again".to_owned();
        handle.said.push(Said::Other(text));
        Ok(())
    }

    fn opened(&mut self, request_id: u64) -> Played<&mut Handle> {
        let (name, _) = self.request(request_id)?;
        let handle = self.handle(&name)?;
        handle.is_open = true;
        handle.comes_back = true;
        Ok(handle)
    }

    fn begin(&mut self, request_id: u64) -> Played<()> {
        let (name, _) = self.request(request_id)?;
        let handle = self.handle(&name)?;
        let connection = handle.connection.clone();
        for (command, payload) in handle.after_opening() {
            self.send(&connection, command, payload)?;
        }
        Ok(())
    }

    fn note_place(&mut self, topic: TopicName, id: Option<&MessageIdData>, label: String) {
        if let Some(id) = id {
            let position = Position::from_wire(id.ledger_id(), id.entry_id());
            self.places.insert((topic, position), label);
        }
    }

    /// Positions in a text, by what lies there.
    fn with_names(&self, text: &str) -> String {
        let words = text.split(' ').map(|word| {
            let place = self.places.iter().find(|((topic, position), _)| {
                text.contains(topic.as_str()) && position.to_string() == word
            });
            place.map_or(word, |(_, label)| label.as_str())
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// The last entry known to be at or before a position.
    fn name_of(&self, topic: &TopicName, position: Position) -> String {
        let known = self.places.iter();
        let mut before = known.filter(|((of, at), _)| of == topic && *at <= position);
        before
            .next_back()
            .map_or("none", |(_, label)| label)
            .to_owned()
    }

    fn handle(&mut self, name: &str) -> Played<&mut Handle> {
        let found = self.handles.iter_mut().find(|handle| handle.name == name);
        found.ok_or(format!("nobody is called {name}"))
    }

    fn by_id(&mut self, id: u64) -> Played<&mut Handle> {
        let found = self.handles.iter_mut().find(|handle| handle.id == id);
        found.ok_or(format!("nobody has the number {id}"))
    }

    fn say(&mut self, name: &str, text: String) -> Played<()> {
        self.handle(name)?.said.push(Said::Other(text));
        Ok(())
    }

    fn request(&self, id: u64) -> Played<(String, Request)> {
        let found = self.requests.get(&id).cloned();
        found.ok_or(format!("nobody asked under the number {id}"))
    }

    fn new_request(&mut self, name: &str, request: Request) -> u64 {
        self.last_request += 1;
        self.requests
            .insert(self.last_request, (name.to_owned(), request));
        self.last_request
    }

    fn send(
        &mut self,
        connection: &str,
        command: Cmd,
        payload: Option<bytes::Bytes>,
    ) -> Played<()> {
        let found = self.connections.get(connection);
        let session = found
            .ok_or(format!("{connection} is not connected"))?
            .session;
        self.house.send(session, command, payload);
        Ok(())
    }

    fn connect(&mut self, connection: &str) {
        if self.connections.contains_key(connection) {
            return;
        }
        let session = self.house.connect();
        let connect = CommandConnect {
            client_version: Some("Pulsar-Java-v4.0.0".to_owned()),
            protocol_version: Some(21),
            ..Default::default()
        };
        self.house.send(session, Cmd::Connect(connect), None);
        let opened = Connection {
            session,
            is_silent: false,
        };
        self.connections.insert(connection.to_owned(), opened);
    }

    fn let_time_pass(&mut self, millis: u64) -> Played<()> {
        let end = self.house.moment().after(house::millis(millis));
        loop {
            let next = self.house.next_moment().filter(|next| *next <= end);
            let moment: Moment = next.unwrap_or(end);
            self.house.set_moment(moment);
            self.listen()?;
            if next.is_none() {
                return Ok(());
            }
        }
    }
}
