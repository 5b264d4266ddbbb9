//! Asking a broker, a call at a time.

use crate::Row;
use serde_json::{Map, Value};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a broker said.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// Its status.
    pub status: u16,
    /// Its body as JSON (a text, where it is none), with the `X-Pulsar-` headers of a message; null where there is none.
    pub body: Value,
}

/// One broker, and what is remembered of its answers.
#[derive(Debug)]
pub struct Asker {
    web: String,
    ledger: Option<String>,
}

impl Asker {
    /// `web`: `127.0.0.1:PORT`.
    #[must_use]
    pub fn new(web: &str) -> Asker {
        Asker {
            web: web.to_owned(),
            ledger: None,
        }
    }

    /// Asks what a row asks.
    ///
    /// # Errors
    /// If the broker cannot be reached, or what it says is no HTTP.
    pub fn ask(&mut self, row: &Row) -> io::Result<Answered> {
        let path = self.filled(&row.path);
        let path = match path.starts_with('/') {
            true => path,
            false => format!("/admin/v2/{path}"),
        };
        let Raw {
            status,
            headers,
            body,
        } = call(&self.web, &row.method, &path, &self.filled(&row.body))?;
        let said = headers
            .iter()
            .filter(|(name, _)| name.starts_with("x-pulsar-"));
        let said: Map<String, Value> = said
            .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
            .collect();
        let body = match serde_json::from_str(&body) {
            _ if !said.is_empty() => {
                let mut said = said;
                said.insert("payload".to_owned(), Value::from(body));
                Value::Object(said)
            }
            Ok(json) => json,
            Err(_) if body.is_empty() => Value::Null,
            Err(_) => Value::from(body),
        };
        if row.path.ends_with("/lastMessageId")
            && let Some(ledger) = body.get("ledgerId")
        {
            self.ledger = Some(ledger.to_string());
        }
        Ok(Answered { status, body })
    }

    fn filled(&self, text: &str) -> String {
        text.replace("$LEDGER", self.ledger.as_deref().unwrap_or("-1"))
    }
}

/// An answer as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raw {
    /// Its status.
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: String,
}

/// Asks whatever is asked.
///
/// # Errors
/// If the broker cannot be reached, or what it says is no HTTP.
pub fn call(web: &str, method: &str, path: &str, body: &str) -> io::Result<Raw> {
    let mut socket = TcpStream::connect(web)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let kind = match body.is_empty() {
        true => "",
        false => "Content-Type: application/json\r\n",
    };
    write!(
        socket,
        "{method} {path} HTTP/1.0\r\nHost: {web}\r\n{kind}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    let no_http = || io::Error::other(format!("no HTTP answer to {method} {path}: {answer:?}"));
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(no_http)?;
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1));
    let status = status.and_then(|status| status.parse().ok());
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
    Ok(Raw {
        status: status.ok_or_else(no_http)?,
        headers: headers.collect(),
        body: body.to_owned(),
    })
}
