//! Names and values: `NAME a=1 b="text" c={d=2} e=[1 2]`.

use thiserror::Error;

/// Groups and lists within each other; the protocol's commands have three.
const DEPTH_MAX: u32 = 16;

/// Why a text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TextError {
    /// Something else was expected here.
    #[error("expected {expected} at {rest:?}")]
    Expected {
        /// What.
        expected: &'static str,
        /// What stands there, its beginning.
        rest: String,
    },
    /// The protocol has no such command.
    #[error("there is no command {0}")]
    NoSuchCommand(String),
    /// The message has no such field.
    #[error("{message} has no field {field}")]
    NoSuchField {
        /// The message.
        message: String,
        /// The field.
        field: String,
    },
    /// The value is not one of that field.
    #[error("{value} is no value for {field}, which is {kind}")]
    BadValue {
        /// The field.
        field: String,
        /// What it holds.
        kind: String,
        /// What was written.
        value: String,
    },
}

impl TextError {
    fn expected(expected: &'static str, rest: &str) -> TextError {
        let rest = rest.chars().take(40).collect();
        TextError::Expected { expected, rest }
    }
}

/// A value as written.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// A number, a name, a position.
    Word(String),
    /// A text in quotes, escaped as in JSON.
    Text(String),
    /// `[a b]`
    List(Vec<Node>),
    /// `{a=1 b=2}`
    Group(Vec<(String, Node)>),
}

/// A line in its parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts<'a> {
    /// The first word.
    pub name: String,
    /// What follows it.
    pub fields: Vec<(String, Node)>,
    /// What follows a `+`.
    pub entry: Option<&'a str>,
}

/// `NAME a=1 b=2`, up to the end or a `+`.
///
/// # Errors
/// Where it is not of that form.
pub fn parse(line: &str) -> Result<Parts<'_>, TextError> {
    let mut reader = Reader {
        rest: line,
        depth: 0,
    };
    let name = reader.word();
    let fields = reader.fields()?;
    let entry = reader.rest.strip_prefix('+').map(str::trim);
    if entry.is_none() && !reader.rest.is_empty() {
        return Err(TextError::expected("a field or the end", reader.rest));
    }
    Ok(Parts {
        name,
        fields,
        entry,
    })
}

struct Reader<'a> {
    rest: &'a str,
    depth: u32,
}

impl Reader<'_> {
    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn word(&mut self) -> String {
        self.skip_spaces();
        let end = self
            .rest
            .find([' ', '=', '{', '}', '[', ']', '"'])
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }

    fn eat(&mut self, what: char) -> bool {
        self.skip_spaces();
        match self.rest.strip_prefix(what) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn fields(&mut self) -> Result<Vec<(String, Node)>, TextError> {
        let mut fields = Vec::new();
        loop {
            self.skip_spaces();
            if self.rest.is_empty() || self.rest.starts_with(['}', '+']) {
                return Ok(fields);
            }
            let name = self.word();
            if name.is_empty() || !self.eat('=') {
                return Err(TextError::expected("name=value", self.rest));
            }
            fields.push((name, self.node()?));
        }
    }

    fn node(&mut self) -> Result<Node, TextError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(TextError::expected("fewer brackets", self.rest));
        }
        let node = self.node_within();
        self.depth -= 1;
        node
    }

    fn node_within(&mut self) -> Result<Node, TextError> {
        if self.eat('{') {
            let fields = self.fields()?;
            if !self.eat('}') {
                return Err(TextError::expected("}", self.rest));
            }
            return Ok(Node::Group(fields));
        }
        if self.eat('[') {
            let mut list = Vec::new();
            while !self.eat(']') {
                list.push(self.node()?);
            }
            return Ok(Node::List(list));
        }
        if self.rest.starts_with('"') {
            let mut texts = serde_json::Deserializer::from_str(self.rest).into_iter::<String>();
            let Some(Ok(text)) = texts.next() else {
                return Err(TextError::expected("a text in quotes", self.rest));
            };
            self.rest = self.rest.get(texts.byte_offset()..).unwrap_or_default();
            return Ok(Node::Text(text));
        }
        let word = self.word();
        if word.is_empty() {
            return Err(TextError::expected("a value", self.rest));
        }
        Ok(Node::Word(word))
    }
}
