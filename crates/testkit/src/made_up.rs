//! Made-up collection with realistic proportions, the same in every run and on every machine, so that measurements
//! need no external data.
//!
//! Words follow Zipf's law. A document has a few topics, words that it says again and again, and many a word
//! draws its partner after it, so that there are phrases to be found. Integers alone decide; no library of
//! random numbers does, whose next version might give others.

use document::Document;

/// Number of distinct words.
const WORDS_COUNT: usize = 30_000;
const TOPICS_COUNT: usize = 12;
/// The seeds of documents and queries.
const DOCUMENTS_SEED: u64 = 0x5DEE_CE66_D1CE_4E5B;
const QUERIES_SEED: u64 = 0x2545_F491_4F6C_DD1D;

/// The words and their weights.
pub struct MadeUp {
    /// Sums of weights up to each rank.
    sums: Vec<u64>,
}

impl Default for MadeUp {
    fn default() -> MadeUp {
        let mut sum = 0;
        let weigh = |rank: usize| {
            // Zipf's law, the first ranks flattened as in prose.
            sum += (1 << 40) / (rank as u64 + 3);
            sum
        };
        MadeUp {
            sums: (0..WORDS_COUNT).map(weigh).collect(),
        }
    }
}

impl MadeUp {
    /// Returns the first documents of the collection.
    pub fn documents(&self, count: usize) -> impl Iterator<Item = Document> {
        (0..count).map(|number| self.document(number as u64))
    }

    fn document(&self, number: u64) -> Document {
        let mut random = Random::new(DOCUMENTS_SEED ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let topics: [usize; TOPICS_COUNT] = std::array::from_fn(|_| self.rank(&mut random));
        // Most documents are short, some are long: a length of two factors.
        let length = (12 + random.below(28)) * (1 + random.below(3) * random.below(4));
        let mut ranks: Vec<usize> = Vec::with_capacity(length as usize);
        while ranks.len() < length as usize {
            let rank = match (random.below(8), ranks.last()) {
                (0, Some(&last)) => partner(last),
                (1 | 2, _) => topics[random.below(TOPICS_COUNT as u64) as usize],
                _ => self.rank(&mut random),
            };
            ranks.push(rank);
        }
        let text = |ranks: &[usize]| ranks.iter().map(|&rank| word(rank)).collect::<Vec<_>>();
        Document {
            url: format!("http://site{}.test/{number}", number % 997),
            title: text(&topics[..4]).join(" "),
            body: text(&ranks).join(" "),
            ..Document::default()
        }
    }

    /// Returns queries of one to five words: some of frequent words, some of rare ones, some that are phrases.
    pub fn queries(&self, count: usize) -> impl Iterator<Item = String> {
        let mut random = Random::new(QUERIES_SEED);
        (0..count).map(move |number| {
            let words_count = [2, 1, 3, 2, 4, 2, 3, 5][number % 8];
            let mut rank = self.rank(&mut random);
            let mut words = vec![word(rank)];
            while words.len() < words_count {
                rank = match random.below(5) {
                    0 | 1 => partner(rank),
                    2 => random.below(20) as usize,
                    3 => random.below(2_000) as usize,
                    _ => self.rank(&mut random),
                };
                words.push(word(rank));
            }
            words.join(" ")
        })
    }

    fn rank(&self, random: &mut Random) -> usize {
        let total = self.sums[WORDS_COUNT - 1];
        let drawn = random.below(total);
        self.sums.partition_point(|&sum| sum <= drawn)
    }
}

/// Returns the rank of the word that often follows another.
fn partner(rank: usize) -> usize {
    (rank * 7 + 3) % 600
}

/// Returns the word of a rank: syllables, no two alike.
fn word(rank: usize) -> String {
    const FIRST: [&str; 20] = [
        "b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "br", "dr",
        "st", "tr", "pl",
    ];
    const THEN: [&str; 5] = ["a", "e", "i", "o", "u"];
    let mut rest = rank + FIRST.len() * THEN.len();
    let mut word = String::new();
    while rest > 0 {
        word.push_str(FIRST[rest % FIRST.len()]);
        rest /= FIRST.len();
        word.push_str(THEN[rest % THEN.len()]);
        rest /= THEN.len();
    }
    word
}

/// Pseudorandom numbers (xorshift64, Marsaglia 2003). Not `stats::Random`: kept instruction counts and tests of exact
/// counts rest on these very documents.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        let mut random = Random(seed.max(1));
        // Seeds that are close to each other begin alike.
        for _ in 0..8 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number below `limit`. Some are slightly likelier than others, which does not matter here.
    fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_same_in_every_run() {
        let made_up = MadeUp::default();
        let first = made_up.documents(2).last().map(|document| document.body);
        let again = MadeUp::default().documents(2).last();
        assert_eq!(first, again.map(|document| document.body));
        // Totals that are kept rest on these very words.
        let queries: Vec<String> = made_up.queries(3).collect();
        assert_eq!(queries, EXPECTED);
    }

    const EXPECTED: [&str; 3] = ["boha gefa", "zada", "brada popa luda"];

    #[test]
    fn no_two_words_are_alike() {
        let words: HashSet<String> = (0..WORDS_COUNT).map(word).collect();
        assert_eq!(words.len(), WORDS_COUNT);
    }

    #[test]
    fn frequent_words_are_frequent() {
        let documents: Vec<Document> = MadeUp::default().documents(400).collect();
        let holding = |rank| {
            let word = word(rank);
            let holds = |document: &&Document| document.body.split(' ').any(|one| one == word);
            documents.iter().filter(holds).count()
        };
        assert!(holding(0) > 200, "{}", holding(0));
        assert!((20..200).contains(&holding(30)), "{}", holding(30));
        assert!(holding(20_000) < 10, "{}", holding(20_000));
    }
}
