//! Tests of queries while they are typed: against the oracle, in any division of the documents; the last word finds all that it
//! finds whole; the order of exact words, beginnings and errors.

use crate::ways::found_by_all_ways;
use crate::written::{WORDS, analyzers, batches};
use document::{Document, url_hash};
use index::Field;
use proptest::prelude::*;
use search::{Operator, Query, Ranking, parse_as_you_type, parse_with, words_as_you_type};
use testkit::{BuildPlan, Oracle, build_index};
use text::{Analyzer, folded_words};

/// Returns a text, cut and with an error.
fn typed() -> impl Strategy<Value = String> {
    let word = (0..WORDS.len(), 1usize..12).prop_flat_map(|(word, kept)| {
        let word: String = WORDS[word].chars().take(kept).collect();
        let swapped = {
            let mut letters: Vec<char> = word.chars().collect();
            let last = letters.len() - 1;
            letters.swap(last, last.saturating_sub(1));
            letters.into_iter().collect::<String>()
        };
        prop_oneof![3 => Just(word), 1 => Just(swapped)]
    });
    let words = prop::collection::vec(word, 1..4).prop_map(|words| words.join(" "));
    (words, prop_oneof![4 => Just(""), 1 => Just(" ")]).prop_map(|(text, end)| text + end)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::size(100, 1_500)))]

    #[test]
    fn a_query_as_you_type_is_that_of_the_oracle(
        batches in batches(),
        analyzer in analyzers(),
        partitions in prop_oneof![Just(1u32), Just(u32::MAX)],
        typed in typed(),
        any in any::<bool>(),
    ) {
        let plan = BuildPlan { analyzer, chunks: 3, partitions, ..BuildPlan::PLAIN };
        prop_assume!(batches.iter().any(|batch| !batch.is_empty()));
        let index = build_index(&batches, plan).unwrap();
        let oracle = Oracle::new(&batches, analyzer, index.fields());
        let find = |query: &Query| found_by_all_ways(&index, &oracle, query);
        let operator = if any { Operator::Or } else { Operator::And };
        let parsed = parse_as_you_type(&typed, analyzer, index.fields(), operator);
        let of_typed = find(&parsed.query);
        if let Some(with_errors) = &parsed.some_words {
            prop_assert!(of_typed.is_subset(&find(with_errors)), "{}", typed);
        }
        let whole = parse_with(&typed, analyzer, index.fields(), operator);
        prop_assert!(find(&whole.query).is_subset(&of_typed), "{} by {}", typed, analyzer);
        for field in [Field::Text, Field::Title] {
            let parsed = words_as_you_type(field, &typed, analyzer, operator);
            find(&parsed.query);
            parsed.some_words.as_ref().map(find);
        }
        let start = folded_words(&typed);
        for edits in 0..3 {
            if !start.is_empty() {
                find(&Query::TitleStart { start: start.clone(), edits });
            }
        }
    }
}

#[test]
fn exact_words_come_before_beginnings_and_these_before_errors() {
    let texts = [
        "lantern here",
        "lanterns here",
        "lanternfish here",
        "lantren here",
        "latnrenfish here",
    ];
    let batches: Vec<Vec<Document>> = (0..)
        .zip(texts)
        .map(|(number, text): (u32, _)| {
            vec![Document {
                url: format!("u:{number}"),
                body: text.to_owned(),
                ..Document::default()
            }]
        })
        .collect();
    let index = build_index(&batches, BuildPlan::PLAIN).unwrap();
    let oracle = Oracle::new(&batches, Analyzer::Plain, index.fields());
    let ranked = |typed: &str| -> Vec<u64> {
        let parsed = parse_as_you_type(typed, Analyzer::Plain, index.fields(), Operator::And);
        found_by_all_ways(&index, &oracle, &parsed.query);
        let hits = oracle.rank(&parsed.query, Ranking::default());
        hits.into_iter().map(|hit| hit.url_hash).collect()
    };
    let url = |number: u32| url_hash(&format!("u:{number}"));
    let found = ranked("lantern");
    assert_eq!(found.len(), 4);
    assert_eq!((found[0], found[3]), (url(0), url(3)));
    // Eight letters have two errors.
    assert_eq!(ranked("lanterns")[0], url(1));
    assert_eq!(ranked("here lan").len(), 4);
    // Three letters have none, and the first letter is right.
    assert!(ranked("lna").is_empty());
    assert!(ranked("nantern").is_empty());
    // Something follows, so the word is whole.
    assert_eq!(ranked("lantern "), [url(0)]);
    assert_eq!(ranked("lantern*").len(), 3);
}
