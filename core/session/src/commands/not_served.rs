//! Commands that are understood and not served yet: each is told so in the type its client waits for.

use crate::answers;
use crate::face::CloseReason;
use crate::gate::{Action, Resource};
use crate::session::{Session, Turn, name_of};
use letters::{Refusal, RefusalCode};
use pulsar_wire::proto::base_command::Cmd;

pub(crate) fn came(session: &mut Session, turn: &mut Turn<'_>, command: &Cmd) {
    let Some(action) = action(command) else {
        return session.close(
            turn,
            CloseReason::BrokerCommand(name_of(command.command_type())),
        );
    };
    let refusal = match ask(session, action, command) {
        Err(refusal) => refusal,
        Ok(()) => {
            let text = format!(
                "{} is not served by this broker yet",
                name_of(command.command_type())
            );
            Refusal::new(RefusalCode::NotAllowedError, text)
        }
    };
    let answer = answers::refusing(command, refusal);
    session.refuse(turn, answer);
}

/// What a client wants with a command; `None` for commands of brokers.
fn action(command: &Cmd) -> Option<Action> {
    Some(match command {
        Cmd::AuthResponse(_) => Action::Connect,
        Cmd::NewTxn(_)
        | Cmd::AddPartitionToTxn(_)
        | Cmd::AddSubscriptionToTxn(_)
        | Cmd::EndTxn(_)
        | Cmd::EndTxnOnPartition(_)
        | Cmd::EndTxnOnSubscription(_)
        | Cmd::TcClientConnectRequest(_)
        | Cmd::WatchTcAssignments(_)
        | Cmd::WatchTcAssignmentsClose(_) => Action::Transact,
        Cmd::ScalableTopicLookup(_)
        | Cmd::ScalableTopicClose(_)
        | Cmd::ScalableTopicSubscribe(_)
        | Cmd::WatchScalableTopics(_)
        | Cmd::WatchScalableTopicsClose(_) => Action::UseScalableTopics,
        _ => return None,
    })
}

fn ask(session: &Session, action: Action, command: &Cmd) -> Result<(), Refusal> {
    match command {
        Cmd::WatchScalableTopics(c) => session.may(action, Resource::Namespace(c.namespace())),
        _ => session.may(action, Resource::Broker),
    }
}
