//! Transcripts: what was said to a topic and what it said, rule by rule; then random schedules.

mod log;
mod model;
mod world;

mod acking;
mod asking;
mod delivering;
mod ending;
mod exclusive;
mod failing_over;
mod finding;
mod loading;
mod passing;
mod publishing;
mod random;
mod reading;
mod seeking;
mod settling;
mod sharing;
mod subscribing;
mod tasks;
