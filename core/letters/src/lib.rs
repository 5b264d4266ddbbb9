//! The addressed values that sessions and topics exchange
