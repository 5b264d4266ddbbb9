//! Is a decoded message whole? Proto2 makes some fields mandatory and leaves it to the reader to insist.
//!
//! `validate()` exists on every message of `proto` and is generated from the labels in the proto files; it looks into
//! the messages inside, too. A required enum field with a number the enum does not have counts as absent, as proto2
//! says; `ServerError` is excepted, because brokers append codes and an unknown one still says that something failed.

use thiserror::Error;

use crate::proto::BaseCommand;
use crate::proto::base_command::{Cmd, Type};

/// A mandatory field is not there. The peer speaks something else, or the bytes are damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("required field `{field}` of {message} is missing")]
pub struct MissingField {
    /// The message's name in the proto file.
    pub message: &'static str,
    /// The field's name in the proto file.
    pub field: &'static str,
}

/// Why a decoded BaseCommand cannot be acted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum InvalidCommand {
    /// A mandatory field is absent; `BaseCommand.type` counts as absent where it is 0.
    #[error(transparent)]
    MissingField(#[from] MissingField),
    /// `type` is a number this protocol version has no command for.
    #[error("command type {0} is unknown")]
    UnknownType(i32),
    /// `type` announces a command, and its body is not there.
    #[error("the command says it is {0:?} but carries no body")]
    MissingBody(Type),
    /// `type` announces one command, the body belongs to another. Where several bodies came, the last one counts.
    #[error("the command says it is {announced:?} but carries the body of {carried:?}")]
    MismatchedBody {
        /// What `type` says.
        announced: Type,
        /// What the body is.
        carried: Type,
    },
}

impl BaseCommand {
    /// A command with this body and the `type` that belongs to it.
    pub fn new(cmd: Cmd) -> BaseCommand {
        BaseCommand {
            r#type: cmd.command_type() as i32,
            cmd: Some(cmd),
        }
    }

    /// The body, if the command is whole: `type` is there and known, its body and no other is present, and no required
    /// field is missing anywhere inside. Anything else is a protocol error that ends the connection.
    pub fn validate(&self) -> Result<&Cmd, InvalidCommand> {
        if self.r#type == 0 {
            return Err(MissingField {
                message: "BaseCommand",
                field: "type",
            }
            .into());
        }
        let announced =
            Type::try_from(self.r#type).map_err(|_| InvalidCommand::UnknownType(self.r#type))?;
        let cmd = self
            .cmd
            .as_ref()
            .ok_or(InvalidCommand::MissingBody(announced))?;
        let carried = cmd.command_type();
        if carried != announced {
            return Err(InvalidCommand::MismatchedBody { announced, carried });
        }
        cmd.validate()?;
        Ok(cmd)
    }
}

impl From<Cmd> for BaseCommand {
    fn from(cmd: Cmd) -> BaseCommand {
        BaseCommand::new(cmd)
    }
}

include!(concat!(env!("OUT_DIR"), "/commands.rs"));
include!(concat!(env!("OUT_DIR"), "/validators.rs"));
