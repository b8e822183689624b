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
    let mut votes = Votes {
        planes: [0; 48],
        count: 0,
    };
    let mut recent = [0u64; SHINGLE_WORDS];
    let mut words_count = 0usize;
    let mut lower = String::new();
    each_word(text, |word| {
        recent = [recent[1], recent[2], word_hash(word, &mut lower)];
        words_count += 1;
        if words_count >= SHINGLE_WORDS {
            votes.add(shingle(&recent));
        }
    });
    // A text of one or two words is a shingle by itself.
    if (1..SHINGLE_WORDS).contains(&words_count) {
        votes.add(shingle(&recent));
    }
    votes.majority()
}

/// Returns the number of bits in which two fingerprints differ.
pub fn distance(a: u64, b: u64) -> u32 {
    (a ^ b).count_ones()
}

/// Calls `each` for the longest stretches of letters and digits.
#[inline]
fn each_word(text: &str, mut each: impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let mut is_ascii = true;
        while let Some(&byte) = bytes.get(at) {
            if byte.is_ascii_alphanumeric() {
                at += 1;
                continue;
            }
            is_ascii = byte.is_ascii();
            break;
        }
        if is_ascii {
            if start < at {
                each(&text[start..at]);
            }
            at += 1;
            continue;
        }
        // Other letters join what stands before them: on to the next ASCII character that ends a word.
        while at < bytes.len() && (!bytes[at].is_ascii() || bytes[at].is_ascii_alphanumeric()) {
            at += 1;
        }
        let words = text[start..at].split(|character: char| !character.is_alphanumeric());
        words.filter(|word| !word.is_empty()).for_each(&mut each);
    }
}

/// Returns the hash of a word in lower case.
#[inline]
fn word_hash(word: &str, lower: &mut String) -> u64 {
    let has_capital = |byte: u8| byte.is_ascii_uppercase() || !byte.is_ascii();
    if !word.bytes().any(has_capital) {
        return xxh3_64_with_seed(word.as_bytes(), 0);
    }
    lower.clear();
    match word.is_ascii() {
        true => {
            lower.push_str(word);
            lower.make_ascii_lowercase();
        }
        false => lower.extend(word.chars().flat_map(char::to_lowercase)),
    }
    xxh3_64_with_seed(lower.as_bytes(), 0)
}

fn shingle(words: &[u64; SHINGLE_WORDS]) -> u64 {
    let mut bytes = [0; 8 * SHINGLE_WORDS];
    bytes[..8].copy_from_slice(&words[0].to_le_bytes());
    bytes[8..16].copy_from_slice(&words[1].to_le_bytes());
    bytes[16..].copy_from_slice(&words[2].to_le_bytes());
    xxh3_64_with_seed(&bytes, 1)
}

/// Counters of the 64 bits of hashes, bit-sliced: `planes[p]` has bit p of the counter of each bit. Adding a hash is an
/// addition with carry of all counters at once, which ends after some eight planes.
struct Votes {
    planes: [u64; 48],
    count: u64,
}

impl Votes {
    #[inline]
    fn add(&mut self, hash: u64) {
        self.count += 1;
        let mut carry = hash;
        for plane in &mut self.planes {
            if carry == 0 {
                return;
            }
            (*plane, carry) = (*plane ^ carry, *plane & carry);
        }
    }

    /// Returns the bits that more than half of the hashes have.
    fn majority(&self) -> u64 {
        let count_of = |bit: usize| -> u64 {
            let planes = self.planes.iter().enumerate();
            planes.map(|(plane, bits)| (bits >> bit & 1) << plane).sum()
        };
        let has_most = |bit: &usize| 2 * count_of(*bit) > self.count;
        (0..64)
            .filter(has_most)
            .fold(0, |hash, bit| hash | 1 << bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Slow twin of [`simhash`]: a vote of each shingle for each bit.
    fn simhash_by_votes(text: &str) -> u64 {
        let words: Vec<u64> = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(|word| {
                let lower: String = word.chars().flat_map(char::to_lowercase).collect();
                xxh3_64_with_seed(lower.as_bytes(), 0)
            })
            .collect();
        let mut shingles: Vec<[u64; 3]> = words
            .windows(3)
            .map(|three| [three[0], three[1], three[2]])
            .collect();
        match words[..] {
            [one] => shingles.push([0, 0, one]),
            [one, two] => shingles.push([0, one, two]),
            _ => {}
        }
        let mut votes = [0i64; 64];
        for words in &shingles {
            let hash = shingle(words);
            for (bit, votes) in votes.iter_mut().enumerate() {
                *votes += ((hash >> bit & 1) as i64) * 2 - 1;
            }
        }
        (0..64).fold(0, |hash, bit| hash | u64::from(votes[bit] > 0) << bit)
    }

    proptest! {
        #[test]
        fn it_is_the_majority_of_votes(text in "((a|the|The|Ünï|caféX|xé1|İ|東京|x1|[a-z]{1,9})[ .,\n—\u{a0}]{0,2}){0,300}") {
            prop_assert_eq!(simhash(&text), simhash_by_votes(&text));
        }
    }
}
