//! Likeness of two texts by word shingles, to recognise pages that say "not found" with status 200.
//!
//! A crawler requests a random path of a host once. Where the host answers 200, pages whose text is like
//! that answer's are not found either, whatever their status.

use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_64;

/// Words compared of each text; error pages are short.
const WORDS_MAX: usize = 5_000;
/// Share of common shingles from which on texts are alike.
const ALIKE_SHARE: f64 = 0.8;

/// Likeness of two texts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Likeness {
    /// Jaccard similarity of three-word shingles, 0 to 1.
    pub share: f64,
    /// Whether the texts are alike.
    pub is_alike: bool,
}

/// Compares the text of the probed page with that of another; numbers and white space do not count.
///
/// Words of digits are left out, since error pages like to print times and request numbers; so are words
/// of the random path, given in `probe_path`, which many repeat.
pub fn likeness(probe_text: &str, probe_path: &str, page_text: &str) -> Likeness {
    let random: HashSet<u64> = words(probe_path).map(hash).collect();
    let (a, b) = (shingles(probe_text, &random), shingles(page_text, &random));
    if a.is_empty() || b.is_empty() {
        let share = if a.is_empty() && b.is_empty() {
            1.0
        } else {
            0.0
        };
        return Likeness {
            share,
            is_alike: share == 1.0,
        };
    }
    let common = a.intersection(&b).count();
    let share = common as f64 / (a.len() + b.len() - common) as f64;
    Likeness {
        share,
        is_alike: share >= ALIKE_SHARE,
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().any(|c| !c.is_numeric()))
}

fn hash(word: &str) -> u64 {
    xxh3_64(word.to_lowercase().as_bytes())
}

fn shingles(text: &str, left_out: &HashSet<u64>) -> HashSet<[u64; 3]> {
    let words: Vec<u64> = words(text)
        .map(hash)
        .filter(|word| !left_out.contains(word))
        .take(WORDS_MAX)
        .collect();
    match words.as_slice() {
        [] => HashSet::new(),
        [only] => HashSet::from([[*only, 0, 0]]),
        [first, second] => HashSet::from([[*first, *second, 0]]),
        more => more
            .windows(3)
            .map(|three| [three[0], three[1], three[2]])
            .collect(),
    }
}
