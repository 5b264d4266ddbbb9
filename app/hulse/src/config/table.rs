//! The table of all keys, `keys.tsv`: what each takes, its default, and what becomes of it here. The pages
//! `docs/configuration.md` and `docs/status.md` are made from the same file.

use super::kind::{Kind, Typed};
use std::sync::OnceLock;

const TABLE: &str = include_str!("keys.tsv");

/// Settings for somebody else's library, handed through by Pulsar; there is no such library here.
const HANDED_THROUGH: [(&str, &str); 2] = [
    ("bookkeeper_", "bookie inside"),
    ("brokerClient_", "no inner client"),
];

/// What becomes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// It acts as in Pulsar.
    Works,
    /// It acts, but the note says what is missing.
    Partly,
    /// It does not act. Nobody is less protected for it.
    NotYet,
    /// It can never matter here; the note says why in two words.
    Inert,
    /// It does not act, and who relies on it would lose security, durability or a limit: other values than the usual
    /// ones keep the program from starting. The note says what would be lost and what to do.
    Guards,
    /// It may ask for durability, which is given anyway; what would weaken it is not followed.
    Durable,
}

/// One line of the table.
#[derive(Debug, PartialEq)]
pub struct Key {
    /// Its name: Pulsar's, or one of our own, beginning with `hulse.`.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Its value if nobody says anything. In parentheses: worked out by Pulsar at start.
    pub default: &'static str,
    /// Bounds, words or a description, by kind.
    pub allowed: &'static str,
    /// Other values that ask for nothing that is not given: defaults of other versions, values that shipped files
    /// carry. `..0`: all up to 0.
    pub also: Vec<&'static str>,
    /// What becomes of it.
    pub class: Class,
    /// For people.
    pub note: &'static str,
}

impl Key {
    /// The value that `text` stands for; `None` if it is not allowed.
    pub fn read<'a>(&self, text: &'a str) -> Option<Typed<'a>> {
        self.kind.read(text, self.allowed)
    }

    /// What is allowed, as it completes "expected ...".
    pub fn expected(&self) -> String {
        self.kind.expected(self.allowed)
    }

    /// Whether `text` says nothing: Pulsar's parser takes the default for an empty value, except for lists.
    pub fn is_silent(&self, text: &str) -> bool {
        let is_list = self.kind == Kind::List && !self.default.is_empty();
        text.is_empty() && !is_list
    }

    /// Whether `text` is the default.
    pub fn is_default(&self, text: &str) -> bool {
        self.is_silent(text) || self.kind.is_same(text, self.default)
    }

    /// Whether `text` asks for nothing that is not given.
    pub fn is_usual(&self, text: &str) -> bool {
        let is_same = |pattern: &&&str| self.kind.matches(text, pattern);
        self.is_default(text) || self.also.iter().find(is_same).is_some()
    }

    /// Whether it acts at all.
    pub fn acts(&self) -> bool {
        matches!(self.class, Class::Works | Class::Partly)
    }
}

/// All keys: Pulsar's, then our own.
pub fn keys() -> &'static [Key] {
    static KEYS: OnceLock<Vec<Key>> = OnceLock::new();
    KEYS.get_or_init(|| TABLE.lines().skip(1).map(key).collect())
}

/// The key of that name.
pub fn find(name: &str) -> Option<&'static Key> {
    keys().iter().find(|key| key.name == name)
}

/// Why a key that is not in the table is nevertheless no mistake, if it is none.
pub fn handed_through(name: &str) -> Option<&'static str> {
    HANDED_THROUGH
        .iter()
        .find_map(|(prefix, why)| name.starts_with(prefix).then_some(*why))
}

fn key(line: &'static str) -> Key {
    let columns: Vec<&'static str> = line.split('\t').collect();
    let parsed = match columns[..] {
        [name, kind, default, allowed, also, class, note] => Kind::named(kind)
            .zip(class_named(class))
            .map(|(kind, class)| Key {
                name,
                kind,
                default,
                allowed,
                also: also.split('|').filter(|value| !value.is_empty()).collect(),
                class,
                note,
            }),
        _ => None,
    };
    // Invariant: the table is part of the program, and a test reads every line of it.
    parsed.unwrap_or_else(|| panic!("keys.tsv has a broken line: {line}"))
}

fn class_named(name: &str) -> Option<Class> {
    Some(match name {
        "works" => Class::Works,
        "partly" => Class::Partly,
        "not yet" => Class::NotYet,
        "inert" => Class::Inert,
        "guards" => Class::Guards,
        "durable" => Class::Durable,
        _ => return None,
    })
}
