//! What consumers ask besides messages: to go elsewhere, for the last message, for the end of their subscription.

use super::clients::Role;
use super::lines::{number, topic_name};
use super::{Played, Request, Stage};
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{
    CommandGetLastMessageId, CommandGetLastMessageIdResponse, CommandSeek, CommandUnsubscribe,
    MessageIdData,
};
use vocabulary::{AckSet, Position};

impl Stage {
    /// `earliest`, `latest`, or a message that somebody has heard of: of a batch, its messages from that one on.
    pub(super) fn place_named(&mut self, name: &str, label: &str) -> Played<MessageIdData> {
        let position = match label {
            "earliest" => Position::EARLIEST,
            "latest" => Position::LATEST,
            _ => {
                let handle = self.handle(name)?;
                if let Role::Consumer(consumer) = &handle.role
                    && let Some(received) = consumer.received.get(label)
                {
                    let mut id = received.id.clone();
                    if let Some((index, size)) = received.batch {
                        let mut set = AckSet::full(size);
                        (0..index).for_each(|before| set.clear(before));
                        id.ack_set = set.to_wire();
                    }
                    return Ok(id);
                }
                let topic = handle.topic_name();
                let known = self.places.iter();
                let mut found = known.filter(|((of, _), there)| *of == topic && *there == label);
                let ((_, position), _) = found.next().ok_or(format!("nobody has {label}"))?;
                *position
            }
        };
        let (ledger_id, entry_id) = position.to_wire();
        Ok(MessageIdData {
            ledger_id: Some(ledger_id),
            entry_id: Some(entry_id),
            ..Default::default()
        })
    }

    pub(super) fn seek(&mut self, name: &str, label: &str) -> Played<()> {
        let message_id = Some(self.place_named(name, label)?);
        self.send_seek(name, message_id, None)
    }

    pub(super) fn seek_time(&mut self, name: &str, time: &str) -> Played<()> {
        let time = number(time)?;
        self.send_seek(name, None, Some(time))
    }

    fn send_seek(
        &mut self,
        name: &str,
        message_id: Option<MessageIdData>,
        message_publish_time: Option<u64>,
    ) -> Played<()> {
        let request_id = Some(self.new_request(name, Request::Seek));
        self.say_to_broker(name, |handle| {
            Cmd::Seek(CommandSeek {
                consumer_id: Some(handle.id),
                request_id,
                message_id: message_id.clone(),
                message_publish_time,
            })
        })
    }

    pub(super) fn unsubscribe(&mut self, name: &str, force: bool) -> Played<()> {
        let request_id = Some(self.new_request(name, Request::Unsubscribe));
        self.say_to_broker(name, |handle| {
            Cmd::Unsubscribe(CommandUnsubscribe {
                consumer_id: Some(handle.id),
                request_id,
                force: Some(force),
            })
        })
    }

    pub(super) fn ask_for_last(&mut self, name: &str) -> Played<()> {
        let request_id = Some(self.new_request(name, Request::LastMessage));
        self.say_to_broker(name, |handle| {
            Cmd::GetLastMessageId(CommandGetLastMessageId {
                consumer_id: Some(handle.id),
                request_id,
            })
        })
    }

    pub(super) fn last_told(&mut self, response: &CommandGetLastMessageIdResponse) -> Played<()> {
        let (name, request) = self.request(response.request_id())?;
        if request != Request::LastMessage {
            return Err("an answer about a last message that nobody asked for".to_owned());
        }
        let topic = topic_name(&self.handle(&name)?.topic)?;
        let id = response.last_message_id.clone().unwrap_or_default();
        let position = Position::from_wire(id.ledger_id(), id.entry_id());
        let mut text = match position {
            Position::EARLIEST => "nothing".to_owned(),
            _ => self.name_of(&topic, position),
        };
        if id.batch_index() >= 0 {
            text = format!("number {} of {text}", id.batch_index());
        }
        let mark = response.consumer_mark_delete_position.as_ref();
        let mark = mark.map_or("not said".to_owned(), |mark| {
            self.name_of(
                &topic,
                Position::from_wire(mark.ledger_id(), mark.entry_id()),
            )
        });
        self.say(
            &name,
            format!("is told the last message: {text}; its mark: {mark}"),
        )
    }

    /// SUCCESS to something that was not SUBSCRIBE.
    pub(super) fn succeeded(&mut self, name: &str, request: &Request) -> Played<()> {
        let text = match request {
            Request::Seek => "is where it sought",
            Request::Unsubscribe => {
                let handle = self.handle(name)?;
                handle.is_open = false;
                handle.comes_back = false;
                "has unsubscribed"
            }
            _ => "is closed",
        };
        self.say(name, text.to_owned())
    }
}
