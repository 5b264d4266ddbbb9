//! PARTITIONED_METADATA: how many partitions has a topic? Answer: PARTITIONED_METADATA_RESPONSE, errors inside.

use super::topic_named;
use crate::answers;
use crate::gate::{Action, Resource};
use crate::session::{Session, Turn};
use crate::waiting::Waiter;
use letters::{Refusal, RefusalCode, TopicLetter};
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::command_partitioned_topic_metadata_response::LookupType;
use pulsar_wire::proto::{
    CommandPartitionedTopicMetadata, CommandPartitionedTopicMetadataResponse,
};
use vocabulary::TopicName;

pub(crate) fn came(
    session: &mut Session,
    turn: &mut Turn<'_>,
    command: CommandPartitionedTopicMetadata,
) {
    let allowed = topic_named(command.topic()).and_then(|topic| {
        session.may(Action::FindPartitions, Resource::Topic(&topic))?;
        Ok(topic)
    });
    let topic = match allowed {
        Ok(topic) => topic,
        Err(refusal) => {
            let answer = answers::refusing(&Cmd::PartitionMetadata(command), refusal);
            return session.refuse(turn, answer);
        }
    };
    let waiter = Waiter::Partitions {
        request_id: command.request_id(),
        topic: topic.clone(),
    };
    let request_id = session.await_answer(waiter);
    let may_create = command.metadata_auto_creation_enabled();
    session.write(
        turn,
        &topic,
        TopicLetter::FindTopic {
            request_id,
            may_create,
        },
    );
}

pub(crate) fn found(
    session: &mut Session,
    turn: &mut Turn<'_>,
    request_id: u64,
    topic: &TopicName,
    result: Result<u32, Refusal>,
) {
    let mut response = CommandPartitionedTopicMetadataResponse {
        request_id: Some(request_id),
        ..Default::default()
    };
    match result {
        Ok(partitions) => {
            response.response = Some(LookupType::Success as i32);
            // A partition has no partitions, whatever its name makes of the question.
            response.partitions = Some(if topic.partition().is_some() {
                0
            } else {
                partitions
            });
        }
        Err(refusal) => {
            let refusal = never_not_ready(refusal);
            response.response = Some(LookupType::Failed as i32);
            response.error = Some(refusal.code as i32);
            response.message = Some(refusal.message);
        }
    }
    session.send(turn, Cmd::PartitionMetadataResponse(response));
}

/// `Expectation:` Java, Go and C++ close the connection, with everything on it, over ServiceNotReady in the answer
/// to a lookup; MetadataError they retry.
pub(crate) fn never_not_ready(refusal: Refusal) -> Refusal {
    match refusal.code {
        RefusalCode::ServiceNotReady => Refusal {
            code: RefusalCode::MetadataError,
            ..refusal
        },
        _ => refusal,
    }
}
