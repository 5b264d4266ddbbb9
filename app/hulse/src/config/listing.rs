//! Every key with its value, its origin, its default, and whether it acts: what `hulse config` prints.

use super::layers::{Given, Origin, Value};
use super::secrets::{printable, shown};
use super::table::{self, Class, Key};
use serde_json::json;

/// How much to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Keys that act, and whatever was given.
    Usual,
    /// Every known key too.
    All,
    /// Only values that are not the default.
    Changed,
}

/// One key.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    key: String,
    value: String,
    default: String,
    origin: String,
    acts: String,
}

/// The keys in the order of the table, unknown ones last.
pub fn rows(given: &Given, extent: Extent) -> Vec<Row> {
    let known = table::keys()
        .iter()
        .filter(|key| is_wanted(key, given.get(key.name), extent))
        .map(|key| known(key, given.get(key.name)));
    let unknown = given
        .iter()
        .filter(|(name, _)| table::find(name).is_none())
        .map(|(name, value)| unknown(name, value));
    known.chain(unknown).collect()
}

fn is_wanted(key: &Key, value: Option<&Value>, extent: Extent) -> bool {
    match extent {
        Extent::All => true,
        Extent::Usual => key.acts() || value.is_some(),
        Extent::Changed => value.is_some_and(|value| !key.is_default(&value.text)),
    }
}

fn known(key: &Key, value: Option<&Value>) -> Row {
    let said = value.filter(|value| !key.is_silent(&value.text));
    let text = said.map_or(key.default, |value| value.text.as_str());
    let is_followed = key.is_usual(text);
    let acts = match key.class {
        Class::Works => "yes".to_owned(),
        Class::Partly => "partly".to_owned(),
        Class::NotYet => "not yet".to_owned(),
        Class::Inert => format!("never ({})", key.note),
        Class::Guards if is_followed => "not yet".to_owned(),
        Class::Guards => "refused".to_owned(),
        Class::Durable if is_followed => "yes".to_owned(),
        Class::Durable => format!("not followed: {} it is", key.default),
    };
    Row {
        key: key.name.to_owned(),
        value: shown(key.name, text),
        default: key.default.to_owned(),
        origin: said.map_or("default".to_owned(), origin),
        acts,
    }
}

fn unknown(name: &str, value: &Value) -> Row {
    let acts = match table::handed_through(name) {
        Some(why) => format!("never ({why})"),
        None => "unknown".to_owned(),
    };
    Row {
        key: printable(name),
        value: shown(name, &value.text),
        default: String::new(),
        origin: origin(value),
        acts,
    }
}

/// Every key with its value, for the page that shows them.
pub fn values(given: &Given) -> Vec<(String, String)> {
    let rows = rows(given, Extent::All).into_iter();
    rows.map(|row| (row.key, row.value)).collect()
}

/// Who said it, in one word.
fn origin(value: &Value) -> String {
    match &value.origin {
        Origin::Environment(variable) => variable.clone(),
        other => other.to_string(),
    }
}

/// Columns for people; `-` stands for an empty value.
pub fn as_text(rows: &[Row]) -> String {
    let head = ["KEY", "VALUE", "DEFAULT", "ORIGIN", "ACTS"].map(str::to_owned);
    let lines: Vec<[String; 5]> = std::iter::once(head)
        .chain(rows.iter().map(cells))
        .collect();
    // A column is no wider than this, so that one long list does not push everything off the screen.
    const WIDEST: [usize; 4] = [52, 24, 24, 40];
    let widths: Vec<usize> = (0..4)
        .map(|column| {
            let lengths = lines.iter().map(|line| line[column].chars().count());
            lengths
                .filter(|length| *length <= WIDEST[column])
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for [key, value, default, origin, acts] in lines {
        for (cell, width) in [key, value, default, origin].iter().zip(&widths) {
            text.push_str(&format!("{cell:width$}  "));
        }
        text.push_str(&acts);
        text.push('\n');
    }
    text
}

fn cells(row: &Row) -> [String; 5] {
    [&row.key, &row.value, &row.default, &row.origin, &row.acts].map(|cell| {
        if cell.is_empty() {
            "-".to_owned()
        } else {
            cell.clone()
        }
    })
}

/// The same for programs: a list of objects.
pub fn as_json(rows: &[Row]) -> String {
    let objects: Vec<_> = rows
        .iter()
        .map(|row| {
            json!({
                "key": row.key,
                "value": row.value,
                "default": row.default,
                "origin": row.origin,
                "acts": row.acts,
            })
        })
        .collect();
    let mut text = format!("{:#}", json!(objects));
    text.push('\n');
    text
}
