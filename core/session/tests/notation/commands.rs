//! Commands in the notation of `transcript`, with entries in the notation of `entries`.

use super::entries;
use pulsar_wire::frame::Frame;
use pulsar_wire::proto::BaseCommand;
use transcript::Node;
use transcript::node::Parts;

/// A line in its parts.
pub fn parts(line: &str) -> Parts<'_> {
    transcript::node::parse(line).unwrap_or_else(|error| panic!("{error} in {line:?}"))
}

/// A frame from `COMMAND field=value ... [+ entry]`. Not checked: required fields may be missing.
pub fn parse_frame(line: &str) -> Frame {
    let parts = parts(line);
    let command =
        transcript::parse_command(&parts).unwrap_or_else(|error| panic!("{error} in {line:?}"));
    let payload = parts
        .entry
        .map(|entry| entries::parse(entry, sequence_id(&parts.fields)));
    Frame { command, payload }
}

fn sequence_id(fields: &[(String, Node)]) -> u64 {
    let sequence_id = fields.iter().find(|(name, _)| name == "sequence_id");
    match sequence_id {
        Some((_, Node::Word(number))) => number.parse().expect("a sequence id"),
        _ => 0,
    }
}

/// A command in the same form, fields in the order of their numbers.
pub fn print(command: &BaseCommand) -> String {
    command.validate().expect("the broker sends whole commands");
    transcript::print_command(command)
}
