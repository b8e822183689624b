//! Tests that compounds and phrases are found where texts have them, by an oracle that reads texts and knows neither terms
//! nor plans.
//!
//! ```text
//! text     call sys_get_temp_dir now      places between blanks, each with parts between joiners
//! phrase   "get_temp dir"                 parts get, temp, dir; grouped in all ways: get·temp·dir, get·tempdir, …
//! found    a place has a run of its parts that is the letters of the group, and the next place that of the next
//! ```

use crate::ways::found_by_all_ways;
use document::{Document, url_hash};
use proptest::prelude::*;
use search::parse::parse_filter;
use search::{Operator, parse_with};
use std::collections::BTreeSet;
use testkit::{BuildPlan, Oracle, build_index};
use text::{Analyzer, Languages};

/// Parts of compounds, some of which are others written together.
const PARTS: [&str; 6] = ["foo", "bar", "fo", "o", "obar", "x"];

const JOINERS: [char; 3] = ['-', '_', '.'];

/// Places of a text, each as its parts.
fn places(text: &str) -> Vec<Vec<&str>> {
    let words = text.split(' ').filter(|word| !word.is_empty());
    words.map(|word| word.split(JOINERS).collect()).collect()
}

/// Returns whether neighbouring parts of a place, one or more, are these letters.
fn has_run(place: &[&str], letters: &str) -> bool {
    (0..place.len())
        .any(|from| (from + 1..=place.len()).any(|to| place[from..to].concat() == letters))
}

/// Returns all ways of grouping parts, each group as its letters.
fn groupings(parts: &[&str]) -> Vec<Vec<String>> {
    (0..1u32 << (parts.len() - 1))
        .map(|cuts| {
            let mut groups = vec![parts[0].to_owned()];
            for (number, part) in parts.iter().enumerate().skip(1) {
                match cuts >> (number - 1) & 1 {
                    1 => groups.push((*part).to_owned()),
                    _ => groups.last_mut().unwrap().push_str(part),
                }
            }
            groups
        })
        .collect()
}

/// Returns whether groups can be placed so that they are moved by `slop` at most in total, by trying all places.
fn stands(places: &[Vec<&str>], groups: &[String], slop: i64, chosen: &mut Vec<usize>) -> bool {
    let at = chosen.len();
    if at == groups.len() {
        let adjusted = || {
            chosen
                .iter()
                .enumerate()
                .map(|(number, &place)| place as i64 - number as i64)
        };
        return adjusted().max().unwrap() - adjusted().min().unwrap() <= slop;
    }
    (0..places.len()).any(|place| {
        let is_taken =
            (0..at).any(|before| groups[before] == groups[at] && chosen[before] == place);
        if is_taken || !has_run(&places[place], &groups[at]) {
            return false;
        }
        chosen.push(place);
        let found = stands(places, groups, slop, chosen);
        chosen.pop();
        found
    })
}

/// Returns whether a text has a phrase. With `are_parted`, each part of the text has a place of its own.
fn holds(text: &str, phrase: &str, slop: u32, are_parted: bool) -> bool {
    let typed: Vec<&str> = places(phrase).concat();
    let mut places = places(text);
    let mut groupings = groupings(&typed);
    if are_parted {
        places = places.concat().into_iter().map(|part| vec![part]).collect();
        groupings.retain(|groups| groups.len() == typed.len());
    }
    let mut groupings = groupings.iter();
    groupings.any(|groups| stands(&places, groups, slop.into(), &mut Vec::new()))
}

fn word(parts_max: usize) -> impl Strategy<Value = String> {
    let part = (
        prop::sample::select(&PARTS[..]),
        prop::sample::select(&JOINERS[..]),
    );
    let parts = prop_oneof![
        3 => prop::collection::vec(part.clone(), 1..2),
        2 => prop::collection::vec(part, 1..=parts_max),
    ];
    parts.prop_map(|parts| {
        let mut word = String::new();
        for (part, joiner) in parts {
            if !word.is_empty() {
                word.push(joiner);
            }
            word.push_str(part);
        }
        word
    })
}

fn text(words_max: usize, parts_max: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(word(parts_max), 1..=words_max).prop_map(|words| words.join(" "))
}

/// Phrases of few parts, so that they are looked for in all groupings: a compound first, last, in the middle, alone.
fn phrase() -> impl Strategy<Value = String> {
    text(4, 4).prop_filter("few parts", |phrase| places(phrase).concat().len() <= 5)
}

