//! An endless log made of ledgers, and the topic-log seam
