//! The short name of a set of topics, by which a client says what it knows already.

use crate::checksum;

/// CRC32C over the sorted names joined by commas, as the hexadecimal of its little-endian bytes: what
/// GET_TOPICS_OF_NAMESPACE and WATCH_TOPIC_LIST carry as `topics_hash` (Java prints a Guava hash code that way).
/// The order of `names` does not matter.
pub fn topics_hash<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_unstable();
    let hash = checksum::crc32c(names.join(",").as_bytes());
    format!("{:08x}", hash.swap_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_golden_table() {
        let table = include_str!("../tests/golden/golden-hashes.tsv");
        let rows: Vec<Vec<&str>> = table
            .lines()
            .map(|line| line.split('\t').collect())
            .collect();
        let rows: Vec<_> = rows.iter().filter(|row| row[0] == "topics_hash").collect();
        assert_eq!(rows.len(), 5);
        for row in rows {
            let names = row[1].split(',').filter(|name| !name.is_empty());
            assert_eq!(topics_hash(names), row[2], "{}", row[1]);
        }
    }
}
