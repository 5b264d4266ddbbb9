//! The same conversation from the client's chair
