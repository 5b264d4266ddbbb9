use crate::frames::Frames;
use crate::relay::pass;
use crate::writer;
use bytes::BytesMut;
use pulsar_wire::frame::encode_command;
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{BaseCommand, CommandPing};
use tokio::io::duplex;
use transcript::Speaker;

/// What one side says, and whom the recorder takes for the one that ended.
async fn ended_by(speaker: Speaker, said: &[u8], is_listener_gone: bool) -> Speaker {
    let (pen, _) = writer::start(Box::new(std::io::sink()));
    let (mut to, listener) = duplex(1024);
    let listener = (!is_listener_gone).then_some(listener);
    let by = pass(&mut Frames::of(said), &mut to, |_| {}, speaker, 1, &pen).await;
    drop(listener);
    by
}

#[tokio::test]
async fn who_says_no_more_has_ended_the_connection() {
    assert_eq!(ended_by(Speaker::Client, b"", false).await, Speaker::Client);
    assert_eq!(ended_by(Speaker::Broker, b"", false).await, Speaker::Broker);
}

#[tokio::test]
async fn who_takes_no_more_has_ended_the_connection_too() {
    let mut ping = BytesMut::new();
    encode_command(&BaseCommand::new(Cmd::Ping(CommandPing {})), &mut ping);
    assert_eq!(
        ended_by(Speaker::Broker, &ping, true).await,
        Speaker::Client
    );
    assert_eq!(
        ended_by(Speaker::Client, &ping, true).await,
        Speaker::Broker
    );
}
