//! The real world: files and clocks of the operating system
