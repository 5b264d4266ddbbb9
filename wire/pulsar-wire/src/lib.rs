//! Pulsar's frames, commands and entry headers: bytes to values and back
