//! The real program: what it says, serves, keeps and survives.

mod admin;
mod command_line;
mod configuration;
mod conversations;
mod formats;
mod pages;
mod recording;
mod round_trips;
mod start_and_stop;
mod support;
