//! Choice of the stored pairs: those that save most reading for their bytes.
//!
//! Without the pair, a phrase reads the positions of all documents that hold both words; with it, only of those that
//! hold the pair. The saving is the difference times the likelihood of such a query, the cost is the list's size; both
//! are estimated from a sample of the documents. Pairs with the best ratio are taken while there is room.

use super::walk::Walk;
use crate::segment::pairs::WORDS_MAX;
use crate::{Field, IndexError, Pairs, Segment, TermRecord};
use fst::Streamer;

/// Documents of a segment below which no pairs are stored: reading positions takes too little time there.
const DOCUMENTS_MIN: u32 = 4096;
/// Inverse of the share of documents that a frequent word occurs in: one in eight.
const FREQUENT: u32 = 8;
/// Inverse of the share of the segment's bytes that all pairs may take.
const SHARE: u64 = 256;
/// Approximate number of documents sampled.
const SAMPLE: u32 = 8192;
/// Words collected before the less frequent ones are dropped.
const WORDS_KEPT: usize = 4096;
/// Approximate bytes of a pair in the table, and of its list's bounds per block of 256 documents.
const PAIR_BYTES: f64 = 8.0;
const BLOCK_BYTES: f64 = 20.0;

/// Chosen pairs in order, and the words in them.
pub(super) struct Chosen {
    pub(super) words: Vec<(String, TermRecord)>,
    pub(super) pairs: Vec<(u8, u8)>,
}

/// Chooses the pairs of a segment whose file has `segment_bytes` bytes.
pub(super) fn choose(
    segment: &Segment,
    wanted: Pairs,
    segment_bytes: u64,
) -> Result<Chosen, IndexError> {
    let words = frequent_words(segment, wanted)?;
    let count = words.len() as u8;
    let pairs = match wanted {
        Pairs::None => Vec::new(),
        Pairs::All => (0..count)
            .flat_map(|first| (0..count).map(move |second| (first, second)))
            .collect(),
        Pairs::Frequent => best_pairs(segment, &words, (segment_bytes / SHARE) as f64)?,
    };
    Ok(used(words, pairs))
}

/// Returns the most frequent words of the default field, in the order of the dictionary.
fn frequent_words(
    segment: &Segment,
    wanted: Pairs,
) -> Result<Vec<(String, TermRecord)>, IndexError> {
    let least = match wanted {
        Pairs::None => return Ok(Vec::new()),
        Pairs::All => 1,
        Pairs::Frequent if segment.documents_count() < DOCUMENTS_MIN => return Ok(Vec::new()),
        Pairs::Frequent => segment.documents_count() / FREQUENT + 1,
    };
    let mut words = Vec::new();
    let mut terms = segment.terms_of(Field::Text);
    while terms.next().is_some() {
        let Some(record) = terms.record() else {
            return Err(segment.damaged_at_terms("terms unreadable"));
        };
        if record.documents_count >= least {
            let word = String::from_utf8_lossy(&terms.key()[1..]);
            words.push((word.into_owned(), record));
        }
        if words.len() == WORDS_KEPT {
            keep_most_frequent(&mut words);
        }
    }
    keep_most_frequent(&mut words);
    words.sort_unstable_by_key(|(_, record)| record.postings_start);
    Ok(words)
}

/// Keeps the `WORDS_MAX` most frequent words; of equally frequent ones the first.
fn keep_most_frequent(words: &mut Vec<(String, TermRecord)>) {
    words.sort_by_key(|(_, record)| std::cmp::Reverse(record.documents_count));
    words.truncate(WORDS_MAX);
}

