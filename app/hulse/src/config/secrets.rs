//! What of a value may be shown to people.

use super::kind::Kind;
use super::table;

/// Stands for what is not shown.
const MASK: &str = "********";

/// More of a value than this helps nobody, characters.
const SHOWN_MAX: usize = 200;

/// The value of a key as it may be shown: secrets masked, long ones cut, control characters escaped.
pub fn shown(key: &str, text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else if is_secret(key) {
        MASK.to_owned()
    } else {
        printable(text)
    }
}

/// A word from outside, fit for one line.
pub fn printable(text: &str) -> String {
    let mut printable = String::new();
    for character in text.chars().take(SHOWN_MAX) {
        if character.is_control() {
            printable.extend(character.escape_debug());
        } else {
            printable.push(character);
        }
    }
    if text.chars().nth(SHOWN_MAX).is_some() {
        printable.push_str(&format!("... ({} bytes)", text.len()));
    }
    printable
}

/// Known keys are secret if the table says so; of others it is guessed from their names.
fn is_secret(name: &str) -> bool {
    if let Some(key) = table::find(name) {
        return key.kind == Kind::Secret;
    }
    let lower = name.to_lowercase();
    let words = [
        "password",
        "passwd",
        "secret",
        "token",
        "credential",
        "authparams",
        "authenticationparam",
        "privatekey",
        "accesskey",
    ];
    words.iter().any(|word| lower.contains(word))
}
