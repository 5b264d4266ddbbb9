//! The one binary: reads the configuration, opens doors.

mod config;

fn main() {
    let mut given = config::Given::default();
    let _ = given.read_set("a=b");
    let _ = config::check(&given);
}
