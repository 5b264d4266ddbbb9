//! Shows on the release binary that each receipt leaves after the sync that covers it.
//!
//! A client with one message outstanding publishes some; strace records the broker's writes to
//! segments, its syncs and its writes to the client's socket. Between the write of an entry to a
//! segment and the next write to the socket there must be a finished `fdatasync` of that segment.

use crate::broker::Broker;
use crate::place::Place;
use crate::report::Report;
use crate::run::{is_there, must};
use crate::sims;
use anyhow::{Context, Result, bail};
use std::process::Command;
use std::time::Duration;

const MESSAGES: usize = 30;

/// Traces and judges.
pub fn receipts_after_syncs(place: &Place, report: &mut Report) -> Result<()> {
    if !is_there("strace") {
        report.skip("strace", "strace is not on the PATH");
        return Ok(());
    }
    sims::build(place)?;
    report.step("each receipt after its sync (strace)", || traced(place));
    Ok(())
}

fn traced(place: &Place) -> Result<()> {
    let folder = place.scratch("strace")?;
    let trace = folder.join("trace");
    let mut command = Command::new("strace");
    command.args([
        "-f",
        "-y",
        "-ttt",
        "-e",
        "trace=pwrite64,pwritev,pwritev2,fdatasync,fsync,write,writev,sendto,sendmsg",
    ]);
    command
        .arg("-o")
        .arg(&trace)
        .arg(place.release("hulse"))
        .arg("standalone");
    command.arg("--data-dir").arg(folder.join("data"));
    for setting in [
        "brokerServicePort=0",
        "webServicePort=0",
        "bindAddress=127.0.0.1",
        "advertisedAddress=127.0.0.1",
    ] {
        command.args(["--set", setting]);
    }
    let broker = Broker::start_command(&mut command)?;
    for at in 0..MESSAGES {
        let mut produce = Command::new(place.release("hulse"));
        produce.args([
            "produce",
            "strace",
            "-m",
            &format!("message {at}"),
            "--url",
            &broker.url,
        ]);
        must(&mut produce, Duration::from_secs(20))?;
    }
    drop(broker);
    let text = std::fs::read_to_string(&trace).context("strace wrote no trace")?;
    let receipts = judge(&text)?;
    if receipts < MESSAGES {
        bail!("only {receipts} receipts were seen in the trace, {MESSAGES} were sent");
    }
    println!("{receipts} writes to clients followed a segment write, each after its fdatasync");
    Ok(())
}

/// Walks the trace: how many socket writes followed a segment write, each after a finished sync.
fn judge(trace: &str) -> Result<usize> {
    let mut unsynced: Option<String> = None;
    let mut syncing: Vec<(String, bool)> = Vec::new();
    let mut receipts = 0;
    let mut fresh = false;
    for line in trace.lines() {
        let pid = line
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned();
        let segment = line.contains(".seg>");
        let socket = line.contains("<socket:") || line.contains("<TCP");
        let sync = line.contains("fdatasync(") || line.contains("fsync(");
        let resumed = line.contains("fdatasync resumed") || line.contains("fsync resumed");
        if segment && (line.contains("pwrite")) {
            unsynced = Some(line.to_owned());
        } else if segment && sync && line.contains("<unfinished") {
            syncing.push((pid, true));
        } else if (segment && sync && line.ends_with("= 0"))
            || (resumed && line.ends_with("= 0") && syncing.iter().any(|(who, _)| *who == pid))
        {
            syncing.retain(|(who, _)| *who != pid);
            fresh |= unsynced.take().is_some();
        } else if socket && !line.contains("resumed") {
            if let Some(write) = &unsynced
                && line.contains("SEND_RECEIPT")
            {
                bail!("a receipt left before the sync that covers it:\n{write}\n{line}");
            }
            if std::mem::take(&mut fresh) {
                receipts += 1;
            }
        }
    }
    Ok(receipts)
}
