//! `docs/configuration.md`: every configuration key, made from the table that the program itself reads.

use crate::place::Place;
use anyhow::{Context, Result, ensure};
use std::fmt::Write as _;

/// The one table of keys; its columns are explained in `table.rs` beside it.
const TABLE: &str = "app/hulse/src/config/keys.tsv";

/// One section: the classes of its keys, its title, what stands above its table.
const SECTIONS: [(&[&str], &str, &str); 5] = [
    (
        &["works", "partly"],
        "Keys that act",
        "As in Pulsar, except where the note says what is missing.",
    ),
    (
        &["durable"],
        "Keys that can only strengthen",
        "What they may ask for is given anyway. A value that would weaken durability is named at start, and not followed.",
    ),
    (
        &["guards"],
        "Keys that refuse the start",
        "Who sets one of these relies on a protection that does not exist here yet. Other values than the default (or \
         those in the second column) keep Hulse from starting.",
    ),
    (
        &["not yet"],
        "Keys that do not act yet",
        "Named once at start if set to something other than the default. Nobody is less protected for them.",
    ),
    (
        &["inert"],
        "Keys without meaning here",
        "They tune machinery that Hulse does not have; the last column says which. Named once at start if set to \
         something other than the default.",
    ),
];

const INTRODUCTION: &str = r"# Configuration

Made by `cargo xtask status` from `app/hulse/src/config/keys.tsv`: change that, not this page.

Hulse reads Pulsar's own configuration: its `standalone.conf` or `broker.conf` loads as it is.
`hulse config` shows every setting with its value, where that comes from, its default, and whether it acts
(`--all`: every key of Pulsar's; `--changed`: only what differs; `--json`: for programs). It takes the same options as
`hulse standalone`, starts nothing, masks passwords and tokens, and ends with 2 if `hulse standalone` would not start.

## Where values come from

Later layers win:

1. the defaults in the tables below;
2. the file given with `-c FILE`;
3. the environment: `PULSAR_PREFIX_<key>=<value>`, as for Pulsar's container images;
4. `--set key=value`, as often as needed, and `--data-dir`.

**Files** have the syntax of Java's properties: `key=value`, `key: value` or `key value`; `#` and `!` begin a comment
line; a backslash at the end continues a line; `\uXXXX`, `\t`, `\n`, `\\` are escapes. White space around values does
not count. An empty value means the default, except for a list (then it is empty) and for the two ports that are
served (then it is refused). A file may say a key twice only if it says the same; a file is UTF-8.

**Environment**: Pulsar's scripts also take a variable that is simply called like a key of the file
(`clusterName=...`). Hulse reads only `PULSAR_PREFIX_...`, so that no other program's variable becomes a setting. If
such a bare variable asks for a protection of the section *Keys that refuse the start*, Hulse does not start; any other
one is named at start.

**Values** that are not allowed keep Hulse from starting, also those of keys that do not act: the message names the
key, the value, its origin, and what is allowed. **Unknown keys** are named at start and ignored, as in Pulsar, except
that one beginning with `hulse.` is an error.

Hulse is stricter than Pulsar in three things: Pulsar takes the last of two contradicting lines, takes every word but
`true` for false, and its containers read bare environment variables. It is laxer in one: the words of a choice may be
written in any case.

Defaults are those of Pulsar 4.2. Those in parentheses are worked out at start by Pulsar.
";

struct Row<'a> {
    name: &'a str,
    kind: &'a str,
    default: &'a str,
    allowed: &'a str,
    also: &'a str,
    class: &'a str,
    note: &'a str,
}

/// The page.
pub fn page(place: &Place) -> Result<String> {
    let text = text(place)?;
    let rows = rows(&text)?;
    let mut page = INTRODUCTION.to_owned();
    for (classes, title, above) in SECTIONS {
        let mine = || rows.iter().filter(|row| classes.contains(&row.class));
        writeln!(page, "\n## {title}\n\n{} keys. {above}\n", mine().count())?;
        writeln!(
            page,
            "| key | takes | default | note |\n| --- | --- | --- | --- |"
        )?;
        for row in mine() {
            let note = match row.class {
                "partly" => format!("*partly*: {}", row.note),
                _ => row.note.to_owned(),
            };
            writeln!(
                page,
                "| `{}` | {} | {} | {} |",
                row.name,
                cell(&takes(row)),
                code(row.default),
                cell(&note)
            )?;
        }
    }
    Ok(page)
}

/// The line of `docs/status.md`.
pub fn summary(place: &Place) -> Result<String> {
    let text = text(place)?;
    let rows = rows(&text)?;
    let count = |classes: &[&str]| {
        rows.iter()
            .filter(|row| classes.contains(&row.class))
            .count()
    };
    Ok(format!(
        "| [Configuration keys](configuration.md), without {} that have no meaning here | {} | {} | {} |\n",
        count(&["inert"]),
        count(&["works", "durable"]),
        count(&["partly"]),
        count(&["not yet", "guards"]),
    ))
}

fn takes(row: &Row<'_>) -> String {
    let takes = match (row.kind, row.allowed) {
        ("text", "") => "text".to_owned(),
        ("secret", _) => "text, never shown".to_owned(),
        ("text", described) => described.to_owned(),
        ("choice", words) => words.replace('|', ", "),
        ("switch", _) => "true, false".to_owned(),
        (kind, "") => kind.to_owned(),
        (kind, bounds) => format!("{kind}, {bounds}"),
    };
    match (row.class, row.also) {
        ("guards", also) if !also.is_empty() => {
            format!(
                "{takes} (but only the default or {})",
                also.replace('|', ", ")
            )
        }
        _ => takes,
    }
}

fn code(value: &str) -> String {
    match value {
        "" => String::new(),
        computed if computed.starts_with('(') => computed.to_owned(),
        value => format!("`{value}`"),
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn text(place: &Place) -> Result<String> {
    let path = place.root.join(TABLE);
    std::fs::read_to_string(&path).with_context(|| format!("{} is missing", path.display()))
}

fn rows(text: &str) -> Result<Vec<Row<'_>>> {
    let rows = text.lines().skip(1).map(|line| {
        let columns: Vec<&str> = line.split('\t').collect();
        let [name, kind, default, allowed, also, class, note] = columns[..] else {
            anyhow::bail!("{TABLE}: this line has not 7 columns: {line}");
        };
        let is_known = SECTIONS
            .iter()
            .any(|(classes, ..)| classes.contains(&class));
        ensure!(is_known, "{TABLE}: unknown class '{class}' of {name}");
        Ok(Row {
            name,
            kind,
            default,
            allowed,
            also,
            class,
            note,
        })
    });
    rows.collect()
}
