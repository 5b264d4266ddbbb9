//! What each line does.

use super::clients::{Consumer, Handle, Producer, Role};
use super::entries;
use super::house::Socket;
use super::{Played, Request, Stage, clients, house};
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::command_ack::AckType;
use pulsar_wire::proto::command_subscribe::{InitialPosition, SubType};
use pulsar_wire::proto::{
    CommandAck, CommandCloseConsumer, CommandCloseProducer, CommandLookupTopic,
    CommandPartitionedTopicMetadata, CommandRedeliverUnacknowledgedMessages, MessageIdData,
    ProducerAccessMode,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use vocabulary::{AckSet, TopicName};

impl Stage {
    pub(super) fn act(&mut self, line: &str) -> Played<()> {
        if let Some(names) = line.strip_suffix(" share a connection") {
            return self.share(&list_of(names));
        }
        if let Some(topics) = line.strip_suffix(" are on different shards") {
            return self.on_different_shards(&list_of(topics));
        }
        let (main, options) = match line.split_once(", ") {
            Some((main, options)) => (main, options.split(", ").collect()),
            None => (line, Vec::new()),
        };
        let words: Vec<&str> = main.split_whitespace().collect();
        match words[..] {
            ["with", ..] => self.set(&words[1..]),
            ["time", "passes", millis, "ms"] => self.let_time_pass(number(millis)?),
            ["broker", "is", "killed"] => self.restart(false),
            ["power", "is", "cut"] => self.restart(true),
            ["broker", "shuts", "down"] => self.shut_down(),
            ["broker", "starts"] => self.restart(false),
            ["disk", "stalls"] => {
                self.house.disk_stalls = true;
                Ok(())
            }
            ["disk", "goes", "on"] => {
                self.house.disk_stalls = false;
                Ok(())
            }
            ["a", "byte", "of", name, "rots"] => {
                let text = entries::payload(name, 0);
                let found = self.house.rot(&text);
                found.then_some(()).ok_or(format!("{name} is not on disk"))
            }
            ["a", "cursor", "snapshot", "rots"] => {
                // As managed-ledger writes it: version, kind, base, part 0 of 1, of a snapshot that begins a cursor ledger.
                let head = [&[1u8, 1][..], &[0; 8], &[0; 4], &[0, 0, 0, 1]].concat();
                let found = self.house.rot(&head);
                found
                    .then_some(())
                    .ok_or("no cursor snapshot is on disk".to_owned())
            }
            ["record", "of", topic, "turns", "to", "garbage"] => {
                let name = topic_name(topic)?;
                let path = format!(
                    "/managed-ledgers/public/default/persistent/{}",
                    name.local()
                );
                self.house.overwrite_metadata(&path, b"garbage");
                Ok(())
            }
            ["cursor", "of", subscription, "on", topic] => self.show_cursor(subscription, topic),
            ["consumers", "of", subscription, "on", topic] => {
                self.show_consumers(subscription, topic)
            }
            ["memory", "of", topic] => self.show_memory(topic),
            ["socket", "of", name] => self.show_socket(name),
            ["producer", name, "opens", "on", topic] => {
                self.add_producer(name, topic, &options);
                self.open(name)
            }
            [
                "consumer",
                name,
                "subscribes",
                kind,
                subscription,
                "to",
                topic,
            ] => {
                self.add_consumer(name, kind, subscription, topic, &options)?;
                self.open(name)
            }
            [name, "sends", ..] => {
                let labels = line.split_once(" sends ").map_or("", |(_, labels)| labels);
                self.send_messages(name, labels)
            }
            [name, "grants", permits] => {
                let permits = number(permits)? as u32;
                self.say_to_broker(name, |handle| handle.granting(permits))
            }
            [name, "acks", "up", "to", label] => {
                self.ack(name, AckType::Cumulative, &[label], &options)
            }
            [name, "acks", ref labels @ ..] => {
                self.ack(name, AckType::Individual, labels, &options)
            }
            [name, "wants", ref labels @ .., "again"] => self.redeliver(name, labels),
            [name, "closes"] => self.close(name),
            [name, "subscribes", "again"] => self.open(name),
            [name, "seeks", "to", "time", time] => self.seek_time(name, time),
            [name, "seeks", "to", label] => self.seek(name, label),
            [name, "unsubscribes"] => self.unsubscribe(name, options.contains(&"by force")),
            [name, "asks", "for", "the", "last", "message"] => self.ask_for_last(name),
            ["reader", name, "opens", "on", topic, "at", start] => {
                self.add_consumer(name, "exclusive", name, topic, &options)?;
                let start = self.place_named(name, start)?;
                if let Role::Consumer(consumer) = &mut self.handle(name)?.role {
                    consumer.start = Some(start);
                }
                self.open(name)
            }
            [name, "looks", "up", topic] => self.look_up(name, topic),
            [name, "asks", "for", "the", "partitions", "of", topic] => {
                self.ask_for_partitions(name, topic)
            }
            [name, "stops", "reading"] => self.set_socket(name, Socket::Full),
            [name, "reads", "again"] => self.set_socket(name, Socket::Read),
            ["answers", "to", name, "get", "lost"] => self.set_socket(name, Socket::Lost),
            [name, "falls", "silent"] => {
                let connection = self.handle(name)?.connection.clone();
                let found = self.connections.get_mut(&connection);
                found.ok_or("not connected")?.is_silent = true;
                Ok(())
            }
            [name, "hangs", "up"] => {
                let connection = self.handle(name)?.connection.clone();
                let leaving = self.handles.iter_mut();
                leaving
                    .filter(|handle| handle.connection == connection)
                    .for_each(|handle| handle.comes_back = false);
                self.hang_up(name)
            }
            [name, "reconnects"] => self.reconnect(name),
            _ => Err("not a line of a conversation".to_owned()),
        }
    }

    fn set(&mut self, pairs: &[&str]) -> Played<()> {
        for pair in pairs {
            let (name, value) = pair.split_once('=').ok_or("name=value")?;
            let topic = &mut self.house.topic_settings;
            match name {
                "unacked_per_consumer_max" => topic.unacked_per_consumer_max = number(value)?,
                "unacked_per_subscription_max" => {
                    topic.unacked_per_subscription_max = number(value)?
                }
                "round_robin_entries_max" => topic.round_robin_entries_max = number(value)? as u32,
                "failover_delay_ms" => topic.failover_delay = house::millis(number(value)?),
                "auto_create_subscriptions" => topic.auto_create_subscriptions = value == "true",
                "auto_create_topics" => topic.auto_create_topics = value == "true",
                "message_permits" => {
                    self.house.session_settings.message_permits_enabled = value == "true"
                }
                other => return Err(format!("no setting {other}")),
            }
        }
        Ok(())
    }

    fn share(&mut self, names: &[&str]) -> Played<()> {
        let connection = names.join(" ");
        for name in names {
            let handle = self.handle_or_guest(name);
            handle.connection.clone_from(&connection);
        }
        Ok(())
    }

    fn on_different_shards(&mut self, names: &[&str]) -> Played<()> {
        let mut shards = BTreeSet::new();
        for name in names {
            shards.insert(self.house.shard_of(&topic_name(name)?));
        }
        let expected = names.len().min(self.house.shard_count());
        (shards.len() == expected)
            .then_some(())
            .ok_or(format!("they are on {} shards", shards.len()))
    }

    fn restart(&mut self, power_too: bool) -> Played<()> {
        self.house.kill(power_too);
        self.connections.clear();
        self.house.open();
        self.reopen(|_| true)
    }

    fn shut_down(&mut self) -> Played<()> {
        self.house.shut_down();
        self.is_shutting_down = true;
        Ok(())
    }

    /// Producers and consumers that were let in once come back; who left or was never let in does not.
    fn reopen(&mut self, which: impl Fn(&Handle) -> bool) -> Played<()> {
        let mut names = Vec::new();
        for handle in self.handles.iter_mut().filter(|handle| which(handle)) {
            handle.is_open = false;
            if handle.comes_back {
                names.push(handle.name.clone());
            }
        }
        for name in names {
            self.open(&name)?;
            // One after the other, so that who comes first does not depend on shards.
            self.listen()?;
        }
        Ok(())
    }

    /// On a new connection, with all that shared the old one. The broker hears of the old one's end, unless it was
    /// silent: then it seems to be there still.
    fn reconnect(&mut self, name: &str) -> Played<()> {
        let connection = self.handle(name)?.connection.clone();
        match self.connections.get(&connection) {
            Some(old) if old.is_silent => drop(self.connections.remove(&connection)),
            Some(_) => self.hang_up(name)?,
            None => {}
        }
        self.listen()?;
        self.reopen(|handle| handle.connection == connection)
    }

    fn handle_or_guest(&mut self, name: &str) -> &mut Handle {
        let at = match self.handles.iter().position(|handle| handle.name == name) {
            Some(at) => at,
            None => {
                self.handles.push(Handle {
                    name: name.to_owned(),
                    id: self.handles.len() as u64 + 1,
                    connection: name.to_owned(),
                    topic: "t".to_owned(),
                    role: Role::Guest,
                    is_open: false,
                    comes_back: false,
                    said: Vec::new(),
                });
                self.handles.len() - 1
            }
        };
        &mut self.handles[at]
    }

    fn add_producer(&mut self, name: &str, topic: &str, options: &[&str]) {
        let called = options
            .iter()
            .find_map(|option| option.strip_prefix("called "));
        let unnamed = options.contains(&"without a name");
        let initial = options
            .iter()
            .find_map(|option| option.strip_prefix("with a subscription "));
        let schema = options
            .iter()
            .find_map(|option| option.strip_prefix("of schema "));
        let access_mode = match () {
            () if options.contains(&"for itself") => ProducerAccessMode::Exclusive,
            () if options.contains(&"waiting for its turn") => ProducerAccessMode::WaitForExclusive,
            () if options.contains(&"throwing others out") => {
                ProducerAccessMode::ExclusiveWithFencing
            }
            () => ProducerAccessMode::Shared,
        };
        let handle = self.handle_or_guest(name);
        topic.clone_into(&mut handle.topic);
        handle.role = Role::Producer(Producer {
            name: (!unnamed).then(|| called.unwrap_or(name).to_owned()),
            is_named_by_user: !unnamed,
            epoch: 0,
            access_mode,
            topic_epoch: None,
            initial_subscription: initial.map(str::to_owned),
            schema: schema.map(clients::schema),
            next_sequence_id: 0,
            pending: VecDeque::new(),
        });
    }

    fn add_consumer(
        &mut self,
        name: &str,
        kind: &str,
        subscription: &str,
        topic: &str,
        options: &[&str],
    ) -> Played<()> {
        let mut consumer = Consumer {
            subscription: subscription.to_owned(),
            kind: match kind {
                "shared" => SubType::Shared,
                "exclusive" => SubType::Exclusive,
                "failover" => SubType::Failover,
                "key-shared" => SubType::KeyShared,
                other => return Err(format!("no subscription type {other}")),
            },
            initial: InitialPosition::Latest,
            flow: 1000,
            priority: 0,
            schema: None,
            name: name.to_owned(),
            start: None,
            rollback: None,
            received: BTreeMap::new(),
            remaining: BTreeMap::new(),
        };
        for option in options {
            match option.split_once(' ') {
                Some(("flow", permits)) => consumer.flow = number(permits)? as u32,
                Some(("of", schema)) => {
                    let name = schema.strip_prefix("schema ").ok_or("of schema NAME")?;
                    consumer.schema = Some(clients::schema(name));
                }
                Some(("priority", level)) => consumer.priority = number(level)? as i32,
                Some(("rollback", seconds)) => consumer.rollback = Some(number(seconds)?),
                None if *option == "earliest" => consumer.initial = InitialPosition::Earliest,
                None if *option == "latest" => consumer.initial = InitialPosition::Latest,
                _ => return Err(format!("no option {option}")),
            }
        }
        let handle = self.handle_or_guest(name);
        topic.clone_into(&mut handle.topic);
        handle.role = Role::Consumer(consumer);
        Ok(())
    }

    fn open(&mut self, name: &str) -> Played<()> {
        let connection = self.handle(name)?.connection.clone();
        self.connect(&connection);
        let request_id = self.new_request(name, Request::Open);
        match self.handle(name)?.opening(request_id) {
            Some(command) => self.send(&connection, command, None),
            None => Ok(()),
        }
    }

    fn send_messages(&mut self, name: &str, labels: &str) -> Played<()> {
        for token in entries::tokens(labels) {
            let handle = self.handle(name)?;
            let connection = handle.connection.clone();
            let (command, payload) = handle.publish(&token).ok_or("it is no producer")?;
            // What a client is given while it is not connected waits for the next connection.
            if self.handle(name)?.is_open {
                self.send(&connection, command, payload)?;
            }
        }
        Ok(())
    }

    pub(super) fn say_to_broker(
        &mut self,
        name: &str,
        command: impl Fn(&Handle) -> Cmd,
    ) -> Played<()> {
        let handle = self.handle(name)?;
        let (connection, command) = (handle.connection.clone(), command(handle));
        self.send(&connection, command, None)
    }

    fn ack(
        &mut self,
        name: &str,
        ack_type: AckType,
        labels: &[&str],
        options: &[&str],
    ) -> Played<()> {
        let handle = self.handle(name)?;
        let id = handle.id;
        let Role::Consumer(consumer) = &mut handle.role else {
            return Err("it is no consumer".to_owned());
        };
        let mut ids: BTreeMap<(u64, u64), MessageIdData> = BTreeMap::new();
        for label in labels {
            let received = consumer.received.get(*label);
            let received = received.ok_or(format!("{name} has no {label}"))?.clone();
            let place = (received.id.ledger_id(), received.id.entry_id());
            let mut id = received.id;
            if let Some((index, size)) = received.batch {
                let left = consumer
                    .remaining
                    .entry(place)
                    .or_insert(AckSet::full(size));
                match ack_type {
                    AckType::Individual => left.clear(index),
                    AckType::Cumulative => (0..=index).for_each(|index| left.clear(index)),
                }
                id.ack_set = left.to_wire();
            }
            ids.insert(place, id);
        }
        let waits = options.contains(&"with a receipt");
        let what = labels.join(" ");
        let request_id = waits.then(|| self.new_request(name, Request::Ack(what)));
        self.say_to_broker(name, |_| {
            Cmd::Ack(CommandAck {
                consumer_id: Some(id),
                ack_type: Some(ack_type as i32),
                message_id: ids.values().cloned().collect(),
                request_id,
                ..Default::default()
            })
        })
    }

    fn redeliver(&mut self, name: &str, labels: &[&str]) -> Played<()> {
        let handle = self.handle(name)?;
        let Role::Consumer(consumer) = &handle.role else {
            return Err("it is no consumer".to_owned());
        };
        let mut ids = Vec::new();
        for label in labels.iter().filter(|label| **label != "all") {
            let received = consumer.received.get(*label);
            ids.push(received.ok_or(format!("{name} has no {label}"))?.id.clone());
        }
        self.say_to_broker(name, |handle| {
            Cmd::RedeliverUnacknowledgedMessages(CommandRedeliverUnacknowledgedMessages {
                consumer_id: Some(handle.id),
                message_ids: ids.clone(),
                consumer_epoch: None,
            })
        })
    }

    fn close(&mut self, name: &str) -> Played<()> {
        let request_id = Some(self.new_request(name, Request::Close));
        let handle = self.handle(name)?;
        handle.is_open = false;
        handle.comes_back = false;
        self.say_to_broker(name, |handle| match handle.role {
            Role::Producer(_) => Cmd::CloseProducer(CommandCloseProducer {
                producer_id: Some(handle.id),
                request_id,
                ..Default::default()
            }),
            Role::Consumer(_) | Role::Guest => Cmd::CloseConsumer(CommandCloseConsumer {
                consumer_id: Some(handle.id),
                request_id,
                ..Default::default()
            }),
        })
    }

    fn look_up(&mut self, name: &str, topic: &str) -> Played<()> {
        let connection = self.handle_or_guest(name).connection.clone();
        self.connect(&connection);
        let request_id = self.new_request(name, Request::Lookup(topic.to_owned()));
        let command = CommandLookupTopic {
            topic: Some(topic.to_owned()),
            request_id: Some(request_id),
            ..Default::default()
        };
        self.send(&connection, Cmd::LookupTopic(command), None)
    }

    fn ask_for_partitions(&mut self, name: &str, topic: &str) -> Played<()> {
        let connection = self.handle_or_guest(name).connection.clone();
        self.connect(&connection);
        let request_id = self.new_request(name, Request::Partitions(topic.to_owned()));
        let command = CommandPartitionedTopicMetadata {
            topic: Some(topic.to_owned()),
            request_id: Some(request_id),
            ..Default::default()
        };
        self.send(&connection, Cmd::PartitionMetadata(command), None)
    }

    fn set_socket(&mut self, name: &str, socket: Socket) -> Played<()> {
        let connection = self.handle(name)?.connection.clone();
        let found = self.connections.get(&connection).ok_or("not connected")?;
        self.house.set_socket(found.session, socket);
        Ok(())
    }

    fn hang_up(&mut self, name: &str) -> Played<()> {
        let connection = self.handle(name)?.connection.clone();
        let found = self
            .connections
            .remove(&connection)
            .ok_or("not connected")?;
        self.house.hang_up(found.session);
        for handle in &mut self.handles {
            if handle.connection == connection {
                handle.is_open = false;
            }
        }
        Ok(())
    }
}

pub(super) fn topic_name(text: &str) -> Played<TopicName> {
    TopicName::parse(text).map_err(|error| error.to_string())
}

/// `a, b and c`
fn list_of(names: &str) -> Vec<&str> {
    names
        .split(", ")
        .flat_map(|part| part.split(" and "))
        .collect()
}

pub(super) fn number(text: &str) -> Played<u64> {
    text.parse().map_err(|_| format!("{text} is no number"))
}
