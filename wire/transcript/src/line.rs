//! A recorded conversation, line by line.
//!
//! ```text
//! # a remark
//! 0     1 opened
//! 3     1 C CONNECT client_version="Pulsar-Java-v4.0.13" protocol_version=21
//! 5     1 B CONNECTED server_version="Pulsar Server" protocol_version=21
//! 18    1 C SEND producer_id=0 sequence_id=0 num_messages=1 + 0e01...
//! 40    1 C! 0000000412345678
//! 95    1 closed by client
//! ```
//! Milliseconds since the beginning, the connection's number, who speaks (C: the client, B: the broker), the command;
//! behind a `+` the entry of SEND and MESSAGE, byte by byte. `C!` and `B!`: bytes that are no frame.

use crate::command::{from_hex, parse_command, print_command, push_hex};
use crate::node::{self, TextError};
use bytes::Bytes;
use pulsar_wire::frame::Frame;
use std::fmt;
use std::str::FromStr;

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// Who connected.
    Client,
    /// Who was connected to.
    Broker,
}

/// What happened on a connection.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// It was made.
    Opened,
    /// A frame.
    Frame(Speaker, Box<Frame>),
    /// What is no frame.
    Bytes(Speaker, Bytes),
    /// One end closed it, or it broke.
    Closed(Speaker),
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Milliseconds since the beginning.
    pub at_millis: u64,
    /// The number of the connection, from 1.
    pub connection: u32,
    /// What happened.
    pub said: Said,
}

impl Speaker {
    fn letter(self) -> char {
        match self {
            Speaker::Client => 'C',
            Speaker::Broker => 'B',
        }
    }

    fn name(self) -> &'static str {
        match self {
            Speaker::Client => "client",
            Speaker::Broker => "broker",
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<6} {} ", self.at_millis, self.connection)?;
        match &self.said {
            Said::Opened => f.write_str("opened"),
            Said::Closed(by) => write!(f, "closed by {}", by.name()),
            Said::Bytes(by, bytes) => write!(f, "{}! {}", by.letter(), hex(bytes)),
            Said::Frame(by, frame) => {
                let command = print_command(&frame.command);
                write!(f, "{} {command}", by.letter())?;
                match &frame.payload {
                    Some(entry) => write!(f, " + {}", hex(entry)),
                    None => Ok(()),
                }
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    push_hex(&mut text, bytes);
    text
}

impl FromStr for Line {
    type Err = TextError;

    fn from_str(line: &str) -> Result<Line, TextError> {
        let (at_millis, rest) = number(line, "milliseconds")?;
        let (connection, rest) = number(rest, "a connection's number")?;
        let connection =
            u32::try_from(connection).map_err(|_| expected("a connection's number", rest))?;
        Ok(Line {
            at_millis,
            connection,
            said: said(rest)?,
        })
    }
}

fn said(text: &str) -> Result<Said, TextError> {
    match text {
        "opened" => return Ok(Said::Opened),
        "closed by client" => return Ok(Said::Closed(Speaker::Client)),
        "closed by broker" => return Ok(Said::Closed(Speaker::Broker)),
        _ => {}
    }
    let (who, rest) = text
        .split_once(' ')
        .ok_or_else(|| expected("who says what", text))?;
    match who {
        "C" => Ok(Said::Frame(Speaker::Client, Box::new(frame(rest)?))),
        "B" => Ok(Said::Frame(Speaker::Broker, Box::new(frame(rest)?))),
        "C!" => Ok(Said::Bytes(Speaker::Client, bytes(rest)?)),
        "B!" => Ok(Said::Bytes(Speaker::Broker, bytes(rest)?)),
        _ => Err(expected("C, B, C!, B!, opened or closed", text)),
    }
}

fn frame(text: &str) -> Result<Frame, TextError> {
    let parts = node::parse(text)?;
    let command = parse_command(&parts)?;
    let payload = parts.entry.map(bytes).transpose()?;
    Ok(Frame { command, payload })
}

fn bytes(text: &str) -> Result<Bytes, TextError> {
    from_hex(text).ok_or_else(|| expected("pairs of hex digits", text))
}

fn number<'a>(text: &'a str, what: &'static str) -> Result<(u64, &'a str), TextError> {
    let text = text.trim_start();
    let (word, rest) = text.split_once(' ').ok_or_else(|| expected(what, text))?;
    let number = word.parse().map_err(|_| expected(what, text))?;
    Ok((number, rest.trim_start()))
}

fn expected(expected: &'static str, rest: &str) -> TextError {
    let rest = rest.chars().take(40).collect();
    TextError::Expected { expected, rest }
}
