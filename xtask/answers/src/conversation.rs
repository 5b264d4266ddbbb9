//! Conversations in the binary protocol: what a client says, byte by byte its own doing, and what a real Pulsar answers.
//!
//! ```text
//! == a name
//! # a remark
//! > 1 PRODUCER topic="persistent://public/default/t" producer_id=0 request_id=1
//! < 1 {"command":"PRODUCER_SUCCESS",…}
//! ```
//! `>`: a command on that connection, which is made for the first one; behind a `+` an entry in hex. `$LEDGER` is the ledger
//! of the last receipt. `<`: what is answered, as [`crate::normal`] leaves it, a connection after the other; `closed` if
//! it is closed. PINGs of the broker are answered and not told. A conversation may use any topic that no other uses.

use crate::{Mismatch, mismatches, normal};
use bytes::{BufMut, Bytes, BytesMut};
use pulsar_wire::Message;
use pulsar_wire::frame::{Frame, decode_frame};
use pulsar_wire::proto::base_command::{Cmd, Type};
use pulsar_wire::proto::{BaseCommand, CommandPing, CommandPong};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use transcript::command::from_hex;
use transcript::{Node, parse_command, print_command};

/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a broker may be silent before it is taken to have said all, while its answers are written down.
const SILENCE: Duration = Duration::from_millis(400);

/// No broker here sends more at once.
const FRAME_BYTES_MAX: u32 = 6 * 1024 * 1024;

/// A command and its answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Remarks before it.
    pub remarks: Vec<String>,
    /// On which connection.
    pub connection: u32,
    /// As it is written.
    pub said: String,
    /// What came on which connection.
    pub answers: Vec<(u32, Value)>,
}

/// One conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    /// What it is about.
    pub name: String,
    /// In order.
    pub steps: Vec<Step>,
}

/// Reads a file of conversations.
///
/// # Errors
/// Names the line that cannot be read.
pub fn parse(text: &str) -> Result<Vec<Conversation>, String> {
    let mut all: Vec<Conversation> = Vec::new();
    let mut remarks = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let wrong = |what: &str| format!("line {}: {what}: {line}", at + 1);
        if let Some(name) = line.strip_prefix("== ") {
            let name = name.to_owned();
            let steps = Vec::new();
            all.push(Conversation { name, steps });
            continue;
        }
        if line.is_empty() || line.starts_with('#') {
            if !line.is_empty() {
                remarks.push(line.to_owned());
            }
            continue;
        }
        let (mark, rest) = line.split_once(' ').ok_or_else(|| wrong("no mark"))?;
        let (connection, rest) = rest.split_once(' ').ok_or_else(|| wrong("no number"))?;
        let connection = connection.parse().map_err(|_| wrong("no number"))?;
        let last = all.last_mut().ok_or_else(|| wrong("before any name"))?;
        match mark {
            ">" => last.steps.push(Step {
                remarks: std::mem::take(&mut remarks),
                connection,
                said: rest.to_owned(),
                answers: Vec::new(),
            }),
            "<" => {
                let answer = serde_json::from_str(rest).map_err(|_| wrong("no JSON"))?;
                let step = last.steps.last_mut().ok_or_else(|| wrong("to nothing"))?;
                step.answers.push((connection, answer));
            }
            _ => return Err(wrong("neither > nor <")),
        }
    }
    Ok(all)
}

