//! All topics of one shard: takes letters, gathers effects
