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
    for (i, word) in text.split_whitespace().enumerate() {
        if i > 0 {
            hasher.update(b" ");
        }
        hasher.update(word.as_bytes());
    }
    hasher.digest128()
}
