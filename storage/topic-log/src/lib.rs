//! Drives managed ledgers over the ledger and metadata seams; tail cache
