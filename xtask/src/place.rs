//! Where things are: the repository, the build products, the guests' tools.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository and its target directory.
pub struct Place {
    /// The folder with the workspace's Cargo.toml.
    pub root: PathBuf,
    /// Where cargo builds.
    pub target: PathBuf,
}

impl Place {
    /// Asks cargo.
    pub fn find() -> Result<Place> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest
            .parent()
            .context("xtask lies in the repository")?
            .to_path_buf();
        let output = Command::new(cargo())
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .current_dir(&root)
            .output()
            .context("cargo metadata could not be run")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let target = text
            .split("\"target_directory\":\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next())
            .context("cargo metadata names no target directory")?;
        Ok(Place {
            root,
            target: PathBuf::from(target),
        })
    }

    /// A program built with `--release`.
    pub fn release(&self, program: &str) -> PathBuf {
        self.target.join("release").join(program)
    }

    /// A folder for what the guests need: virtual environments, jars. Kept between runs.
    pub fn guests(&self) -> PathBuf {
        self.target.join("guests")
    }

    /// A fresh, empty folder under the target directory.
    pub fn scratch(&self, name: &str) -> Result<PathBuf> {
        let path = self.target.join("xtask").join(name);
        if path.exists() {
            std::fs::remove_dir_all(&path)
                .with_context(|| format!("{} cannot be emptied", path.display()))?;
        }
        std::fs::create_dir_all(&path)
            .with_context(|| format!("{} cannot be made", path.display()))?;
        Ok(path)
    }
}

/// The cargo that runs us.
pub fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}
