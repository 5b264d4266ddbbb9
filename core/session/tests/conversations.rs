//! Plays `conversations/session/*.txt` and compares what the session says with what is written there.
//! `UPDATE_CONVERSATIONS=1` writes down what it says now; read the difference before you commit it.

mod notation;

use std::path::{Path, PathBuf};

#[test]
fn the_conversations_go_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conversations/session");
    let entries = std::fs::read_dir(&folder).expect("conversations/session");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    assert!(
        files.len() >= 20,
        "conversations are missing: {} found",
        files.len()
    );
    let update = std::env::var_os("UPDATE_CONVERSATIONS").is_some();
    let mut different = Vec::new();
    for file in files {
        let written = std::fs::read_to_string(&file).expect("a conversation");
        let played = play(&written);
        if played == written {
            continue;
        }
        if update {
            std::fs::write(&file, &played).expect("a writable folder");
        } else {
            let name = file
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            different.push(format!("{name}: now it goes\n{played}"));
        }
    }
    assert!(
        different.is_empty(),
        "{}\nUPDATE_CONVERSATIONS=1 writes it down",
        different.join("\n\n")
    );
}

/// The conversation with its expected lines replaced by what is said now.
fn play(written: &str) -> String {
    let mut stage = notation::Stage::new();
    let mut out = String::new();
    for line in written.lines() {
        let said_by_session = ["B: ", "T< ", "D< ", "=> "]
            .iter()
            .any(|start| line.starts_with(start));
        if said_by_session {
            continue;
        }
        out += line;
        out += "\n";
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        for said in stage.play(line) {
            out += &said;
            out += "\n";
        }
    }
    out
}
