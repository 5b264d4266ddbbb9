//! The table: a call a line, in the order in which they are asked.
//!
//! ```text
//! method TAB path TAB body TAB status TAB answer
//! ```
//! A path that begins with `/` is whole, others are below `/admin/v2/`. `$LEDGER` in a path or body is the ledger of the
//! last `lastMessageId` that was answered. The method `SEND` publishes: its path is the topic, its body the messages,
//! separated by `|`. Answers are JSON, as [`crate::normal`] leaves it; empty: no body.

use serde_json::Value;

/// A call and its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// `GET`, …, or `SEND`.
    pub method: String,
    /// Where.
    pub path: String,
    /// What is sent, if anything.
    pub body: String,
    /// What a real Pulsar said.
    pub status: u16,
    /// Its body; null where there was none.
    pub answer: Value,
}

impl Row {
    /// How it is named in reports and in the list of differences.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Whether it publishes.
    #[must_use]
    pub fn is_send(&self) -> bool {
        self.method == "SEND"
    }

    /// The messages that it publishes.
    #[must_use]
    pub fn messages(&self) -> Vec<&str> {
        self.body.split('|').collect()
    }
}

/// All of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    head: String,
    /// In order.
    pub rows: Vec<Row>,
}

impl Table {
    /// Reads it; the first line is its head.
    ///
    /// # Errors
    /// Names the line that cannot be read.
    pub fn parse(text: &str) -> Result<Table, String> {
        let mut lines = text.lines();
        let head = lines.next().unwrap_or_default().to_owned();
        let rows = lines.enumerate().map(|(at, line)| row(at + 2, line));
        let rows = rows.collect::<Result<_, _>>()?;
        Ok(Table { head, rows })
    }

    /// As it is kept.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.head);
        for row in &self.rows {
            let answer = match &row.answer {
                Value::Null => String::new(),
                answer => answer.to_string(),
            };
            let status = match row.is_send() {
                true => String::new(),
                false => row.status.to_string(),
            };
            let Row {
                method, path, body, ..
            } = row;
            text.push_str(&format!("{method}\t{path}\t{body}\t{status}\t{answer}\n"));
        }
        text
    }
}

fn row(number: usize, line: &str) -> Result<Row, String> {
    let mut cells = line.split('\t');
    let mut next = || cells.next().unwrap_or_default().to_owned();
    let (method, path, body) = (next(), next(), next());
    let (status, answer) = (next(), next());
    let wrong = |what: &str| format!("line {number}: {what}: {line}");
    let status = match (status.as_str(), method.as_str()) {
        ("", _) => 0,
        (status, _) => status.parse().map_err(|_| wrong("no status"))?,
    };
    let answer = match answer.as_str() {
        "" => Value::Null,
        answer => serde_json::from_str(answer).map_err(|_| wrong("the answer is no JSON"))?,
    };
    Ok(Row {
        method,
        path,
        body,
        status,
        answer,
    })
}
