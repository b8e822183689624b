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
use load::{JOINED_MAX, joined_queries};

/// Lower limit on the mean search time in ms, if the index is large enough.
pub(crate) const SEARCH_MS_MIN: f64 = 5.0;
/// Aim for the mean search time in ms, above the limit because one step may fall short.
const SEARCH_MS_AIM: f64 = 6.5;
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
    /// Builds `count` queries from the given ones, unchanged if a search takes `at_least_ms` on average. `search_ms`
    /// measures the mean search time of a sample.
    pub(crate) fn of(
        given: &[String],
        at_least_ms: f64,
        (count, seed): (usize, u64),
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
            let joined = (heavier.joined * more).min(JOINED_MAX as f64);
            let is_last = step + 1 == STEPS_MAX || joined <= heavier.joined;
            if heavier.search_ms >= at_least_ms || is_last {
                break;
            }
            heavier.joined = joined;
            heavier.texts = joined_queries(given, (joined, " "), count, seed);
        }
        Ok(heavier)
    }
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
        let heavier = Heavier::of(&given(50), SEARCH_MS_MIN, (20, 1), per_word(2.0)).unwrap();
        assert_eq!(heavier.texts, given(20));
        assert_eq!((heavier.joined, heavier.search_ms), (1.0, 6.0));
    }

    #[test]
    fn short_ones_are_joined_until_they_do() {
        let heavier = Heavier::of(&given(5_000), SEARCH_MS_MIN, (300, 1), per_word(0.05)).unwrap();
        assert!((3.0..13.0).contains(&heavier.search_ms), "{heavier:?}");
        assert_eq!(heavier.texts.len(), 300);
        assert!(heavier.joined > 10.0);
        let lengths: Vec<usize> = heavier.texts.iter().map(|t| t.split(' ').count()).collect();
        let longest = *lengths.iter().max().unwrap() as f64;
        let mean = lengths.iter().sum::<usize>() as f64 / 300.0;
        // The maximum of 300 exponential numbers is about ln 300 = 5.7 times the mean.
        assert!(
            longest > 3.0 * mean && longest <= 1_000.0,
            "{longest} {mean}"
        );
        // Queries consist of words alone, without operators, and start with the first given words.
        assert!(heavier.texts.iter().all(|text| !text.contains(['-', '"'])));
        let first: Vec<&str> = heavier.texts[0].split(' ').take(3).collect();
        assert_eq!(first, ["word0", "other", "x"]);
        assert_eq!(
            heavier,
            Heavier::of(&given(5_000), SEARCH_MS_MIN, (300, 1), per_word(0.05)).unwrap()
        );
    }

    #[test]
    fn an_index_that_is_too_small_has_an_end() {
        let mut asked = 0;
        let heavier = Heavier::of(&["a".into(), "!".into()], SEARCH_MS_MIN, (40, 1), |_| {
            asked += 1;
            Ok(0.0)
        });
        let heavier = heavier.unwrap();
        assert!(asked <= STEPS_MAX, "{asked}");
        assert_eq!(heavier.joined, JOINED_MAX as f64);
    }
}
