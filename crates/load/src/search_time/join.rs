//! Joins of given queries: their words as alternatives of one query.
use crate::random::Purpose;

/// Upper limit on words per query, below the parser's limit.
const WORDS_MAX: usize = 1_000;
/// Upper limit on bytes per query: below the parser's limit even with three bytes in the URL for each.
const BYTES_MAX: usize = 12_000;

/// Builds `count` queries, each of the words of `mean` given ones on average, with `between` between words. The number
/// of joined queries is exponentially distributed: as with real queries, most searches are short and a few take several
/// times the mean. Operators of the query language are dropped, so that the words of one query do not change the meaning
/// of another. Given queries without words are returned as they are.
pub fn joined_queries(
    given: &[String],
    (mean, between): (f64, &str),
    count: usize,
    seed: u64,
) -> Vec<String> {
    let words = words_of(given);
    if words.is_empty() {
        return given.iter().take(count).cloned().collect();
    }
    let mut next = words.iter().cycle();
    let text = |number: usize| {
        let parts = (mean * exponential(seed, number as u64)).round().max(1.0);
        joined(next.by_ref().take(parts as usize), between)
    };
    (0..count).map(text).collect()
}

/// Builds `count` queries, each of the words of `number` given ones drawn at random, as alternatives; none if no given
/// query has words.
pub(super) fn joined_by_number(
    given: &[String],
    number: usize,
    count: usize,
    seed: u64,
) -> Vec<String> {
    let words = words_of(given);
    if words.is_empty() {
        return Vec::new();
    }
    let mut random = Purpose::Joins.stream(seed.wrapping_add(number as u64));
    (0..count)
        .map(|_| {
            let drawn: Vec<usize> = (0..number).map(|_| random.index(words.len())).collect();
            joined(drawn.into_iter().map(|at| &words[at]), " OR ")
        })
        .collect()
}

/// Returns an exponential number of mean 1 that depends only on seed and number.
pub fn exponential(seed: u64, number: u64) -> f64 {
    let hash = xxhash_rust::xxh3::xxh3_64_with_seed(&number.to_le_bytes(), seed);
    let uniform = (hash >> 11) as f64 / (1u64 << 53) as f64;
    -(1.0 - uniform).ln()
}

fn joined<'a>(queries: impl Iterator<Item = &'a Vec<String>>, between: &str) -> String {
    let mut text = String::new();
    for word in queries.flatten().take(WORDS_MAX) {
        if text.len() + between.len() + word.len() >= BYTES_MAX {
            break;
        }
        if !text.is_empty() {
            text.push_str(between);
        }
        text.push_str(word);
    }
    text
}

fn words_of(given: &[String]) -> Vec<Vec<String>> {
    let words = given.iter().map(|query| {
        let words = query.split(|sign: char| !sign.is_alphanumeric());
        let words = words.filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    });
    words
        .filter(|words: &Vec<String>| !words.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_are_words_within_the_limits_of_the_parser() {
        let long = vec!["a-b ".repeat(4_000), "!".into()];
        for between in [" ", " OR "] {
            for text in joined_queries(&long, (160.0, between), 3, 1) {
                assert!(text.len() <= BYTES_MAX);
                assert!(text.split(between).count() <= WORDS_MAX);
                assert!(text.starts_with(&format!("a{between}b")), "{text:.20}");
            }
        }
        let two = joined_by_number(&["X y".into(), "z".into()], 2, 8, 1);
        assert!(two.iter().any(|text| text == "x OR y OR z"), "{two:?}");
        assert!(joined_by_number(&["?".into()], 2, 8, 1).is_empty());
        assert_eq!(joined_queries(&["?".into()], (2.0, " "), 8, 1), ["?"]);
    }
}
