//! SEND: an entry to publish. Answer: SEND_RECEIPT or SEND_ERROR, in the order of a producer's SENDs.

use crate::face::CloseReason;
use crate::gate::{Action, Resource};
use crate::session::{Session, Turn};
use crate::tables::{PendingSend, Producer, Standing};
use bytes::Bytes;
use letters::{Publish, Refusal, RefusalCode, TopicLetter};
use pulsar_wire::entry::{EntryHeaders, add_checksum};
use pulsar_wire::frame::max_frame_size;
use pulsar_wire::peek::peek;
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{CommandSend, CommandSendError, CommandSendReceipt, MessageIdData};
use vocabulary::{Domain, Position, ProducerId};

/// What the command of a MESSAGE takes at most, with room for the ack set of a large batch. Frames of either direction
/// have the same limit, and this command is longer than SEND: without a reserve there would be entries that can be sent
/// and never delivered.
///
/// `Expectation:` the limit is the frame's, not `max_message_size`. C++ (so Python and Node) cuts chunks such that the
/// checksum and the metadata's length exceed the latter by a few bytes; Java holds only the payload against it. Pulsar
/// checks entries against nothing but the frame, too, unless a topic has a smaller limit of its own.
const MESSAGE_HEADER_BYTES_MAX: u32 = 1024;

/// What a message in a batch takes at least: the length of its metadata, and that metadata's one required field.
const BATCHED_MESSAGE_BYTES_MIN: u32 = 6;

pub(crate) fn came(session: &mut Session, turn: &mut Turn<'_>, command: CommandSend, entry: Bytes) {
    let id = command.producer_id();
    match session.producers.get(id).map(|producer| producer.standing) {
        Some(Standing::Ready) => {}
        Some(Standing::Leaving(_)) => return session.counters.sends_dropped += 1,
        // On its way before the client knew.
        None if session.producers.is_forgiven(id, turn.now.moment) => {
            return session.counters.sends_dropped += 1;
        }
        None | Some(Standing::Pending(_)) => {
            return session.close(turn, CloseReason::SendOfUnknownProducer(id));
        }
    }
    match allow(session, &command).and_then(|()| publish(session, &command, &entry)) {
        Ok(publish) => forward(session, turn, publish),
        Err(refusal) => {
            let sequence_id = command.sequence_id().max(command.highest_sequence_id());
            refuse(session, turn, id, sequence_id, refusal);
        }
    }
}

fn allow(session: &Session, command: &CommandSend) -> Result<(), Refusal> {
    let Some(producer) = session.producers.get(command.producer_id()) else {
        return Ok(());
    };
    session.may(Action::Send, Resource::Topic(&producer.topic))?;
    if command.txnid_least_bits.is_some() || command.txnid_most_bits.is_some() {
        return Err(not_allowed(
            "Transactions are not served by this broker yet",
        ));
    }
    if command.message_id.is_some() {
        return Err(not_allowed(format!(
            "{} is no shadow topic: SEND must not carry a message id",
            producer.topic
        )));
    }
    Ok(())
}

/// The entry as it is stored: with its checksum, verified or added, and metadata that every consumer can read.
fn publish(session: &Session, command: &CommandSend, entry: &Bytes) -> Result<Publish, Refusal> {
    let max = session.settings.max_message_size;
    let limit = max_frame_size(max).saturating_sub(MESSAGE_HEADER_BYTES_MAX) as usize;
    if entry.len() > limit {
        return Err(not_allowed(format!(
            "Message of {} bytes, headers included, exceeds the limit of {limit} bytes",
            entry.len()
        )));
    }
    let unreadable =
        |error: &dyn std::fmt::Display| not_allowed(format!("Message cannot be read: {error}"));
    let headers = EntryHeaders::parse(entry).map_err(|error| unreadable(&error))?;
    if headers.broker_entry_metadata.is_some() {
        return Err(not_allowed(
            "Message carries metadata that only brokers add",
        ));
    }
    headers.verify_checksum().map_err(|error| {
        Refusal::new(
            RefusalCode::ChecksumError,
            format!("Message is damaged: {error}"),
        )
    })?;
    let metadata = peek(headers.metadata).map_err(|error| unreadable(&error))?;
    if metadata.txnid_least_bits.is_some() || metadata.txnid_most_bits.is_some() {
        return Err(not_allowed(
            "Transactions are not served by this broker yet",
        ));
    }
    let messages = metadata.message_count();
    if messages > max / BATCHED_MESSAGE_BYTES_MIN {
        let limit = max / BATCHED_MESSAGE_BYTES_MIN;
        return Err(not_allowed(format!(
            "Batch says it has {messages} messages, more than the {limit} that fit"
        )));
    }
    Ok(Publish {
        producer_id: command.producer_id(),
        sequence_id: command.sequence_id(),
        highest_sequence_id: command
            .highest_sequence_id
            .filter(|highest| *highest >= command.sequence_id()),
        messages,
        entry: add_checksum(entry).map_err(|error| unreadable(&error))?,
    })
}

fn forward(session: &mut Session, turn: &mut Turn<'_>, publish: Publish) {
    let bytes = publish.entry.len() as u64;
    let id = publish.producer_id;
    if let Some(answer) = too_many_pass(session, &publish) {
        if let Some(producer) = session.producers.get_mut(id) {
            producer.unsaid_drops += u64::from(publish.messages);
        }
        return decide(session, turn, id, answer);
    }
    let Some(producer) = session.producers.get_mut(id) else {
        return;
    };
    let dropped = std::mem::take(&mut producer.unsaid_drops);
    producer.sends.push_back(PendingSend::AtTopic { bytes });
    let topic = producer.topic.clone();
    session.producers.passing += usize::from(topic.domain() == Domain::NonPersistent);
    session.pressure.publishes.rise(1);
    session.pressure.publish_bytes.rise(bytes);
    if dropped > 0 {
        let letter = TopicLetter::PublishesDropped {
            producer_id: id,
            messages: dropped,
        };
        session.write(turn, &topic, letter);
    }
    session.write(turn, &topic, TopicLetter::Publish(publish));
}

