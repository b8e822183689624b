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
