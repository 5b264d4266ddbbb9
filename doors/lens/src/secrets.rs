//! What proves who somebody is never gets into a transcript: transcripts are shown to others.

use bytes::Bytes;
use pulsar_wire::proto::BaseCommand;
use pulsar_wire::proto::base_command::Cmd;

const HIDDEN: &str = "(hidden)";

/// The command as it may be written down.
pub fn hide(command: &mut BaseCommand) {
    match &mut command.cmd {
        Some(Cmd::Connect(connect)) => {
            hide_bytes(&mut connect.auth_data);
            if let Some(data) = &mut connect.original_auth_data {
                *data = HIDDEN.to_owned();
            }
        }
        Some(Cmd::AuthChallenge(challenge)) => {
            if let Some(data) = &mut challenge.challenge {
                hide_bytes(&mut data.auth_data);
            }
        }
        Some(Cmd::AuthResponse(response)) => {
            if let Some(data) = &mut response.response {
                hide_bytes(&mut data.auth_data);
            }
        }
        _ => {}
    }
}

fn hide_bytes(data: &mut Option<Bytes>) {
    if data.as_ref().is_some_and(|data| !data.is_empty()) {
        *data = Some(Bytes::from_static(HIDDEN.as_bytes()));
    }
}
