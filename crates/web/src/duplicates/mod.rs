//! Duplicates of texts: equal ones by hash, similar ones by SimHash, pages that stand for "not found".

mod groups;
mod simhash;
mod soft_404;
#[cfg(test)]
mod tests;

use xxhash_rust::xxh3::Xxh3Default;

pub use groups::{DISTANCE_MAX, Groups};
pub use simhash::{distance, simhash};
pub use soft_404::{Likeness, likeness};

/// Returns the XXH3-128 hash of a text, equal for texts that differ in white space alone.
///
/// Words are separated by exactly one space in what is hashed; letters are hashed as they are.
pub fn exact_hash(text: &str) -> u128 {
    if text.is_ascii() {
        return exact_hash_of_ascii(text.as_bytes());
    }
    let mut hasher = Xxh3Default::new();
    let bytes = text.as_bytes();
    // Words that one space separates already are hashed together.
    let mut stretch = 0..0;
    for word in text.split_whitespace() {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        let joins = start == stretch.end + 1 && bytes[stretch.end] == b' ' && !stretch.is_empty();
        if !joins {
            if !stretch.is_empty() {
                hasher.update(&bytes[stretch]);
                hasher.update(b" ");
            }
            stretch = start..start;
        }
        stretch.end = start + word.len();
    }
    hasher.update(&bytes[stretch]);
    hasher.digest128()
}

/// Returns the number of words between white space.
pub fn words_count(text: &str) -> usize {
    if !text.is_ascii() {
        return text.split_whitespace().count();
    }
    let bytes = text.as_bytes();
    let starts = bytes.windows(2);
    let starts = starts.filter(|pair| is_space(pair[0]) && !is_space(pair[1]));
    usize::from(bytes.first().is_some_and(|&byte| !is_space(byte))) + starts.count()
}

/// Whether an ASCII character is white space to [`char::is_whitespace`], too.
fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// Does the same as [`exact_hash`] without a look at characters.
fn exact_hash_of_ascii(bytes: &[u8]) -> u128 {
    let word_from = |at: usize| bytes[at..].iter().position(|&byte| !is_space(byte));
    let mut hasher = Xxh3Default::new();
    let mut next = word_from(0);
    let (mut start, mut at) = (next.unwrap_or(0), next.unwrap_or(0));
    while next.is_some() {
        while at < bytes.len() && !is_space(bytes[at]) {
            at += 1;
        }
        let joins = bytes[at..].first() == Some(&b' ');
        if joins && bytes.get(at + 1).is_some_and(|&byte| !is_space(byte)) {
            at += 1;
            continue;
        }
        hasher.update(&bytes[start..at]);
        next = word_from(at);
        if let Some(gap) = next {
            hasher.update(b" ");
            at += gap;
            start = at;
        }
    }
    hasher.digest128()
}
