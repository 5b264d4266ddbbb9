//! One process per data directory.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

/// Holds a directory until dropped, or until the process is gone, however it went.
#[derive(Debug)]
pub struct DirectoryLock {
    _file: File,
}

impl DirectoryLock {
    /// Locks the file `LOCK` in the directory and writes this process's id into it.
    ///
    /// # Errors
    /// Another process holds it ([`io::ErrorKind::ResourceBusy`]; the message names directory and process),
    /// or the file cannot be made.
    pub fn take(directory: &Path) -> io::Result<DirectoryLock> {
        let place = directory.join("LOCK");
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&place);
        let failed = |error: io::Error| {
            io::Error::new(
                error.kind(),
                format!("cannot lock {}: {error}", place.display()),
            )
        };
        let mut file = opened.map_err(failed)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(held(directory, &mut file)),
            Err(error) => return Err(failed(error.into())),
        }
        file.set_len(0).map_err(failed)?;
        file.rewind().map_err(failed)?;
        writeln!(file, "{}", std::process::id()).map_err(failed)?;
        Ok(DirectoryLock { _file: file })
    }
}

fn held(directory: &Path, file: &mut File) -> io::Error {
    let mut holder = String::new();
    // The number is a courtesy; without it the message still says what to do.
    let read = file.take(32).read_to_string(&mut holder);
    let holder = match holder.trim() {
        "" => "another process".to_owned(),
        _ if read.is_err() => "another process".to_owned(),
        id => format!("process {id}"),
    };
    let text = format!(
        "the data directory {} is in use by {holder}; stop that one first, or choose another directory",
        directory.display()
    );
    io::Error::new(io::ErrorKind::ResourceBusy, text)
}
