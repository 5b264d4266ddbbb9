use super::inbound::{Inbound, Read};
use super::outbox::Outbox;
use bytes::{Bytes, BytesMut};
use letters::RefusalCode;
use pulsar_wire::frame::{FrameError, decode_frame, encode_payload_header, max_frame_size};
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{BaseCommand, CommandSend};
use session::{OutFrame, WrittenFrames, handshake_error};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap())
        .await
        .unwrap();
    (listener.accept().await.unwrap().0, client)
}

fn send_command() -> BaseCommand {
    let send = CommandSend {
        producer_id: Some(1),
        sequence_id: Some(2),
        ..CommandSend::default()
    };
    BaseCommand::new(Cmd::Send(send))
}

fn with_payload(bytes: usize) -> OutFrame {
    let mut frame = handshake_error(RefusalCode::UnknownError, "x");
    frame.command = send_command();
    frame.payload = Some(Bytes::from(vec![7; bytes]));
    frame
}

#[tokio::test]
async fn frames_arrive_whole_and_in_order_through_a_socket_that_takes_little_at_a_time() {
    let (ours, mut theirs) = pair().await;
    let sizes = [1, 512, 513, 300_000, 3, 4_000_000, 100];
    let mut outbox = Outbox::default();
    for size in sizes {
        outbox.push(with_payload(size));
        outbox.push(handshake_error(RefusalCode::UnknownError, "between"));
    }
    let reading = tokio::spawn(async move {
        let mut buffer = BytesMut::new();
        let mut found = Vec::new();
        while found.len() < 2 * sizes.len() {
            match decode_frame(&mut buffer, max_frame_size(5_000_000)).unwrap() {
                Some(frame) => found.push(frame.payload.map_or(0, |payload| payload.len())),
                None => assert!(theirs.read_buf(&mut buffer).await.unwrap() > 0),
            }
        }
        found
    });
    let mut written = WrittenFrames::new();
    while !outbox.is_empty() {
        outbox.write(&ours, &mut written).unwrap();
        if !outbox.is_empty() {
            ours.writable().await.unwrap();
        }
    }
    let expected: Vec<usize> = sizes.iter().flat_map(|size| [*size, 0]).collect();
    assert_eq!(reading.await.unwrap(), expected);
    assert!(!written.is_empty());
}

#[tokio::test]
async fn a_frame_counts_as_written_only_when_its_last_byte_is() {
    let (ours, theirs) = pair().await;
    let mut outbox = Outbox::default();
    // More than the socket's buffers hold: nobody reads on the other side.
    outbox.push(with_payload(64_000_000));
    let mut written = WrittenFrames::new();
    outbox.write(&ours, &mut written).unwrap();
    assert!(written.is_empty());
    assert!(!outbox.is_empty());
    assert!(outbox.written_bytes() > 0);
    drop(theirs);
}

#[tokio::test]
async fn frames_are_read_whatever_pieces_they_come_in() {
    let (ours, mut theirs) = pair().await;
    let mut bytes = BytesMut::new();
    encode_payload_header(&send_command(), 200_000, &mut bytes);
    bytes.extend_from_slice(&vec![9; 200_000]);
    let both = [bytes.clone(), bytes].concat();
    let writing = tokio::spawn(async move {
        for piece in both.chunks(70_001) {
            theirs.write_all(piece).await.unwrap();
        }
        theirs
    });
    let mut inbound = Inbound::new(max_frame_size(5_000_000));
    let mut found = 0;
    while found < 2 {
        ours.readable().await.unwrap();
        assert_ne!(inbound.read(&ours).unwrap(), Read::End);
        while let Some(frame) = inbound.next_frame(true).unwrap() {
            assert_eq!(frame.payload.unwrap().len(), 200_000);
            found += 1;
        }
    }
    drop(writing.await.unwrap());
    ours.readable().await.unwrap();
    assert_eq!(inbound.read(&ours).unwrap(), Read::End);
}

#[tokio::test]
async fn who_was_not_let_in_gets_no_room_for_large_frames() {
    let (ours, mut theirs) = pair().await;
    let mut bytes = BytesMut::new();
    encode_payload_header(&send_command(), 100_000, &mut bytes);
    theirs.write_all(&bytes).await.unwrap();
    let mut inbound = Inbound::new(max_frame_size(5_000_000));
    ours.readable().await.unwrap();
    assert_eq!(inbound.read(&ours).unwrap(), Read::Some(bytes.len()));
    let refused = inbound.next_frame(false);
    assert!(
        matches!(refused, Err(FrameError::TooLarge { limit: 65_536, .. })),
        "{refused:?}"
    );
    assert_eq!(inbound.next_frame(true), Ok(None));
}
