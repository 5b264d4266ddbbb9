use crate::frames::{Frames, Heard};
use bytes::{BufMut, BytesMut};
use pulsar_wire::frame::encode_command;
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{BaseCommand, CommandFlow, CommandPing};

fn ping() -> BytesMut {
    let mut bytes = BytesMut::new();
    encode_command(&BaseCommand::new(Cmd::Ping(CommandPing {})), &mut bytes);
    bytes
}

async fn all(bytes: &[u8]) -> Vec<Heard> {
    let mut frames = Frames::of(bytes);
    let mut heard = Vec::new();
    while let Some(next) = frames.next().await.unwrap() {
        heard.push(next);
    }
    heard
}

fn bytes_of(heard: &[Heard]) -> Vec<u8> {
    let mut all = Vec::new();
    for heard in heard {
        match heard {
            Heard::Frame(_, bytes) | Heard::Bytes(bytes) => all.extend_from_slice(bytes),
        }
    }
    all
}

fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(future)
}

#[test]
fn frames_are_told_apart_and_come_out_as_they_were() {
    let mut sent = ping();
    let flow = CommandFlow {
        consumer_id: Some(1),
        message_permits: Some(2),
    };
    encode_command(&BaseCommand::new(Cmd::Flow(flow)), &mut sent);
    let heard = block_on(all(&sent));
    assert_eq!(heard.len(), 2);
    assert!(heard.iter().all(|heard| matches!(heard, Heard::Frame(..))));
    assert_eq!(bytes_of(&heard), sent);
}

#[test]
fn a_bad_frame_passes_and_the_next_one_is_understood() {
    let mut sent = BytesMut::new();
    sent.put_u32(6);
    sent.put_u32(2);
    sent.put_slice(&[0xff, 0xff]);
    sent.extend_from_slice(&ping());
    let heard = block_on(all(&sent));
    assert!(matches!(heard[0], Heard::Bytes(_)));
    assert!(matches!(heard[1], Heard::Frame(..)));
    assert_eq!(bytes_of(&heard), sent);
}

#[test]
fn what_is_no_frame_at_all_passes_whole() {
    let sent = b"GET / HTTP/1.1\r\n\r\nmore";
    let heard = block_on(all(sent));
    assert!(heard.iter().all(|heard| matches!(heard, Heard::Bytes(_))));
    assert_eq!(bytes_of(&heard), sent);
}

#[test]
fn an_end_within_a_frame_passes_too() {
    let sent = &ping()[..5];
    let heard = block_on(all(sent));
    assert_eq!(bytes_of(&heard), sent);
}
