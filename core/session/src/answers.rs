//! How each command is told no. The type of the answer belongs to the command: a client waits for that type and
//! for no other.

use crate::face::{OutFrame, WriteToken};
use letters::{Refusal, RefusalCode};
use pulsar_wire::Message;
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{
    command_lookup_topic_response, command_partitioned_topic_metadata_response, *,
};

/// The request id of answers to no request: -1.
pub(crate) const NO_REQUEST: u64 = u64::MAX;

/// ERROR as a connection gets it that is refused before any request, for the door to write and then close:
/// too many connections, or not ready.
pub fn handshake_error(code: RefusalCode, message: &str) -> OutFrame {
    let error = CommandError {
        request_id: Some(NO_REQUEST),
        error: Some(code as i32),
        message: Some(message.to_owned()),
    };
    let command = BaseCommand::new(Cmd::Error(error));
    let bytes = command.encoded_len() as u64;
    OutFrame {
        command,
        payload: None,
        token: WriteToken {
            bytes,
            delivered_to: None,
        },
    }
}

/// The answer that refuses a client's command; `None` where the protocol has none, or the client asked for none.
/// SEND is not among them: its refusals wait their turn (see `commands/send`).
pub(crate) fn refusing(command: &Cmd, refusal: Refusal) -> Option<Cmd> {
    let code = Some(refusal.code as i32);
    let text = Some(refusal.message);
    let error = |request_id| {
        Some(Cmd::Error(CommandError {
            request_id: Some(request_id),
            error: code,
            message: text.clone(),
        }))
    };
    match command {
        Cmd::Subscribe(c) => error(c.request_id()),
        Cmd::Producer(c) => error(c.request_id()),
        Cmd::Unsubscribe(c) => error(c.request_id()),
        Cmd::CloseProducer(c) => error(c.request_id()),
        Cmd::CloseConsumer(c) => error(c.request_id()),
        Cmd::Seek(c) => error(c.request_id()),
        Cmd::GetLastMessageId(c) => error(c.request_id()),
        Cmd::GetTopicsOfNamespace(c) => error(c.request_id()),
        Cmd::WatchTopicList(c) => error(c.request_id()),
        Cmd::WatchTopicListClose(c) => error(c.request_id()),
        // `Expectation:` Java takes ERROR, not the typed response, as the final word on a coordinator.
        Cmd::TcClientConnectRequest(c) => error(c.request_id()),
        Cmd::Connect(_) | Cmd::AuthResponse(_) => error(NO_REQUEST),
        Cmd::Ack(c) => c.request_id.map(|request_id| {
            Cmd::AckResponse(CommandAckResponse {
                consumer_id: c.consumer_id,
                txnid_least_bits: c.txnid_least_bits,
                txnid_most_bits: c.txnid_most_bits,
                error: code,
                message: text,
                request_id: Some(request_id),
            })
        }),
        Cmd::PartitionMetadata(c) => Some(Cmd::PartitionMetadataResponse(
            CommandPartitionedTopicMetadataResponse {
                request_id: c.request_id,
                response: Some(
                    command_partitioned_topic_metadata_response::LookupType::Failed as i32,
                ),
                error: code,
                message: text,
                ..Default::default()
            },
        )),
        Cmd::LookupTopic(c) => Some(Cmd::LookupTopicResponse(CommandLookupTopicResponse {
            request_id: c.request_id,
            response: Some(command_lookup_topic_response::LookupType::Failed as i32),
            error: code,
            message: text,
            ..Default::default()
        })),
        Cmd::ConsumerStats(c) => Some(Cmd::ConsumerStatsResponse(CommandConsumerStatsResponse {
            request_id: c.request_id,
            error_code: code,
            error_message: text,
            ..Default::default()
        })),
        Cmd::GetSchema(c) => Some(Cmd::GetSchemaResponse(CommandGetSchemaResponse {
            request_id: c.request_id,
            error_code: code,
            error_message: text,
            ..Default::default()
        })),
        Cmd::GetOrCreateSchema(c) => Some(Cmd::GetOrCreateSchemaResponse(
            CommandGetOrCreateSchemaResponse {
                request_id: c.request_id,
                error_code: code,
                error_message: text,
                ..Default::default()
            },
        )),
        transactional_or_scalable => refusing_the_rest(transactional_or_scalable, code, text),
    }
}

/// Commands of transactions and of scalable topics. `Expectation:` Java finds a transaction's request by the
/// coordinator's number in the answer and closes the connection where it finds none, so the id is always echoed.
fn refusing_the_rest(command: &Cmd, error: Option<i32>, message: Option<String>) -> Option<Cmd> {
    Some(match command {
        Cmd::NewTxn(c) => Cmd::NewTxnResponse(CommandNewTxnResponse {
            request_id: c.request_id,
            txnid_least_bits: Some(0),
            txnid_most_bits: Some(c.tc_id()),
            error,
            message,
        }),
        Cmd::AddPartitionToTxn(c) => {
            Cmd::AddPartitionToTxnResponse(CommandAddPartitionToTxnResponse {
                request_id: c.request_id,
                txnid_least_bits: Some(c.txnid_least_bits()),
                txnid_most_bits: Some(c.txnid_most_bits()),
                error,
                message,
            })
        }
        Cmd::AddSubscriptionToTxn(c) => {
            Cmd::AddSubscriptionToTxnResponse(CommandAddSubscriptionToTxnResponse {
                request_id: c.request_id,
                txnid_least_bits: Some(c.txnid_least_bits()),
                txnid_most_bits: Some(c.txnid_most_bits()),
                error,
                message,
            })
        }
        Cmd::EndTxn(c) => Cmd::EndTxnResponse(CommandEndTxnResponse {
            request_id: c.request_id,
            txnid_least_bits: Some(c.txnid_least_bits()),
            txnid_most_bits: Some(c.txnid_most_bits()),
            error,
            message,
        }),
        Cmd::EndTxnOnPartition(c) => {
            Cmd::EndTxnOnPartitionResponse(CommandEndTxnOnPartitionResponse {
                request_id: c.request_id,
                txnid_least_bits: Some(c.txnid_least_bits()),
                txnid_most_bits: Some(c.txnid_most_bits()),
                error,
                message,
            })
        }
        Cmd::EndTxnOnSubscription(c) => {
            Cmd::EndTxnOnSubscriptionResponse(CommandEndTxnOnSubscriptionResponse {
                request_id: c.request_id,
                txnid_least_bits: Some(c.txnid_least_bits()),
                txnid_most_bits: Some(c.txnid_most_bits()),
                error,
                message,
            })
        }
        Cmd::ScalableTopicLookup(c) => Cmd::ScalableTopicUpdate(CommandScalableTopicUpdate {
            session_id: c.session_id,
            error,
            message,
            ..Default::default()
        }),
        Cmd::ScalableTopicSubscribe(c) => {
            Cmd::ScalableTopicSubscribeResponse(CommandScalableTopicSubscribeResponse {
                request_id: c.request_id,
                error,
                message,
                ..Default::default()
            })
        }
        Cmd::WatchScalableTopics(c) => {
            Cmd::WatchScalableTopicsUpdate(CommandWatchScalableTopicsUpdate {
                watch_id: c.watch_id,
                error,
                message,
                ..Default::default()
            })
        }
        Cmd::WatchTcAssignments(c) => {
            Cmd::WatchTcAssignmentsUpdate(CommandWatchTcAssignmentsUpdate {
                watch_id: c.watch_id,
                error,
                message,
                ..Default::default()
            })
        }
        _ => return None,
    })
}
