//! Hash functions that clients and brokers must agree on.
