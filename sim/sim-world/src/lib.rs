//! A made-up disk that loses, tears and reorders; made-up dice