/// Returns the pairs that save most per byte, up to `bytes_max` bytes together.
fn best_pairs(
    segment: &Segment,
    words: &[(String, TermRecord)],
    bytes_max: f64,
) -> Result<Vec<(u8, u8)>, IndexError> {
    let counts = Counts::of_sample(segment, words)?;
    let documents_count = f64::from(segment.documents_count());
    let mut rated = Vec::new();
    for first in 0..words.len() {
        for second in 0..words.len() {
            let at = first * WORDS_MAX + second;
            let scale = documents_count / f64::from(counts.documents);
            let documents = f64::from(counts.pairs[at]) * scale;
            let saved = f64::from(counts.both[at] - counts.pairs[at]) * scale;
            let bytes = bytes_of(documents, documents_count);
            let likely = likelihood(documents);
            if saved > 0.0 && documents > 0.0 {
                rated.push((likely * saved / bytes, bytes, (first as u8, second as u8)));
            }
        }
    }
    // A stable sort makes the choice deterministic.
    rated.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut left = bytes_max;
    rated.retain(|&(_, bytes, _)| {
        let fits = bytes <= left;
        left -= if fits { bytes } else { 0.0 };
        fits
    });
    let mut pairs: Vec<_> = rated.into_iter().map(|(_, _, pair)| pair).collect();
    pairs.sort_unstable();
    Ok(pairs)
}

/// Returns the fourth root of a pair's documents, which is taken to be proportional to the likelihood of its queries.
/// Of the powers 0, 1/4, 1/2, 3/4 and 1, this one left no outlier in two query logs on two collections.
fn likelihood(documents: f64) -> f64 {
    documents.sqrt().sqrt()
}

/// Estimates the bytes of a pair's list: the bits of the mean gap plus two for each gap, one or two bits for a
/// frequency.
fn bytes_of(documents: f64, documents_count: f64) -> f64 {
    let gap_bits = (documents_count / documents.max(1.0)).log2() + 2.0;
    documents * (gap_bits + 1.5) / 8.0 + documents / 256.0 * BLOCK_BYTES + PAIR_BYTES
}

/// Numbers of sampled documents that hold two words, and that hold one directly after the other, by first · 128 +
/// second.
struct Counts {
    documents: u32,
    both: Vec<u32>,
    pairs: Vec<u32>,
}

impl Counts {
    fn of_sample(segment: &Segment, words: &[(String, TermRecord)]) -> Result<Counts, IndexError> {
        let records: Vec<_> = words.iter().map(|&(_, record)| record).collect();
        let mut walk = Walk::new(segment, &records)?;
        let mut counts = Counts {
            documents: 0,
            both: vec![0; WORDS_MAX * WORDS_MAX],
            pairs: vec![0; WORDS_MAX * WORDS_MAX],
        };
        // Last document in which each pair was counted.
        let mut counted = vec![u32::MAX; WORDS_MAX * WORDS_MAX];
        let step = (segment.documents_count() / SAMPLE).max(1);
        let mut from = 0;
        while let Some(doc) = walk.next(from)? {
            // Documents without any of the words count as sampled too.
            counts.documents += 1 + (doc - from) / step;
            each_bit(walk.words(), |first| {
                let both = &mut counts.both[first * WORDS_MAX..][..WORDS_MAX];
                each_bit(walk.words(), |second| both[second] += 1);
            });
            walk.each_pair(|first, second| {
                let at = first * WORDS_MAX + second;
                counts.pairs[at] += u32::from(counted[at] != doc);
                counted[at] = doc;
            });
            from = doc + step;
        }
        Ok(counts)
    }
}

fn each_bit(mut bits: u128, mut each: impl FnMut(usize)) {
    while bits != 0 {
        each(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

/// Drops words that are in no pair.
fn used(words: Vec<(String, TermRecord)>, mut pairs: Vec<(u8, u8)>) -> Chosen {
    let mut numbers = [None; WORDS_MAX];
    for &(first, second) in &pairs {
        numbers[usize::from(first)] = Some(0);
        numbers[usize::from(second)] = Some(0);
    }
    for (new, number) in (0..).zip(numbers.iter_mut().flatten()) {
        *number = new;
    }
    let new_of = |old: u8| numbers[usize::from(old)].unwrap_or(0);
    for (first, second) in &mut pairs {
        (*first, *second) = (new_of(*first), new_of(*second));
    }
    let words = words.into_iter().zip(numbers);
    Chosen {
        words: words
            .filter_map(|(word, number)| number.map(|_: u8| word))
            .collect(),
        pairs,
    }
}
