//! What is acknowledged: the mark, the holes, batch bits, and their saved form
