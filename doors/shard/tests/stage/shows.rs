//! What a conversation may look at without anybody noticing.

use super::clients::describe;
use super::lines::topic_name;
use super::{Played, Stage};
use pulsar_wire::proto::base_command::Cmd;

impl Stage {
    pub(super) fn show_cursor(&mut self, subscription: &str, topic: &str) -> Played<()> {
        let name = topic_name(topic)?;
        let stats = self.house.topic(&name).ok_or("not in memory")?.stats();
        let found = stats
            .subscriptions
            .into_iter()
            .find(|s| s.name == subscription);
        let found = found.ok_or("no such subscription")?;
        let mark = self.name_of(&name, found.mark);
        let on_disk = self.name_of(&name, found.durable_mark);
        let mut text = format!(
            "cursor of {subscription} on {topic}: mark {mark}, acked ahead {}, left {}",
            found.acked_ahead_entries, found.backlog_entries
        );
        if mark != on_disk {
            text += &format!("; mark on disk {on_disk}");
        }
        self.notes.push(text);
        Ok(())
    }

    pub(super) fn show_consumers(&mut self, subscription: &str, topic: &str) -> Played<()> {
        let name = topic_name(topic)?;
        let stats = self.house.topic(&name).ok_or("not in memory")?.stats();
        let found = stats
            .subscriptions
            .into_iter()
            .find(|s| s.name == subscription);
        for consumer in found.ok_or("no such subscription")?.consumers {
            let handle = self.by_id(consumer.consumer_id)?.name.clone();
            let mut text = format!(
                "{handle}: permits {}, holds {} unacked",
                consumer.permits, consumer.unacked_messages
            );
            if consumer.blocked_on_unacked {
                text += &format!(", blocked, {} permits put by", consumer.parked_permits);
            }
            self.notes.push(text);
        }
        Ok(())
    }

    pub(super) fn show_memory(&mut self, topic: &str) -> Played<()> {
        let name = topic_name(topic)?;
        let text = match self.house.topic(&name) {
            Some(_) => "is in memory",
            None => "is not in memory",
        };
        self.notes.push(format!("{topic} {text}"));
        Ok(())
    }

    pub(super) fn show_socket(&mut self, name: &str) -> Played<()> {
        let connection = self.handle(name)?.connection.clone();
        let session = self
            .connections
            .get(&connection)
            .ok_or("not connected")?
            .session;
        let mut names = Vec::new();
        for (command, entry) in self.house.waiting_in_socket(session) {
            if let Some(Cmd::Message(message)) = &command.cmd {
                names.push(describe(message, &entry).0);
            }
        }
        self.notes
            .push(format!("in the socket of {name} wait {}", names.join(", ")));
        Ok(())
    }
}