/// The receipt of a message that is dropped because too many of non-persistent topics are under way already; it names
/// no place (-1:-1), as Pulsar's does, which is how a client can tell.
fn too_many_pass(session: &Session, publish: &Publish) -> Option<Cmd> {
    let id = publish.producer_id;
    let producer = session.producers.get(id)?;
    let drops = producer.topic.domain() == Domain::NonPersistent
        && session.producers.passing > session.settings.passing_publishes_max;
    drops.then(|| {
        let (sequence_id, highest) = (publish.sequence_id, publish.highest_sequence_id);
        receipt(session, id, sequence_id, highest, Position::EARLIEST)
    })
}

fn refuse(
    session: &mut Session,
    turn: &mut Turn<'_>,
    id: ProducerId,
    sequence_id: u64,
    refusal: Refusal,
) {
    decide(session, turn, id, error(id, sequence_id, refusal));
}

/// Java closes the connection over an answer that overtook another, so one that is given here waits for those before.
fn decide(session: &mut Session, turn: &mut Turn<'_>, id: ProducerId, answer: Cmd) {
    let Some(producer) = session.producers.get_mut(id) else {
        return;
    };
    if producer.is_lost {
        return session.counters.sends_dropped += 1;
    }
    if producer.sends.is_empty() {
        return session.send(turn, answer);
    }
    let answer = Box::new(answer);
    producer.sends.push_back(PendingSend::Decided { answer });
    session.pressure.publishes.rise(1);
}

/// A topic answered the oldest SEND it had of a producer; the refusals behind it are due.
pub(crate) fn answered(session: &mut Session, turn: &mut Turn<'_>, id: ProducerId, answer: Cmd) {
    let Some(producer) = take_oldest(session, id) else {
        return orphan_answered(session, id);
    };
    let mut due = vec![answer];
    while let Some(PendingSend::Decided { .. }) = producer.sends.front() {
        if let Some(PendingSend::Decided { answer }) = producer.sends.pop_front() {
            due.push(*answer);
        }
    }
    session.pressure.publishes.fall(due.len() as u64 - 1);
    for command in due {
        session.send(turn, command);
    }
}

/// A topic will neither store nor refuse a SEND, because its producer is gone from there. Nor is the client told of
/// refusals any more: they would overtake, and it sends all of it again when it hears that the producer is closed.
pub(crate) fn dropped(session: &mut Session, id: ProducerId) {
    if session.producers.has_orphans(id) {
        return orphan_answered(session, id);
    }
    let Some(producer) = take_oldest(session, id) else {
        return orphan_answered(session, id);
    };
    producer.is_lost = true;
    let before = producer.sends.len();
    producer
        .sends
        .retain(|send| matches!(send, PendingSend::AtTopic { .. }));
    let forgotten = before - producer.sends.len();
    session.pressure.publishes.fall(forgotten as u64);
}

/// Takes the oldest SEND off a producer's list, if its topic had it. No refusal is ever the oldest.
fn take_oldest(session: &mut Session, id: ProducerId) -> Option<&mut Producer> {
    let producer = session.producers.get_mut(id)?;
    let Some(&PendingSend::AtTopic { bytes }) = producer.sends.front() else {
        return None;
    };
    producer.sends.pop_front();
    let passes = producer.topic.domain() == Domain::NonPersistent;
    session.producers.passing -= usize::from(passes);
    session.pressure.publishes.fall(1);
    session.pressure.publish_bytes.fall(bytes);
    session.producers.get_mut(id)
}

fn orphan_answered(session: &mut Session, id: ProducerId) {
    session.counters.letters_dropped += 1;
    if let Some(bytes) = session.producers.orphan_answered(id) {
        session.pressure.publishes.fall(1);
        session.pressure.publish_bytes.fall(bytes);
    }
}

pub(crate) fn receipt(
    session: &Session,
    producer_id: ProducerId,
    sequence_id: u64,
    highest_sequence_id: Option<u64>,
    position: Position,
) -> Cmd {
    let partition = session
        .producers
        .get(producer_id)
        .and_then(|producer| producer.topic.partition());
    Cmd::SendReceipt(CommandSendReceipt {
        producer_id: Some(producer_id),
        sequence_id: Some(sequence_id),
        message_id: Some(message_id(position, partition)),
        highest_sequence_id,
    })
}

pub(crate) fn error(producer_id: ProducerId, sequence_id: u64, refusal: Refusal) -> Cmd {
    Cmd::SendError(CommandSendError {
        producer_id: Some(producer_id),
        sequence_id: Some(sequence_id),
        error: Some(refusal.code as i32),
        message: Some(refusal.message),
    })
}

/// An entry's place as the wire has it; partition -1 where there is none.
pub(crate) fn message_id(position: Position, partition: Option<u32>) -> MessageIdData {
    let (ledger, entry) = position.to_wire();
    MessageIdData {
        ledger_id: Some(ledger),
        entry_id: Some(entry),
        partition: Some(
            partition
                .and_then(|index| i32::try_from(index).ok())
                .unwrap_or(-1),
        ),
        ..Default::default()
    }
}

fn not_allowed(text: impl Into<String>) -> Refusal {
    Refusal::new(RefusalCode::NotAllowedError, text)
}
