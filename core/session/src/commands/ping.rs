//! PING and PONG, and the question of topics whether the peer is alive.

use crate::session::{Session, Turn};
use letters::TopicLetter;
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{CommandPing, CommandPong};
use vocabulary::TopicName;

pub(crate) fn came(session: &mut Session, turn: &mut Turn<'_>) {
    session.send(turn, Cmd::Pong(CommandPong {}));
}

/// Somebody wants a place this peer holds. Any frame from now on shows that it is alive.
///
/// `Expectation:` clients that restart in a hurry find their old connection half open and their name taken.
pub(crate) fn asked_for(session: &mut Session, turn: &mut Turn<'_>, topic: TopicName, token: u64) {
    if session.probes.timeout().is_zero() {
        return session.write(turn, &topic, TopicLetter::StillHere { token });
    }
    session.probes.asked(topic, token, turn.now.moment);
    if session.peer.knows_ping() {
        session.send(turn, Cmd::Ping(CommandPing {}));
    }
}
