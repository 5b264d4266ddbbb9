//! Checksummed append segments with group commit over world's disk
