//! What a guest needs to come: its client, from its registry, and our scenarios for it. Kept under `target/guests`.

use crate::place::{Place, cargo};
use crate::run::{LONG, is_there, must, once};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every guest there is.
pub const GUESTS: [&str; 6] = ["python-new", "python-3.5.0", "java", "go", "rust", "node"];

/// The Java client that comes.
pub const JAVA_VERSION: &str = "4.0.13";

/// A client that can be run.
pub struct Guest {
    /// One of [`GUESTS`].
    pub name: &'static str,
    /// What is started.
    pub program: PathBuf,
    /// What stands before the place of the broker.
    pub before: Vec<String>,
}

/// Fetches and builds what the guest needs.
pub fn invite(place: &Place, name: &'static str) -> Result<Guest> {
    let guest = |program: PathBuf, before: Vec<String>| Guest {
        name,
        program,
        before,
    };
    match name {
        "java" => {
            let before = vec!["-cp".into(), java(place)?, "Guest".into()];
            Ok(guest("java".into(), before))
        }
        "go" => Ok(guest(go(place)?, Vec::new())),
        "rust" => Ok(guest(rust(place)?, Vec::new())),
        "node" => Ok(guest("node".into(), vec![node(place)?])),
        _ => {
            let script = place.root.join("guests/python/guest.py");
            let before = vec![script.to_string_lossy().into_owned()];
            Ok(guest(python(place, name)?, before))
        }
    }
}

/// The Python of a virtual environment with the client in it.
pub fn python(place: &Place, name: &str) -> Result<PathBuf> {
    let home = place.guests().join(name);
    std::fs::create_dir_all(&home)?;
    let python = home.join("venv/bin/python");
    once(&home.join("complete"), || {
        must(
            Command::new("python3")
                .args(["-m", "venv"])
                .arg(home.join("venv")),
            LONG,
        )
        .context("python3 with its venv module is needed for the Python client")?;
        let package = match name.strip_prefix("python-") {
            Some("new") | None => "pulsar-client".to_owned(),
            Some(version) => format!("pulsar-client=={version}"),
        };
        must(
            Command::new(&python).args(["-m", "pip", "install", "--quiet", &package]),
            LONG,
        )
        .with_context(|| format!("{package} could not be installed from the package index"))?;
        Ok(())
    })?;
    Ok(python)
}

/// The class path of the Java client and our scenarios.
pub fn java(place: &Place) -> Result<String> {
    for program in ["java", "javac", "mvn"] {
        ensure!(
            is_there(program),
            "{program} is needed for the Java client and is not on the PATH"
        );
    }
    let home = place.guests().join(format!("java-{JAVA_VERSION}"));
    std::fs::create_dir_all(&home)?;
    let jars = home.join("lib");
    once(&home.join("complete"), || {
        std::fs::copy(place.root.join("guests/java/pom.xml"), home.join("pom.xml"))?;
        let mut maven = Command::new("mvn");
        maven
            .args(["-B", "-q", "dependency:copy-dependencies"])
            .current_dir(&home);
        must(
            maven.arg(format!("-DoutputDirectory={}", jars.display())),
            LONG,
        )
        .context("the Java client could not be fetched with Maven")?;
        Ok(())
    })?;
    let classes = home.join("classes");
    let mut compile = Command::new("javac");
    compile
        .arg("-cp")
        .arg(format!("{}/*", jars.display()))
        .arg("-d")
        .arg(&classes);
    must(
        compile.args(sources(&place.root.join("guests/java/src"))?),
        LONG,
    )?;
    Ok(format!("{}/*:{}", jars.display(), classes.display()))
}

fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        files.push(entry?.path());
    }
    files.sort();
    Ok(files)
}

/// The Go client with our scenarios, as one program.
fn go(place: &Place) -> Result<PathBuf> {
    ensure!(
        is_there("go"),
        "go is needed for the Go client and is not on the PATH"
    );
    let program = place.guests().join("go/guest");
    let mut build = Command::new("go");
    build
        .args(["build", "-mod=readonly", "-o"])
        .arg(&program)
        .arg(".");
    // The Go that is there, or none: another one would come from outside the module proxy.
    build
        .envs([("GOTOOLCHAIN", "local"), ("GOWORK", "off")])
        .current_dir(place.root.join("guests/go"));
    must(&mut build, LONG).context("the Go client could not be built")?;
    Ok(program)
}

/// The Rust client with our scenarios, as one program. It is no member of our workspace and has a target folder of its
/// own, so that nothing the client brings reaches the broker.
fn rust(place: &Place) -> Result<PathBuf> {
    let target = place.guests().join("rust");
    let build = |package: &str, protoc: Option<&Path>| {
        let mut build = Command::new(cargo());
        build
            .args(["build", "--locked", "--package", package])
            .env("CARGO_TARGET_DIR", &target)
            .current_dir(place.root.join("guests/rust"));
        if let Some(protoc) = protoc {
            build.env("PROTOC", protoc);
        }
        must(&mut build, LONG).context("the Rust client could not be built")
    };
    build("protoc", None)?;
    build("guest", Some(&target.join("debug/protoc")))?;
    Ok(target.join("debug/guest"))
}

/// The script for Node, beside the client it needs.
fn node(place: &Place) -> Result<String> {
    for program in ["node", "npm"] {
        ensure!(
            is_there(program),
            "{program} is needed for the Node client and is not on the PATH"
        );
    }
    let (from, home) = (place.root.join("guests/node"), place.guests().join("node"));
    std::fs::create_dir_all(&home)?;
    let lock = std::fs::read_to_string(from.join("package-lock.json"))?;
    let done = home.join("complete");
    if std::fs::read_to_string(&done).ok().as_ref() != Some(&lock) {
        for file in ["package.json", "package-lock.json"] {
            std::fs::copy(from.join(file), home.join(file))?;
        }
        let mut npm = Command::new("npm");
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
            .current_dir(&home);
        must(&mut npm, LONG).context("the Node client could not be installed with npm")?;
        std::fs::write(&done, lock)?;
    }
    let script = home.join("guest.js");
    std::fs::copy(from.join("guest.js"), &script)?;
    Ok(script.to_string_lossy().into_owned())
}
