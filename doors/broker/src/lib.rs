//! Owns: listeners, read and write loops, the threads that desks and disks sit on, the HTTP pages.
//! Never: holds a rule; those live in the core.
//! Told: settings, bytes from sockets, requests for pages, when to stop.
//! Says: bytes to sockets, values to desks and disks, why it must not live on.
//! Read first: `running`, then `connection`, `threads` (their pictures), `http`.

mod running;
mod settings;

mod house;
mod registry;
mod rooms;

mod connection;
mod listener;

mod threads;

mod asks;
mod clerk;
mod finder;
mod http;
mod watch_room;

mod counters;
mod fate;
mod first_start;
mod histogram;
mod wholeness;

pub use running::{Broker, StartError, Stopped, url};
pub use settings::BrokerSettings;

#[cfg(test)]
mod fate_tests;
#[cfg(test)]
mod first_start_tests;
#[cfg(test)]
mod page_tests;
#[cfg(test)]
mod registry_tests;
#[cfg(test)]
mod wholeness_tests;
