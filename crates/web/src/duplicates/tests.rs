//! Tests of duplicates: fast search against linear search, texts that are alike and that are not.

use proptest::prelude::*;

use super::*;

/// Slow twin of `Groups`: compares with every fingerprint.
#[derive(Default)]
struct Linear {
    fingerprints: Vec<(u64, u32)>,
}

impl Linear {
    fn nearest(&self, fingerprint: u64) -> Option<(u64, u32)> {
        let near = self
            .fingerprints
            .iter()
            .filter(|row| distance(row.0, fingerprint) <= DISTANCE_MAX);
        // The first of equal minima is the earliest.
        near.min_by_key(|row| distance(row.0, fingerprint)).copied()
    }

    fn insert(&mut self, fingerprint: u64) -> u32 {
        let near = self.nearest(fingerprint);
        let group = near.map_or(self.fingerprints.len() as u32, |row| row.1);
        if near.is_none_or(|row| row.0 != fingerprint) {
            self.fingerprints.push((fingerprint, group));
        }
        group
    }
}

/// Fingerprints in clusters: a few centres with a few bits flipped.
fn clustered() -> impl Strategy<Value = Vec<u64>> {
    let flips = prop::collection::vec(0u32..64, 0..6);
    prop::collection::vec((0u64..4, flips), 0..80).prop_map(|rows| {
        let row = |(centre, flips): (u64, Vec<u32>)| {
            flips
                .iter()
                .fold(centre.wrapping_mul(0x9e37_79b9_7f4a_7c15), |hash, bit| {
                    hash ^ 1 << bit
                })
        };
        rows.into_iter().map(row).collect()
    })
}

proptest! {
    #[test]
    fn groups_equal_their_linear_twin(fingerprints in clustered(), asked in clustered()) {
        let (mut groups, mut linear) = (Groups::new(), Linear::default());
        for fingerprint in fingerprints {
            prop_assert_eq!(groups.insert(fingerprint), linear.insert(fingerprint));
        }
        prop_assert_eq!(groups.len(), linear.fingerprints.len());
        for fingerprint in asked {
            prop_assert_eq!(groups.nearest(fingerprint), linear.nearest(fingerprint).map(|row| row.0));
            prop_assert_eq!(groups.find(fingerprint), linear.nearest(fingerprint).map(|row| row.1));
        }
    }

    #[test]
    fn the_exact_hash_is_that_of_the_words(text in "[a\u{e9}\u{a0}\u{2003} \n]{0,40}|[ab \t\u{b}\u{1f}\n]{0,40}") {
        let words: Vec<&str> = text.split_whitespace().collect();
        let slow = xxhash_rust::xxh3::xxh3_128(words.join(" ").as_bytes());
        prop_assert_eq!(exact_hash(&text), slow);
        prop_assert_eq!(words_count(&text), words.len());
    }

    #[test]
    fn any_text_has_hashes(a in ".{0,80}", b in ".{0,80}") {
        let likeness = likeness(&a, "/x", &b);
        prop_assert!((0.0..=1.0).contains(&likeness.share));
        prop_assert_eq!(simhash(&a), simhash(&format!(" {a}\n")));
        prop_assert_eq!(exact_hash(&a), exact_hash(&format!("\t{a} \n")));
    }
}

/// Words from a fixed sequence, with `changed` of them replaced.
fn text(words_count: usize, changed: &[usize]) -> String {
    let word = |i: usize| {
        if changed.contains(&i) {
            format!("other{i}")
        } else {
            format!("word{}", i * i % 977)
        }
    };
    (0..words_count).map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn white_space_does_not_change_the_exact_hash() {
    assert_eq!(exact_hash("a  b\nc "), exact_hash(" a b c"));
    assert_ne!(exact_hash("a b c"), exact_hash("ab c"));
    assert_ne!(exact_hash("a b c"), exact_hash("A b c"));
}

#[test]
fn similar_texts_are_near_and_others_far() {
    let (a, b) = (simhash(&text(600, &[])), simhash(&text(600, &[300])));
    assert!(distance(a, b) <= DISTANCE_MAX, "{}", distance(a, b));
    let other: String = text(600, &(0..600).collect::<Vec<_>>());
    assert!(distance(a, simhash(&other)) > 12);
    assert_eq!(simhash("One, two: three!"), simhash("one two three"));
    assert_ne!(simhash("one two"), simhash("two one"));
    assert_eq!(simhash(" - "), 0);
}

#[test]
fn groups_follow_the_earliest() {
    let mut groups = Groups::new();
    assert!(groups.is_empty());
    assert_eq!(
        [
            groups.insert(0),
            groups.insert(0b111),
            groups.insert(0b1111),
            groups.insert(!0)
        ],
        [0, 0, 0, 3]
    );
    assert_eq!(
        (groups.find(0b1), groups.find(0xffff_0000)),
        (Some(0), None)
    );
    assert_eq!((groups.insert(0), groups.len()), (0, 4));
}

#[test]
fn error_pages_are_alike_whatever_path_and_time_they_print() {
    let page = |path: &str, time: &str| {
        format!(
            "Sorry! The page {path} could not be found on this server. Go back to the start. {time}"
        )
    };
    let probe = page("/k3jf9x", "request 81723 at 12:01");
    assert!(likeness(&probe, "/k3jf9x", &page("", "request 99 at 17:45")).is_alike);
    assert!(!likeness(&probe, "/k3jf9x", &text(50, &[])).is_alike);
    assert!(!likeness(&probe, "/k3jf9x", "").is_alike);
    assert_eq!(likeness("", "/k3jf9x", "404").share, 1.0);
}
