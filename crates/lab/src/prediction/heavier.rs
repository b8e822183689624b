//! Heavier queries, joined from the given ones to keep a handler busy for milliseconds on any index.
//!
//! On a small index the search takes less time than the request around it, and a prediction would test
//! the way to the server rather than the queues. Queries are therefore joined from several given ones
//! until a search takes a few milliseconds:
//!
//! ```text
//! given ─► each alone ──────────► long enough? ─► asked as they are
//!              │ no
//!              ▼
//!          n together, 2n … ────► long enough? ─► joined, n on average
//! ```
//!
//! The number of joined queries is exponentially distributed: as with real queries, most searches are
//! short and a few take several times the mean.
use crate::LabError;

/// Lower limit on the mean search time in ms, if the index is large enough.
const SEARCH_MS_MIN: f64 = 5.0;
/// Aim for the mean search time in ms, above the limit because one step may fall short.
const SEARCH_MS_AIM: f64 = 6.5;
/// Upper limit on the mean number of joined queries: more would exceed the parser's limit of words.
const JOINED_MAX: f64 = 160.0;
/// Upper limit on words per query, below the parser's limit.
const WORDS_MAX: usize = 1_000;
/// Upper limit on bytes per query: below the parser's limit even with three bytes in the URL for each.
const BYTES_MAX: usize = 12_000;
/// Upper limit on attempts to find the number of joined queries.
const STEPS_MAX: usize = 4;

/// Queries with their search time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Heavier {
    pub(crate) texts: Vec<String>,
    /// Mean number of given queries in each; 1 if they are used unchanged.
    pub(crate) joined: f64,
    /// Mean search time in ms of a single client that sends some of them.
    pub(crate) search_ms: f64,
}

impl Heavier {
    /// Builds `count` queries from the given ones. `search_ms` measures the mean search time of a
    /// sample.
    pub(crate) fn of(
        given: &[String],
        count: usize,
        seed: u64,
        mut search_ms: impl FnMut(&[String]) -> Result<f64, LabError>,
    ) -> Result<Heavier, LabError> {
        let mut heavier = Heavier {
            texts: given.iter().take(count).cloned().collect(),
            joined: 1.0,
            search_ms: 0.0,
        };
        for step in 0..STEPS_MAX {
            heavier.search_ms = search_ms(&heavier.texts)?;
            let more = SEARCH_MS_AIM / heavier.search_ms.max(1e-3);
            let joined = (heavier.joined * more).min(JOINED_MAX);
            let is_last = step + 1 == STEPS_MAX || joined <= heavier.joined;
            if heavier.search_ms >= SEARCH_MS_MIN || is_last {
                break;
            }
            heavier.joined = joined;
            heavier.texts = joined_texts(given, joined, count, seed);
        }
        Ok(heavier)
    }
}

/// Builds `count` queries, each of the words of `mean` given ones on average. Operators of the query
/// language are dropped, so that the words of one query do not change the meaning of another.
fn joined_texts(given: &[String], mean: f64, count: usize, seed: u64) -> Vec<String> {
    let words = given.iter().map(|query| words(query));
    let words: Vec<Vec<String>> = words.filter(|words| !words.is_empty()).collect();
    if words.is_empty() {
        return given.iter().take(count).cloned().collect();
    }
    let mut next = words.iter().cycle();
    let text = |number: usize| {
        let parts = (mean * exponential(seed, number as u64)).round().max(1.0) as usize;
        let mut text = String::new();
        let words = next.by_ref().take(parts).flatten();
        for word in words.take(WORDS_MAX) {
            if text.len() + word.len() >= BYTES_MAX {
                break;
            }
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(word);
        }
        text
    };
    (0..count).map(text).collect()
}

fn words(query: &str) -> Vec<String> {
    let words = query.split(|sign: char| !sign.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Returns an exponential number of mean 1 that depends only on seed and number.
pub(super) fn exponential(seed: u64, number: u64) -> f64 {
    let hash = xxhash_rust::xxh3::xxh3_64_with_seed(&number.to_le_bytes(), seed);
    let uniform = (hash >> 11) as f64 / (1u64 << 53) as f64;
    -(1.0 - uniform).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(count: usize) -> Vec<String> {
        (0..count)
            .map(|n| format!("Word{n} -other \"x\""))
            .collect()
    }

    /// Returns a measure in which each word of a query takes `ms`.
    fn per_word(ms: f64) -> impl FnMut(&[String]) -> Result<f64, LabError> {
        move |texts| {
            let words: usize = texts.iter().map(|text| text.split(' ').count()).sum();
            Ok(ms * words as f64 / texts.len() as f64)
        }
    }

    #[test]
    fn queries_that_take_long_enough_are_asked_as_they_are() {
        let heavier = Heavier::of(&given(50), 20, 1, per_word(2.0)).unwrap();
        assert_eq!(heavier.texts, given(20));
        assert_eq!((heavier.joined, heavier.search_ms), (1.0, 6.0));
    }

    #[test]
    fn short_ones_are_joined_until_they_do() {
        let heavier = Heavier::of(&given(5_000), 300, 1, per_word(0.05)).unwrap();
        assert!((3.0..13.0).contains(&heavier.search_ms), "{heavier:?}");
        assert_eq!(heavier.texts.len(), 300);
        assert!(heavier.joined > 10.0);
        let lengths: Vec<usize> = heavier.texts.iter().map(|t| t.split(' ').count()).collect();
        let longest = *lengths.iter().max().unwrap() as f64;
        let mean = lengths.iter().sum::<usize>() as f64 / 300.0;
        // The maximum of 300 exponential numbers is about ln 300 = 5.7 times the mean.
        assert!(
            longest > 3.0 * mean && longest <= WORDS_MAX as f64,
            "{longest} {mean}"
        );
        // Queries consist of words alone, without operators, and start with the first given words.
        assert!(heavier.texts.iter().all(|text| !text.contains(['-', '"'])));
        let first: Vec<&str> = heavier.texts[0].split(' ').take(3).collect();
        assert_eq!(first, ["word0", "other", "x"]);
        assert_eq!(
            heavier,
            Heavier::of(&given(5_000), 300, 1, per_word(0.05)).unwrap()
        );
    }

    #[test]
    fn an_index_that_is_too_small_has_an_end() {
        let mut asked = 0;
        let heavier = Heavier::of(&["a".into(), "!".into()], 40, 1, |_| {
            asked += 1;
            Ok(0.0)
        });
        let heavier = heavier.unwrap();
        assert!(asked <= STEPS_MAX, "{asked}");
        assert_eq!(heavier.joined, JOINED_MAX);
        let is_short =
            |text: &String| text.len() <= BYTES_MAX && text.split(' ').count() <= WORDS_MAX;
        assert!(heavier.texts.iter().all(is_short));
    }
}
