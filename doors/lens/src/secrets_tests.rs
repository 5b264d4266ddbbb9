use crate::secrets::hide;
use bytes::Bytes;
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{AuthData, BaseCommand, CommandAuthResponse, CommandConnect};
use transcript::print_command;

fn hidden(body: Cmd) -> String {
    let mut command = BaseCommand::new(body);
    hide(&mut command);
    print_command(&command)
}

#[test]
fn no_credential_is_written_down() {
    let secret = || Some(Bytes::from_static(b"secret"));
    let connect = CommandConnect {
        auth_method_name: Some("token".to_owned()),
        auth_data: secret(),
        original_auth_data: Some("secret".to_owned()),
        ..CommandConnect::default()
    };
    let response = CommandAuthResponse {
        response: Some(AuthData {
            auth_data: secret(),
            ..AuthData::default()
        }),
        ..CommandAuthResponse::default()
    };
    for text in [
        hidden(Cmd::Connect(connect)),
        hidden(Cmd::AuthResponse(response)),
    ] {
        assert!(!text.contains("secret"), "{text}");
        assert!(text.contains("(hidden)"), "{text}");
    }
}

#[test]
fn absent_credentials_stay_absent() {
    assert_eq!(hidden(Cmd::Connect(CommandConnect::default())), "CONNECT");
}
