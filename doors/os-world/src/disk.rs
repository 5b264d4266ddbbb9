//! A directory of the file system, behind [`world::Disk`].

use std::fs::{self, File, OpenOptions};
use std::io::{self, IoSlice};
use std::os::unix::fs::FileExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::io::pwritev;
use world::{Disk, DiskFile, OpenHow};

/// Slices handed to the system at once (IOV_MAX on Linux is 1024).
const SLICES_MAX: usize = 1024;

/// Files below one directory.
#[derive(Clone, Debug)]
pub struct OsDisk {
    root: PathBuf,
}

impl OsDisk {
    /// Takes a directory, which is made if missing (and made to last in the one above it).
    ///
    /// # Errors
    /// It cannot be made or is no directory.
    pub fn new(root: impl Into<PathBuf>) -> io::Result<OsDisk> {
        let root = root.into();
        if !root.is_dir() {
            expect_nothing(&root)?;
            fs::create_dir_all(&root)
                .map_err(|error| told("cannot create directory", &root, error))?;
            let above = match root.parent() {
                Some(above) if !above.as_os_str().is_empty() => above,
                _ => Path::new("."),
            };
            sync_directory(above)?;
        }
        Ok(OsDisk { root })
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn place(&self, path: &str) -> io::Result<PathBuf> {
        let relative = Path::new(path);
        let inside = |part: Component<'_>| matches!(part, Component::Normal(_));
        if !relative.components().all(inside) {
            let text = format!("{path:?} is not a path below {}", self.root.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        Ok(self.root.join(relative))
    }
}

/// Says what stands in the way of a directory.
fn expect_nothing(place: &Path) -> io::Result<()> {
    let Ok(found) = fs::symlink_metadata(place) else {
        return Ok(());
    };
    let what = match fs::read_link(place) {
        Ok(target) => format!("a link to {}, which is no directory", target.display()),
        Err(_) if found.is_file() => "a file".to_owned(),
        Err(_) => "no directory".to_owned(),
    };
    let text = format!(
        "{} is {what}; choose a directory with --data-dir",
        place.display()
    );
    Err(io::Error::new(io::ErrorKind::NotADirectory, text))
}

impl Disk for OsDisk {
    fn open(&self, path: &str, how: OpenHow) -> io::Result<Arc<dyn DiskFile>> {
        let place = self.place(path)?;
        let mut options = OpenOptions::new();
        options.read(true);
        match how {
            OpenHow::Read => &mut options,
            OpenHow::ReadWrite => options.write(true),
            OpenHow::CreateNew => options.write(true).create_new(true),
            OpenHow::CreateOrOpen => options.write(true).create(true).truncate(false),
        };
        let file = options
            .open(&place)
            .map_err(|error| told("cannot open", &place, error))?;
        Ok(Arc::new(OsFile { file, place }))
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        let place = self.place(dir)?;
        let failed = |error| told("cannot list", &place, error);
        let mut names = Vec::new();
        for entry in fs::read_dir(&place).map_err(failed)? {
            // A name that is not UTF-8 is none of ours.
            names.extend(entry.map_err(failed)?.file_name().into_string());
        }
        names.sort();
        Ok(names)
    }

    fn create_dir(&self, dir: &str) -> io::Result<()> {
        let place = self.place(dir)?;
        fs::create_dir_all(&place).map_err(|error| told("cannot create directory", &place, error))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let (from, to) = (self.place(from)?, self.place(to)?);
        fs::rename(&from, &to).map_err(|error| {
            let text = format!(
                "cannot rename {} to {}: {error}",
                from.display(),
                to.display()
            );
            io::Error::new(error.kind(), text)
        })
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        let place = self.place(path)?;
        fs::remove_file(&place).map_err(|error| told("cannot remove", &place, error))
    }

    fn exists(&self, path: &str) -> io::Result<bool> {
        let place = self.place(path)?;
        fs::exists(&place).map_err(|error| told("cannot look for", &place, error))
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        sync_directory(&self.place(dir)?)
    }

    fn free_bytes(&self) -> io::Result<Option<u64>> {
        let found = rustix::fs::statvfs(&self.root)
            .map_err(|error| told("cannot ask for the free space of", &self.root, error.into()))?;
        Ok(Some(found.f_bavail.saturating_mul(found.f_frsize)))
    }
}

/// An open file and its path, for messages.
struct OsFile {
    file: File,
    place: PathBuf,
}

impl DiskFile for OsFile {
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while filled < into.len() {
            match self
                .file
                .read_at(&mut into[filled..], offset + filled as u64)
            {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(told("cannot read", &self.place, error)),
            }
        }
        Ok(filled)
    }

    fn write_at(&self, slices: &[&[u8]], offset: u64) -> io::Result<()> {
        let failed = |error| told("cannot write", &self.place, error);
        let [single] = slices else {
            return write_all_vectored(&self.file, slices, offset).map_err(failed);
        };
        self.file.write_all_at(single, offset).map_err(failed)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file
            .sync_data()
            .map_err(|error| told("cannot sync", &self.place, error))
    }

    fn sync_all(&self) -> io::Result<()> {
        self.file
            .sync_all()
            .map_err(|error| told("cannot sync", &self.place, error))
    }

    fn len(&self) -> io::Result<u64> {
        let found = self.file.metadata();
        Ok(found
            .map_err(|error| told("cannot ask for the length of", &self.place, error))?
            .len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file
            .set_len(len)
            .map_err(|error| told("cannot change the length of", &self.place, error))
    }
}

fn write_all_vectored(file: &File, slices: &[&[u8]], mut offset: u64) -> io::Result<()> {
    for some in slices.chunks(SLICES_MAX) {
        let mut buffers: Vec<IoSlice<'_>> = some.iter().map(|slice| IoSlice::new(slice)).collect();
        let mut left = &mut buffers[..];
        // Takes away empty slices at the front, so that a write of 0 bytes means that none fits.
        IoSlice::advance_slices(&mut left, 0);
        while !left.is_empty() {
            match pwritev(file, left, offset) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    offset += count as u64;
                    IoSlice::advance_slices(&mut left, count);
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}

fn sync_directory(place: &Path) -> io::Result<()> {
    let synced = File::open(place).and_then(|dir| dir.sync_all());
    synced.map_err(|error| told("cannot sync directory", place, error))
}

fn told(what: &str, place: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what} {}: {error}", place.display()))
}
