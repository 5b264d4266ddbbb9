//! Entries of ledgers on this machine's disk: index, reads, collection; a ledger store in this process
