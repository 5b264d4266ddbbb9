//! The known word that looks most like a wrong one.

/// Farther apart than this, two words are not one word with a slip in it.
const SLIPS_MAX: usize = 3;

/// The one of `words` that `word` was probably meant to be.
pub fn nearest<'a>(word: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word_lower = word.to_lowercase();
    words
        .map(|known| (distance(&word_lower, &known.to_lowercase()), known))
        .filter(|(slips, known)| *slips <= SLIPS_MAX && *slips * 3 <= known.len())
        .min()
        .map(|(_, known)| known)
}

/// Levenshtein's distance in bytes, or more than [`SLIPS_MAX`] as soon as the lengths say so.
fn distance(left: &str, right: &str) -> usize {
    if left.len().abs_diff(right.len()) > SLIPS_MAX {
        return SLIPS_MAX + 1;
    }
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.bytes().enumerate() {
        let mut diagonal = i;
        let mut before = i + 1;
        let mut next = vec![before];
        for (b, above) in right.bytes().zip(row.iter().skip(1)) {
            before = (diagonal + usize::from(a != b))
                .min(above + 1)
                .min(before + 1);
            diagonal = *above;
            next.push(before);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}