/// As they are kept.
#[must_use]
pub fn to_text(all: &[Conversation]) -> String {
    let mut text = String::new();
    for conversation in all {
        text.push_str(&format!("== {}\n", conversation.name));
        for step in &conversation.steps {
            for remark in &step.remarks {
                text.push_str(&format!("{remark}\n"));
            }
            text.push_str(&format!("> {} {}\n", step.connection, step.said));
            for (connection, answer) in &step.answers {
                text.push_str(&format!("< {connection} {answer}\n"));
            }
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

impl Conversation {
    /// Has it with a broker (`127.0.0.1:PORT`) and takes its answers.
    ///
    /// # Errors
    /// If the broker cannot be reached, or a command cannot be read.
    pub fn write_down(&mut self, broker: &str) -> io::Result<()> {
        let mut talk = Talk::with(broker);
        for step in &mut self.steps {
            talk.say(step)?;
            step.answers = talk.hear(None)?;
        }
        Ok(())
    }

    /// Has it with a broker; where its answers are not those that are written down, each with the command that it
    /// answers.
    ///
    /// # Errors
    /// If the broker cannot be reached, or a command cannot be read.
    pub fn compare(&self, broker: &str) -> io::Result<Vec<(String, Vec<Mismatch>)>> {
        let mut talk = Talk::with(broker);
        let mut all = Vec::new();
        for (number, step) in self.steps.iter().enumerate() {
            talk.say(step)?;
            let heard = talk.hear(Some(step.answers.len()))?;
            let name = format!(
                "conversation {}, {}: {}",
                self.name,
                number + 1,
                step.verb()
            );
            all.push((name, differing(&step.answers, &heard)));
        }
        Ok(all)
    }
}

impl Step {
    fn verb(&self) -> &str {
        self.said.split(' ').next().unwrap_or_default()
    }
}

fn differing(expected: &[(u32, Value)], heard: &[(u32, Value)]) -> Vec<Mismatch> {
    let count = expected.len().max(heard.len());
    let nothing = (0, Value::Null);
    (0..count)
        .flat_map(|at| {
            let (of, wanted) = expected.get(at).unwrap_or(&nothing);
            let (on, had) = heard.get(at).unwrap_or(&nothing);
            let status = |number: &u32| u16::try_from(*number).unwrap_or(u16::MAX);
            mismatches((status(of), wanted), (status(on), had))
        })
        .collect()
}

/// Connections to a broker.
struct Talk {
    broker: String,
    lines: BTreeMap<u32, Line>,
    ledger: Option<String>,
}

struct Line {
    socket: TcpStream,
    buffer: BytesMut,
    is_closed: bool,
    /// Nothing can be said to it.
    is_deaf: bool,
}

impl Talk {
    fn with(broker: &str) -> Talk {
        Talk {
            broker: broker.to_owned(),
            lines: BTreeMap::new(),
            ledger: None,
        }
    }

    fn say(&mut self, step: &Step) -> io::Result<()> {
        if !self.lines.contains_key(&step.connection) {
            let socket = TcpStream::connect(&self.broker)?;
            let line = Line {
                socket,
                buffer: BytesMut::new(),
                is_closed: false,
                is_deaf: false,
            };
            self.lines.insert(step.connection, line);
        }
        let ledger = self.ledger.as_deref().unwrap_or("0");
        let frame = frame_of(&step.said.replace("$LEDGER", ledger))?;
        if let Some(line) = self.lines.get_mut(&step.connection)
            && line.socket.write_all(&frame).is_err()
        {
            // It says so when it is read.
            line.is_deaf = true;
        }
        Ok(())
    }

    /// Everything that comes: so many answers and what stands before the answer to a PING, or until nothing comes.
    fn hear(&mut self, count: Option<usize>) -> io::Result<Vec<(u32, Value)>> {
        let mut heard = Vec::new();
        let mut deadline = Instant::now() + count.map_or(SILENCE, |_| PATIENCE);
        while Instant::now() < deadline && count.is_none_or(|count| heard.len() < count) {
            let before = heard.len();
            self.listen(&mut heard, &mut Vec::new())?;
            if count.is_none() && heard.len() > before {
                deadline = Instant::now() + SILENCE;
            }
        }
        if count.is_some() {
            self.flush(&mut heard)?;
        }
        heard.sort_by_key(|(connection, _)| *connection);
        Ok(heard)
    }

    /// A PING on each connection that has introduced itself, and what comes before its PONG.
    fn flush(&mut self, heard: &mut Vec<(u32, Value)>) -> io::Result<()> {
        let ping = written(&command(Type::Ping, Cmd::Ping(CommandPing {})), None);
        let mut waiting = Vec::new();
        for (number, line) in &mut self.lines {
            if !line.is_closed && !line.is_deaf && line.socket.write_all(&ping).is_ok() {
                waiting.push(*number);
            }
        }
        let deadline = Instant::now() + PATIENCE;
        while !waiting.is_empty() && Instant::now() < deadline {
            let mut ponged = Vec::new();
            self.listen(heard, &mut ponged)?;
            let closed = self.lines.iter().filter(|(_, line)| line.is_closed);
            ponged.extend(closed.map(|(number, _)| *number));
            waiting.retain(|number| !ponged.contains(number));
        }
        Ok(())
    }

    fn listen(&mut self, heard: &mut Vec<(u32, Value)>, ponged: &mut Vec<u32>) -> io::Result<()> {
        for (number, line) in &mut self.lines {
            for frame in line.read()? {
                match &frame.command.cmd {
                    Some(Cmd::Ping(_)) => {
                        let pong = command(Type::Pong, Cmd::Pong(CommandPong {}));
                        line.is_deaf |= line.socket.write_all(&written(&pong, None)).is_err();
                    }
                    Some(Cmd::Pong(_)) => ponged.push(*number),
                    _ => {
                        let told = told(&frame);
                        if let Some(ledger) = ledger_of(&told) {
                            self.ledger = Some(ledger);
                        }
                        heard.push((*number, normal(&told)));
                    }
                }
            }
            if line.is_closed && !line.buffer.is_empty() {
                line.buffer.clear();
                heard.push((*number, json!("closed")));
            }
        }
        Ok(())
    }
}

impl Line {
    /// The frames that have come; waits a little for one.
    fn read(&mut self) -> io::Result<Vec<Frame>> {
        if self.is_closed {
            return Ok(Vec::new());
        }
        self.socket
            .set_read_timeout(Some(Duration::from_millis(10)))?;
        let mut bytes = [0; 65536];
        match self.socket.read(&mut bytes) {
            Ok(0) => self.close(),
            Ok(count) => self.buffer.extend(bytes.iter().take(count)),
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {}
                _ => self.close(),
            },
        }
        if self.is_closed {
            return Ok(Vec::new());
        }
        let mut frames = Vec::new();
        while let Some(frame) =
            decode_frame(&mut self.buffer, FRAME_BYTES_MAX).map_err(io::Error::other)?
        {
            frames.push(frame);
        }
        Ok(frames)
    }

    /// What is left in the buffer marks that it has not been told yet.
    fn close(&mut self) {
        self.is_closed = true;
        self.buffer.clear();
        self.buffer.put_u8(0);
    }
}

fn command(kind: Type, body: Cmd) -> BaseCommand {
    BaseCommand {
        r#type: kind.into(),
        cmd: Some(body),
    }
}

/// A line as a frame, whole or not: what it lacks is a broker's to find.
fn frame_of(line: &str) -> io::Result<Bytes> {
    let parts = transcript::node::parse(line).map_err(io::Error::other)?;
    let command = parse_command(&parts).map_err(io::Error::other)?;
    let entry = parts.entry.and_then(from_hex);
    Ok(written(&command, entry.as_ref()))
}

fn written(command: &BaseCommand, entry: Option<&Bytes>) -> Bytes {
    let command = command.encode_to_vec();
    let entry_bytes = entry.map_or(0, Bytes::len);
    let length = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let mut frame = BytesMut::new();
    frame.put_u32(length(4 + command.len() + entry_bytes));
    frame.put_u32(length(command.len()));
    frame.extend_from_slice(&command);
    if let Some(entry) = entry {
        frame.extend_from_slice(entry);
    }
    frame.freeze()
}

/// A command as JSON: its name, its fields, the bytes of its entry.
fn told(frame: &Frame) -> Value {
    let text = print_command(&frame.command);
    let Ok(parts) = transcript::node::parse(&text) else {
        return json!({"command": text});
    };
    let mut fields = object(&parts.fields);
    fields.insert("command".to_owned(), json!(parts.name));
    if let Some(entry) = &frame.payload {
        let mut hex = String::new();
        transcript::command::push_hex(&mut hex, entry);
        fields.insert("entry".to_owned(), json!(hex));
    }
    Value::Object(fields)
}

fn object(fields: &[(String, Node)]) -> Map<String, Value> {
    let fields = fields.iter();
    fields
        .map(|(name, node)| (name.clone(), value(node)))
        .collect()
}

fn value(node: &Node) -> Value {
    match node {
        Node::Word(word) => match word.parse::<i64>() {
            Ok(number) => json!(number),
            Err(_) => json!(word),
        },
        Node::Text(text) => json!(text),
        Node::List(all) => all.iter().map(value).collect(),
        Node::Group(fields) => Value::Object(object(fields)),
    }
}

fn ledger_of(told: &Value) -> Option<String> {
    let id = told.get("message_id")?.get("ledgerId")?;
    Some(id.to_string())
}
