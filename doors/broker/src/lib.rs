//! Owns: listeners, read and write loops, the threads that desks and disks sit on, the HTTP pages.
//! Never: holds a rule; those live in the core.
//! Told: settings, bytes from sockets, signals. Says: bytes to sockets, values to desks and disks, one line when it can serve.
//! Read first: `settings`.

pub mod settings;

pub use settings::BrokerSettings;
