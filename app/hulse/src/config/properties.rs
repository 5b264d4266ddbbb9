//! The syntax of Java's `.properties` files, as `java.util.Properties.load` reads it; Pulsar's conf files are such.
//!
//! Lines whose first visible character is `#` or `!` are comments. A line ending in an odd number of backslashes goes
//! on in the next one. The key ends at the first `=`, `:` or white space that has no backslash before it. Escapes are
//! `\t \n \r \f \uXXXX`; any other escaped character stands for itself.

use std::iter::Peekable;
use std::str::Chars;
use thiserror::Error;

/// One key with its value and the line (from 1) on which it began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The key, escapes resolved.
    pub key: String,
    /// The value, escapes resolved, white space around it removed.
    pub value: String,
    /// Where it stands in the file.
    pub line: usize,
}

/// What cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "line {line}: '\\u{found}' is not a character: \\u must be followed by four hexadecimal digits"
)]
pub struct BadEscape {
    /// Where it stands in the file.
    pub line: usize,
    /// What followed the `\u`.
    pub found: String,
}

/// All properties of a text in their order; a key may come more than once.
pub fn parse(text: &str) -> Result<Vec<Property>, BadEscape> {
    logical_lines(text)
        .into_iter()
        .map(|(line, content)| parse_line(line, &content))
        .collect()
}

/// Comments and blank lines are gone, continued lines are joined.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut joined = Vec::new();
    let mut lines = text.split('\n').enumerate();
    while let Some((index, natural)) = lines.next() {
        let start = natural.trim_start_matches(is_space);
        if start.is_empty() || start.starts_with(['#', '!']) {
            continue;
        }
        let mut content = start.to_owned();
        while is_continued(&content) {
            content.pop();
            match lines.next() {
                Some((_, next)) => content.push_str(next.trim_start_matches(is_space)),
                None => break,
            }
        }
        joined.push((index + 1, content));
    }
    joined
}

fn is_continued(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\x0c')
}

fn parse_line(line: usize, content: &str) -> Result<Property, BadEscape> {
    let mut rest = content.chars().peekable();
    let mut key = String::new();
    while let Some(character) = rest.next_if(|c| !is_space(*c) && !matches!(c, '=' | ':')) {
        unescape(character, &mut rest, &mut key, line)?;
    }
    while rest.next_if(|c| is_space(*c)).is_some() {}
    rest.next_if(|c| matches!(c, '=' | ':'));
    let mut value = String::new();
    while let Some(character) = rest.next() {
        unescape(character, &mut rest, &mut value, line)?;
    }
    let value = value.trim().to_owned();
    Ok(Property { key, value, line })
}

/// Appends what `character`, possibly the beginning of an escape, stands for.
fn unescape(
    character: char,
    rest: &mut Peekable<Chars<'_>>,
    into: &mut String,
    line: usize,
) -> Result<(), BadEscape> {
    if character != '\\' {
        into.push(character);
        return Ok(());
    }
    match rest.next() {
        Some('t') => into.push('\t'),
        Some('n') => into.push('\n'),
        Some('r') => into.push('\r'),
        Some('f') => into.push('\x0c'),
        Some('u') => into.push(unicode_escape(rest, line)?),
        Some(other) => into.push(other),
        None => {}
    }
    Ok(())
}

/// The character of a `\u` escape; characters beyond 16 bits are written as two of them.
fn unicode_escape(rest: &mut Peekable<Chars<'_>>, line: usize) -> Result<char, BadEscape> {
    let (first, digits) = utf16_unit(rest, line)?;
    if let Some(character) = char::from_u32(first) {
        return Ok(character);
    }
    let bad = |found: &str| BadEscape {
        line,
        found: found.to_owned(),
    };
    if rest.next() != Some('\\') || rest.next() != Some('u') {
        return Err(bad(&digits));
    }
    let (second, second_digits) = utf16_unit(rest, line)?;
    let units = [first as u16, second as u16];
    match char::decode_utf16(units).next() {
        Some(Ok(character)) => Ok(character),
        _ => Err(bad(&format!("{digits}\\u{second_digits}"))),
    }
}

fn utf16_unit(rest: &mut Peekable<Chars<'_>>, line: usize) -> Result<(u32, String), BadEscape> {
    let digits: String = rest.by_ref().take(4).collect();
    let is_hex = digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    if is_hex && let Ok(unit) = u32::from_str_radix(&digits, 16) {
        return Ok((unit, digits));
    }
    Err(BadEscape {
        line,
        found: digits,
    })
}
