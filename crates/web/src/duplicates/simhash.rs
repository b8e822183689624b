//! SimHash of a text over shingles of three words.
//!
//! Each shingle votes with the bits of its hash (Charikar 2002); the majority of each of the 64 bits is the
//! fingerprint. Near duplicates among 8e9 pages are within a distance of 3 (Manku et al. 2007).

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Words of a shingle.
const SHINGLE_WORDS: usize = 3;

/// Returns the SimHash of a text; 0 of one without words. Case and punctuation do not count.
///
/// Linear in the text, memory independent of it.
pub fn simhash(text: &str) -> u64 {
    let mut votes = [0i64; 64];
    let mut recent = [0u64; SHINGLE_WORDS];
    let mut words_count = 0usize;
    let mut lower = String::new();
    for word in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        lower.clear();
        lower.extend(word.chars().flat_map(char::to_lowercase));
        recent.rotate_left(1);
        recent[SHINGLE_WORDS - 1] = xxh3_64_with_seed(lower.as_bytes(), 0);
        words_count += 1;
        if words_count >= SHINGLE_WORDS {
            vote(&mut votes, shingle(&recent));
        }
    }
    // A text of one or two words is a shingle by itself.
    if (1..SHINGLE_WORDS).contains(&words_count) {
        vote(&mut votes, shingle(&recent));
    }
    votes
        .iter()
        .enumerate()
        .fold(0, |hash, (bit, &votes)| hash | u64::from(votes > 0) << bit)
}

/// Returns the number of bits in which two fingerprints differ.
pub fn distance(a: u64, b: u64) -> u32 {
    (a ^ b).count_ones()
}

fn shingle(words: &[u64; SHINGLE_WORDS]) -> u64 {
    let mut bytes = [0; 8 * SHINGLE_WORDS];
    for (slot, word) in bytes.chunks_exact_mut(8).zip(words) {
        slot.copy_from_slice(&word.to_le_bytes());
    }
    xxh3_64_with_seed(&bytes, 1)
}

fn vote(votes: &mut [i64; 64], hash: u64) {
    for (bit, votes) in votes.iter_mut().enumerate() {
        *votes += ((hash >> bit & 1) as i64) * 2 - 1;
    }
}
