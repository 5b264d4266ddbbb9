//! A real `hulse standalone` on free ports, and the commands that visit it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::Duration;

/// Longer than anything here takes; only a test that fails waits so long.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running broker, killed when dropped.
pub struct Broker {
    child: Child,
    out: BufReader<ChildStdout>,
    /// `pulsar://127.0.0.1:PORT`
    pub url: String,
    /// `127.0.0.1:PORT`
    pub binary: String,
    /// `127.0.0.1:PORT`
    pub web: String,
}

/// `hulse`, with nothing on its stdin.
pub fn hulse(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hulse"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .env_remove("RUST_LOG");
    command
}

/// `hulse standalone` on free ports of this machine.
pub fn standalone(data: &Path, sets: &[&str]) -> Command {
    let mut command = hulse(&["standalone"]);
    command.arg("--data-dir").arg(data);
    let ports = [
        "brokerServicePort=0",
        "webServicePort=0",
        "bindAddress=127.0.0.1",
        "advertisedAddress=127.0.0.1",
    ];
    for set in ports.iter().chain(sets) {
        command.args(["--set", set]);
    }
    command
}

impl Broker {
    /// Starts one and waits for its line.
    pub fn start(data: &Path, sets: &[&str]) -> Broker {
        let mut child = standalone(data, sets)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let word = |scheme: &str| {
            let word = line
                .split_whitespace()
                .find_map(|word| word.strip_prefix(scheme));
            word.unwrap_or_else(|| panic!("not the line of a broker that is ready: {line:?}"))
                .to_owned()
        };
        let (binary, web) = (word("pulsar://"), word("http://"));
        Broker {
            child,
            out,
            url: format!("pulsar://{binary}"),
            binary,
            web,
        }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// `kill -9`.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a signal, waits for the end; returns the exit code and what it said last on stdout.
    pub fn signal(self, name: &str) -> (Option<i32>, String) {
        let sent = Command::new("kill")
            .args([format!("-{name}"), self.pid().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
        self.end()
    }

    /// Like `signal`, of a process that may have ended by itself.
    pub fn signal_anyway(self, name: &str) -> (Option<i32>, String) {
        let _ = Command::new("kill")
            .args([format!("-{name}"), self.pid().to_string()])
            .stderr(Stdio::null())
            .status()
            .unwrap();
        self.end()
    }

    fn end(mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }

    /// Publishes these messages, one after another.
    pub fn produce(&self, topic: &str, messages: &[&str]) -> String {
        let mut command = hulse(&["produce", topic, "--url", &self.url]);
        for message in messages {
            command.args(["-m", message]);
        }
        text(run(&mut command))
    }

    /// Consumes so many messages; returns their lines.
    pub fn consume(&self, topic: &str, count: usize, more: &[&str]) -> Vec<String> {
        let count = count.to_string();
        let mut command = hulse(&[
            "consume", topic, "-n", &count, "-p", "earliest", "--url", &self.url,
        ]);
        text(run(command.args(more)))
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// Status and body of a page.
    pub fn get(&self, path: &str) -> (u16, String) {
        let mut socket = TcpStream::connect(&self.web).unwrap();
        write!(
            socket,
            "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            self.web
        )
        .unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        let status = answer.split_whitespace().nth(1).unwrap().parse().unwrap();
        (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
    }

    /// The value of a metric whose line begins so.
    pub fn metric(&self, begin: &str) -> Option<f64> {
        let page = self.get("/metrics").1;
        let line = page.lines().find(|line| line.starts_with(begin))?;
        line.rsplit(' ').next()?.parse().ok()
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command to its end; one that does not end is a failure.
pub fn run(command: &mut Command) -> Output {
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id().to_string();
    let (tell, told) = std::sync::mpsc::channel();
    // What it says is read while it runs: pipes are short.
    std::thread::spawn(move || tell.send(child.wait_with_output()));
    match told.recv_timeout(PATIENCE) {
        Ok(output) => output.unwrap(),
        Err(_) => {
            let _ = Command::new("kill").args(["-KILL", &pid]).status();
            panic!("{command:?} did not end; it said {:?}", told.recv());
        }
    }
}

/// What a command said that worked.
pub fn text(output: Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Exit code and stderr of a command that did not work.
pub fn failure(output: Output) -> (Option<i32>, String) {
    assert!(!output.status.success(), "{output:?}");
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
    )
}
