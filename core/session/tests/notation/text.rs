//! Names and values: `NAME a=1 b="text" c={d=2} e=[1 2]`.

/// A value as written.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// A number, a name, a position.
    Word(String),
    /// A text in quotes.
    Text(String),
    /// `[a b]`
    List(Vec<Node>),
    /// `{a=1 b=2}`
    Group(Vec<(String, Node)>),
}

/// `NAME a=1 b=2`, up to the end or a `+`; what follows the `+`.
pub fn parse(line: &str) -> (String, Vec<(String, Node)>, Option<&str>) {
    let mut reader = Reader { rest: line };
    let name = reader.word();
    let fields = reader.fields();
    let entry = reader.rest.strip_prefix('+').map(str::trim);
    assert!(
        entry.is_some() || reader.rest.is_empty(),
        "cannot read {:?} in {line:?}",
        reader.rest
    );
    (name, fields, entry)
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn word(&mut self) -> String {
        self.skip_spaces();
        let end = self
            .rest
            .find([' ', '=', '{', '}', '[', ']'])
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

    fn fields(&mut self) -> Vec<(String, Node)> {
        let mut fields = Vec::new();
        loop {
            self.skip_spaces();
            if self.rest.is_empty() || self.rest.starts_with(['}', '+']) {
                return fields;
            }
            let name = self.word();
            assert!(self.eat('='), "no value of {name:?} in {:?}", self.rest);
            fields.push((name, self.node()));
        }
    }

    fn node(&mut self) -> Node {
        if self.eat('{') {
            let fields = self.fields();
            assert!(self.eat('}'), "no end of a group in {:?}", self.rest);
            return Node::Group(fields);
        }
        if self.eat('[') {
            let mut list = Vec::new();
            while !self.eat(']') {
                list.push(self.node());
            }
            return Node::List(list);
        }
        if self.rest.starts_with('"') {
            let mut texts = serde_json::Deserializer::from_str(self.rest).into_iter::<String>();
            let text = texts.next().expect("a text").expect("a text");
            self.rest = &self.rest[texts.byte_offset()..];
            return Node::Text(text);
        }
        Node::Word(self.word())
    }
}
