//! CONNECT: who the client is, and what both can do. Answer: CONNECTED, or ERROR(-1) and the end.

use crate::answers;
use crate::face::CloseReason;
use crate::gate::{Action, Resource};
use crate::peer::PROTOCOL_VERSION;
use crate::session::{Phase, Session, Turn};
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{CommandConnect, CommandConnected, FeatureFlags};

/// Credentials are not looked at, as in Pulsar with authentication disabled. Nor is `proxy_to_broker_url`: a
/// client that was told to keep to the address it used names us there.
pub(crate) fn came(session: &mut Session, turn: &mut Turn<'_>, command: CommandConnect) {
    session
        .peer
        .introduced(command.client_version(), command.protocol_version());
    if let Err(refusal) = session.may(Action::Connect, Resource::Broker) {
        let reason = CloseReason::ConnectRefused(refusal.message.clone());
        let answer = answers::refusing(&Cmd::Connect(command), refusal);
        session.refuse(turn, answer);
        return session.close(turn, reason);
    }
    session.phase = Phase::Connected;
    let connected = CommandConnected {
        server_version: Some(session.settings.server_version.clone()),
        protocol_version: Some(session.peer.protocol_version.min(PROTOCOL_VERSION)),
        max_message_size: Some(
            i32::try_from(session.settings.max_message_size).unwrap_or(i32::MAX),
        ),
        feature_flags: Some(served_features(session)),
    };
    session.send(turn, Cmd::Connected(connected));
}

/// Only what is served: clients rely on a flag without asking again.
fn served_features(session: &Session) -> FeatureFlags {
    let watchers = session.settings.topic_watchers_offered;
    FeatureFlags {
        supports_topic_watchers: Some(watchers),
        supports_topic_watcher_reconcile: Some(watchers),
        supports_get_partitioned_metadata_without_auto_creation: Some(true),
        ..Default::default()
    }
}