fn documents() -> impl Strategy<Value = Vec<Document>> {
    prop::collection::vec(text(5, 5), 1..14).prop_map(|texts| {
        let document = |(number, text): (usize, String)| Document {
            url: format!("http://s{}.test/{number}", number % 3),
            body: format!("{text} here"),
            ..Document::default()
        };
        texts.into_iter().enumerate().map(document).collect()
    })
}

fn those(documents: &[Document], holds: impl Fn(&str) -> bool) -> BTreeSet<u64> {
    let held = documents.iter().filter(|document| holds(&document.body));
    held.map(|document| url_hash(&document.url)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::size(100, 2_000)))]

    #[test]
    fn compounds_and_phrases_are_found_where_texts_have_them(
        documents in documents(),
        phrases in prop::collection::vec((phrase(), prop_oneof![2 => Just(0u32), 1 => 1u32..4]), 1..5),
        words in prop::collection::vec(word(4), 1..4),
    ) {
        let standard = Analyzer::Standard(Languages::default());
        let first = Analyzer::FirstStandard(Languages::default());
        for analyzer in [standard, first, Analyzer::Plain] {
            let batches = [documents.clone()];
            let index = build_index(&batches, BuildPlan { analyzer, ..BuildPlan::PLAIN }).unwrap();
            let oracle = Oracle::new(&batches, analyzer, index.fields());
            let parse = |typed: &str| {
                let parsed = parse_with(typed, analyzer, index.fields(), Operator::And);
                assert_eq!(parsed.warnings, [""; 0], "{typed}");
                found_by_all_ways(&index, &oracle, &parsed.query)
            };
            let check = |typed: &str, expected: BTreeSet<u64>, found: BTreeSet<u64>| match analyzer == first {
                // The first edition has no runs of parts, so it misses some; it finds nothing else.
                true => assert!(found.is_subset(&expected), "{typed} by {analyzer}"),
                false => assert_eq!(found, expected, "{typed} by {analyzer}"),
            };
            let are_parted = analyzer == Analyzer::Plain;
            for (phrase, slop) in &phrases {
                let distance = if *slop > 0 { format!("~{slop}") } else { String::new() };
                let typed = format!("\"{phrase}\"{distance}");
                let has = |text: &str| holds(text, phrase, *slop, are_parted);
                let with = those(&documents, has);
                check(&typed, with.clone(), parse(&typed));
                // `delete --query` and filters read the same.
                let filter = parse_filter(&typed, analyzer, index.fields()).unwrap();
                check(&typed, with.clone(), found_by_all_ways(&index, &oracle, &filter));
                let excluded = format!("here -{typed}");
                let left = parse(&excluded);
                prop_assert_eq!(left, &those(&documents, |_| true) - &parse(&typed), "{}", excluded);
                let either = format!("{typed} OR \"foo-x\"");
                let both = &parse(&typed) | &parse("\"foo-x\"");
                prop_assert_eq!(parse(&either), both, "{}", either);
            }
            for word in words.iter().filter(|_| !are_parted) {
                check(word, those(&documents, |text| holds(text, word, 0, false)), parse(word));
            }
        }
    }
}

#[test]
fn a_limit_of_a_phrase_is_that_of_each_way() {
    let texts = [
        "foo-bar here",
        "foo here",
        "see foo now",
        "see foo-bar",
        "here foo bar",
    ];
    let documents: Vec<Document> = (0..)
        .zip(texts)
        .map(|(number, text): (u32, _)| Document {
            url: format!("u:{number}"),
            body: text.to_owned(),
            ..Document::default()
        })
        .collect();
    for analyzer in ["standard2", "standard", "standard2-en", "plain", "english"] {
        let analyzer: Analyzer = analyzer.parse().unwrap();
        let index = build_index(
            std::slice::from_ref(&documents),
            BuildPlan {
                analyzer,
                ..BuildPlan::PLAIN
            },
        )
        .unwrap();
        let oracle = Oracle::new(std::slice::from_ref(&documents), analyzer, index.fields());
        for (typed, expected) in [
            ("\"foo-bar\"", vec![0, 3, 4]),
            ("\"see foo-bar\"", vec![3]),
            ("\"foo-bar here\"", vec![0]),
            ("\"here foo-bar\"", vec![4]),
            ("\"foo-bar\"~1", vec![0, 3, 4]),
            ("\"foo-qux\"", vec![]),
            ("here -\"foo-bar\"", vec![1]),
        ] {
            let parsed = parse_with(typed, analyzer, index.fields(), Operator::And);
            let expected: BTreeSet<u64> = expected
                .iter()
                .map(|number| url_hash(&format!("u:{number}")))
                .collect();
            assert_eq!(
                found_by_all_ways(&index, &oracle, &parsed.query),
                expected,
                "{typed} by {analyzer}"
            );
        }
    }
}
