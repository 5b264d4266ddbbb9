//! The one binary: reads the configuration, opens doors.
fn main() {}
