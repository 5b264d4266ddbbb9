//! Plays `conversations/broker/*.txt`, each with one shard and with three, and compares what is said with what is
//! written there, and the recordings of real clients in `conversations/recorded`. `UPDATE_CONVERSATIONS=1` writes down what is said now; read the difference before you commit it.

mod recorded;
mod stage;

use stage::Stage;
use std::path::{Path, PathBuf};

#[test]
fn recorded_clients_hear_today_what_they_heard_then() {
    let mut wrong = Vec::new();
    let files = files_in("recorded");
    assert!(files.len() >= 80, "recordings are missing: {}", files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a recording");
        for shards in [1, 3] {
            if let Err(problem) = recorded::play(&text, shards) {
                wrong.push(format!("{}, {shards} shards: {problem}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn the_conversations_go_as_written_with_one_shard_and_with_three() {
    let files = files_in("broker");
    assert!(
        files.len() >= 35,
        "conversations are missing: {} found",
        files.len()
    );
    let update = std::env::var_os("UPDATE_CONVERSATIONS").is_some();
    let mut different = Vec::new();
    for file in files {
        let name = file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let written = std::fs::read_to_string(&file).expect("a conversation");
        let with_one = play(&name, &written, 1);
        let with_three = play(&name, &written, 3);
        assert_eq!(
            with_one, with_three,
            "{name}: with three shards it goes differently"
        );
        if with_one == written {
            continue;
        }
        if update {
            std::fs::write(&file, &with_one).expect("a writable folder");
        } else {
            different.push(format!("{name}: now it goes\n{with_one}"));
        }
    }
    assert!(
        different.is_empty(),
        "{}\nUPDATE_CONVERSATIONS=1 writes it down",
        different.join("\n\n")
    );
}

fn files_in(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../conversations")
        .join(folder);
    let entries = std::fs::read_dir(&folder).expect("a folder of conversations");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    files
}

/// The conversation with its expected lines replaced by what is said now.
fn play(name: &str, written: &str, shards: usize) -> String {
    let mut stage = Stage::new(shards);
    let mut out = String::new();
    for line in written.lines() {
        if line.starts_with("=> ") {
            continue;
        }
        out += line;
        out += "\n";
        let told = line.split_once('#').map_or(line, |(told, _)| told).trim();
        if told.is_empty() {
            continue;
        }
        let said = stage
            .play(told)
            .unwrap_or_else(|problem| panic!("{name}: {told:?}: {problem}"));
        for line in said {
            out += &format!("=> {line}\n");
        }
    }
    stage.check();
    out
}
