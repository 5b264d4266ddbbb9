//! One connection, broker side
