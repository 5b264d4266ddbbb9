//! What a value may be: its kind, its bounds, and when two values say the same.

use std::ops::RangeInclusive;

/// What kind of value a key takes. The names are those of the table's column `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`, in any case.
    Switch,
    /// A whole number of 32 bits.
    Int,
    /// A whole number of 64 bits.
    Long,
    /// A number.
    Decimal,
    /// A port of TCP; an empty value means no such door.
    Port,
    /// One of a few words, in any case.
    Choice,
    /// Words between commas, in any order.
    List,
    /// Anything.
    Text,
    /// Anything, but never shown.
    Secret,
}

/// A value that its key allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Typed<'a> {
    /// Of a switch.
    Switch(bool),
    /// Of a whole number or a port.
    Whole(i64),
    /// Everything else, as it was written.
    Text(&'a str),
}

impl Kind {
    /// The kind of that name.
    pub fn named(name: &str) -> Option<Kind> {
        Some(match name {
            "switch" => Kind::Switch,
            "int" => Kind::Int,
            "long" => Kind::Long,
            "decimal" => Kind::Decimal,
            "port" => Kind::Port,
            "choice" => Kind::Choice,
            "list" => Kind::List,
            "text" => Kind::Text,
            "secret" => Kind::Secret,
            _ => return None,
        })
    }

    /// The value that `text` stands for; `None` if this kind, or `allowed` (a column of the table), forbids it.
    pub fn read<'a>(self, text: &'a str, allowed: &str) -> Option<Typed<'a>> {
        match self {
            Kind::Switch => switch(text).map(Typed::Switch),
            Kind::Int | Kind::Long | Kind::Port => {
                let number = text.parse().ok()?;
                let fits = self.bounds(allowed).contains(&number);
                fits.then_some(Typed::Whole(number))
            }
            Kind::Decimal => decimal(text).map(|_| Typed::Text(text)),
            Kind::Choice => allowed
                .split('|')
                .any(|word| word.eq_ignore_ascii_case(text))
                .then_some(Typed::Text(text)),
            Kind::List | Kind::Text | Kind::Secret => Some(Typed::Text(text)),
        }
    }

    /// The bounds of a whole number: those of `allowed`, as in `1..86400 seconds`, else those of its kind.
    fn bounds(self, allowed: &str) -> RangeInclusive<i64> {
        let (least, most) = match self {
            Kind::Port => (0, i64::from(u16::MAX)),
            Kind::Int => (i64::from(i32::MIN), i64::from(i32::MAX)),
            _ => (i64::MIN, i64::MAX),
        };
        let range = allowed.split(' ').next().unwrap_or_default();
        let (from, to) = range.split_once("..").unwrap_or_default();
        from.parse().unwrap_or(least)..=to.parse().unwrap_or(most)
    }

    /// What is allowed, as it completes "expected ...".
    pub fn expected(self, allowed: &str) -> String {
        match self {
            Kind::Switch => "true or false".to_owned(),
            Kind::Port => "a port number from 0 (any free port) to 65535".to_owned(),
            Kind::Int | Kind::Long => {
                let bounds = self.bounds(allowed);
                let unit = allowed.split_once(' ').map_or("numbers", |(_, unit)| unit);
                format!("whole {unit} from {} to {}", bounds.start(), bounds.end())
            }
            Kind::Decimal => "a number".to_owned(),
            Kind::Choice => format!("one of {}", allowed.replace('|', ", ")),
            Kind::List => "words with commas between them".to_owned(),
            Kind::Text if !allowed.is_empty() => allowed.to_owned(),
            Kind::Text | Kind::Secret => "text".to_owned(),
        }
    }

    /// Whether two allowed values say the same.
    pub fn is_same(self, left: &str, right: &str) -> bool {
        match self {
            Kind::Switch | Kind::Choice => left.eq_ignore_ascii_case(right),
            Kind::Int | Kind::Long | Kind::Port => {
                left == right || whole(left).is_some_and(|number| whole(right) == Some(number))
            }
            Kind::Decimal => {
                left == right || decimal(left).is_some_and(|number| decimal(right) == Some(number))
            }
            Kind::List => words(left) == words(right),
            Kind::Text | Kind::Secret => left == right,
        }
    }

    /// Whether `text` is, or lies in, what `pattern` names: a value, or `..0` (any number up to 0).
    pub fn matches(self, text: &str, pattern: &str) -> bool {
        match pattern.strip_prefix("..").and_then(whole) {
            Some(most) => whole(text).is_some_and(|number| number <= most),
            None => self.is_same(text, pattern),
        }
    }
}

fn switch(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

fn whole(text: &str) -> Option<i64> {
    text.parse().ok()
}

/// Java takes a letter for the width behind the number; infinity is no setting.
fn decimal(text: &str) -> Option<f64> {
    let bare = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    bare.parse().ok().filter(|number: &f64| number.is_finite())
}

/// The words of a list, in an order of their own.
fn words(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = text
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .collect();
    words.sort_unstable();
    words.dedup();
    words
}
