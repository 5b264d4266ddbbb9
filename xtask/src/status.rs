//! `docs/status.md`: every command, route, key and metric of Pulsar, and whether it works here.
//!
//! The truth is in `docs/status/*.tsv`, one line each; this makes the page from it. Keys have a table and a page of
//! their own ([`crate::configuration`]). Tests beside the code hold the tables to the code: the keys in `hulse`, the
//! metrics and routes ([`holds`]) when guests were there.

use crate::configuration;
use crate::place::Place;
use crate::report::Report;
use anyhow::{Context, Result, bail, ensure};
use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::net::TcpStream;

/// One table: its file, its title, how many of its columns are the name, what stands above it.
const TABLES: [(&str, &str, usize, &str); 3] = [
    (
        "commands",
        "Commands of the binary protocol",
        2,
        "A command that does not work yet is answered, never dropped.",
    ),
    (
        "routes",
        "HTTP routes",
        2,
        "A route that is not served answers 404 or 501 with a JSON reason that names it.",
    ),
    (
        "metrics",
        "Metrics",
        1,
        "On `GET /metrics`. Names of our own begin with `hulse_`.",
    ),
];

/// A page that is made, and what makes it.
type Page = (&'static str, fn(&Place) -> Result<String>);

/// All of them.
const PAGES: [Page; 2] = [
    ("docs/status.md", page),
    ("docs/configuration.md", configuration::page),
];

/// Writes the pages.
pub fn write(place: &Place, report: &mut Report) -> Result<()> {
    for (name, make) in PAGES {
        let page = make(place)?;
        report.step(&format!("{name} is written"), || {
            Ok(std::fs::write(place.root.join(name), page)?)
        });
    }
    Ok(())
}

/// Whether the pages are those that the tables give.
pub fn are_fresh(place: &Place) -> Result<()> {
    for (name, make) in PAGES {
        let on_disk = std::fs::read_to_string(place.root.join(name)).unwrap_or_default();
        if on_disk != make(place)? {
            bail!("{name} is not what its tables give: run `cargo xtask status`");
        }
    }
    Ok(())
}

fn page(place: &Place) -> Result<String> {
    let mut page = String::from(
        "# What works\n\nMade by `cargo xtask status` from the tables in `docs/status/`, and for keys beside the code: change those, not this page.\n\
         *works*: as Apache Pulsar 4.0 standalone does it. *partly*: the note says what is missing. Everything else: not yet.\n\n\
         | | works | partly | not yet |\n| --- | --- | --- | --- |\n",
    );
    let mut sections = String::new();
    for (file, title, name_columns, above) in TABLES {
        let path = place.root.join(format!("docs/status/{file}.tsv"));
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("{} is missing", path.display()))?;
        let rows: Vec<Vec<&str>> = text
            .lines()
            .skip(1)
            .map(|line| line.split('\t').collect())
            .collect();
        let mut counts = [0; 3];
        writeln!(
            sections,
            "\n## {title}\n\n{above}\n\n| | status | note |\n| --- | --- | --- |"
        )?;
        for row in &rows {
            ensure!(
                row.len() == name_columns + 2,
                "{}: this line has not {} columns: {row:?}",
                path.display(),
                name_columns + 2
            );
            let status = row[name_columns];
            let which = ["works", "partly", "not yet"]
                .iter()
                .position(|known| *known == status);
            counts[which
                .with_context(|| format!("{}: unknown status '{status}'", path.display()))?] += 1;
            let name = row[..name_columns].join(" ");
            writeln!(
                sections,
                "| `{name}` | {status} | {} |",
                row[name_columns + 1].replace('|', "\\|")
            )?;
        }
        writeln!(
            page,
            "| {title} | {} | {} | {} |",
            counts[0], counts[1], counts[2]
        )?;
    }
    page.push_str(&configuration::summary(place)?);
    page.push_str(&sections);
    Ok(page)
}

/// Whether a running broker shows exactly the metrics, and serves the routes, that the tables say work.
pub fn holds(place: &Place, http: &str) -> Result<()> {
    let page = get(http, "/metrics")?.1;
    let mut shown: Vec<&str> = page
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split(['{', ' ']).next())
        .map(|name| {
            let of_histogram = ["_bucket", "_sum", "_count"];
            let base = of_histogram.iter().find_map(|end| name.strip_suffix(end));
            base.filter(|base| base.ends_with("_seconds"))
                .unwrap_or(name)
        })
        .filter(|name| !name.is_empty())
        .collect();
    shown.sort_unstable();
    shown.dedup();
    let table = read(place, "metrics")?;
    let mut told: Vec<&str> = working(&table).map(|row| row[0]).collect();
    told.sort_unstable();
    let only_shown: Vec<_> = shown.iter().filter(|name| !told.contains(name)).collect();
    let only_told: Vec<_> = told.iter().filter(|name| !shown.contains(name)).collect();
    ensure!(
        only_shown.is_empty() && only_told.is_empty(),
        "docs/status/metrics.tsv: shown but not told: {only_shown:?}; told but not shown: {only_told:?}"
    );
    let table = read(place, "routes")?;
    for row in working(&table).filter(|row| row[0] == "GET" && row[2] == "works") {
        let path = row[1]
            .replace("{tenant}", "public")
            .replace("{namespace}", "default")
            .replace("{cluster}", "standalone")
            .replace("{topic-domain}", "persistent")
            .replace("{topic}", "any")
            .replace("{version}", "0");
        let (status, body) = get(http, &path)?;
        // Nobody gave that topic a schema, so its page says that there is none.
        let has_none = row[1].starts_with("/admin/v2/schemas/");
        let wanted = if has_none { 404 } else { 200 };
        ensure!(
            status == wanted && !body.contains("is not served"),
            "docs/status/routes.tsv says that {path} works; it answered {status}: {body}"
        );
    }
    Ok(())
}

fn read(place: &Place, file: &str) -> Result<String> {
    let path = place.root.join(format!("docs/status/{file}.tsv"));
    std::fs::read_to_string(&path).with_context(|| format!("{} is missing", path.display()))
}

fn working(table: &str) -> impl Iterator<Item = Vec<&str>> {
    let rows = table
        .lines()
        .skip(1)
        .map(|line| line.split('\t').collect::<Vec<_>>());
    rows.filter(|row| {
        row.iter()
            .any(|column| ["works", "partly"].contains(column))
    })
}

/// A page of a broker: its status and its body.
fn get(http: &str, path: &str) -> Result<(u16, String)> {
    let address = http.trim_start_matches("http://");
    let mut socket =
        TcpStream::connect(address).with_context(|| format!("{address} cannot be reached"))?;
    socket.write_all(format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").as_bytes())?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer)?;
    let status = answer
        .split_whitespace()
        .nth(1)
        .and_then(|code| code.parse().ok());
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    Ok((
        status.with_context(|| format!("{path} answered no HTTP"))?,
        body.to_owned(),
    ))
}
