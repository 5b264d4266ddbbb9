//! The one way in: check, test, sim, guests.
fn main() {}
