use crate::node::parse;
use crate::{TextError, parse_command, print_command};
use bytes::Bytes;
use pulsar_wire::proto::base_command::{Cmd, Type};
use pulsar_wire::proto::{BaseCommand, CommandAck, CommandConnect, MessageIdData};

fn there_and_back(text: &str) -> String {
    print_command(&parse_command(&parse(text).unwrap()).unwrap())
}

#[test]
fn every_command_has_a_name_and_a_body() {
    let types = (0..200).filter_map(|number| Type::try_from(number).ok());
    let mut count = 0;
    for kind in types {
        let name = kind.as_str_name();
        assert_eq!(there_and_back(name), name);
        count += 1;
    }
    assert!(count > 60, "{count}");
}

#[test]
fn fields_go_there_and_back() {
    for text in [
        r#"CONNECT client_version="a \"b\" c\n" auth_data=0x00ff protocol_version=21"#,
        r#"ACK consumer_id=1 ack_type=Individual message_id=[{ledgerId=-1 entryId=3 ack_set=[-5 7]} {ledgerId=1 entryId=0}] request_id=-1"#,
        r#"SUBSCRIBE topic="t" subscription="s" subType=Shared consumer_id=0 request_id=4 durable=false metadata=[{key="k" value="v"}]"#,
    ] {
        assert_eq!(there_and_back(text), text);
    }
}

#[test]
fn presence_is_kept() {
    let mut ack = CommandAck {
        consumer_id: Some(0),
        ..CommandAck::default()
    };
    ack.message_id.push(MessageIdData::default());
    ack.request_id = Some(0);
    let command = BaseCommand::new(Cmd::Ack(ack));
    let text = print_command(&command);
    assert_eq!(text, "ACK consumer_id=0 message_id=[{}] request_id=0");
    assert_eq!(parse_command(&parse(&text).unwrap()).unwrap(), command);
}

#[test]
fn bytes_that_are_no_text_come_back_whole() {
    let connect = CommandConnect {
        auth_data: Some(Bytes::from_static(&[0, 0xff, 10])),
        ..CommandConnect::default()
    };
    let command = BaseCommand::new(Cmd::Connect(connect));
    assert_eq!(print_command(&command), "CONNECT auth_data=0x00ff0a");
    let text = print_command(&command);
    assert_eq!(parse_command(&parse(&text).unwrap()).unwrap(), command);
}

#[test]
fn what_cannot_be_read_is_named() {
    let error = |text: &str| match parse(text) {
        Ok(parts) => parse_command(&parts).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    assert_eq!(error("HELLO"), "there is no command HELLO");
    assert_eq!(error("PING now=1"), "CommandPing has no field now");
    assert!(error("FLOW consumer_id=x").starts_with("Word(\"x\") is no value for consumer_id"));
    assert!(error("FLOW consumer_id").starts_with("expected name=value"));
    assert!(error("FLOW consumer_id={").contains("expected }"));
    assert!(error("FLOW consumer_id=\"").contains("expected a text in quotes"));
    assert!(error("ACK message_id=[").contains("expected a value"));
    let deep = format!("ACK message_id={}", "[".repeat(100));
    assert!(error(&deep).contains("expected fewer brackets"));
    assert!(matches!(parse("FLOW }"), Err(TextError::Expected { .. })));
}
