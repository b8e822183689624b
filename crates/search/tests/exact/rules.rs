//! Tests that a query that is read with synonyms finds what the queries with each of them find together, in any division of the
//! documents, and that all ways to search it are those of the oracle.

use crate::ways::found_by_all_ways;
use crate::written::batches_of;
use document::Document;
use fields::Rules;
use proptest::prelude::*;
use search::{Operator, Query, QueryRules, ReadWith, Reading};
use std::collections::BTreeSet;
use testkit::{BuildPlan, Oracle, build_index};
use text::Analyzer;

const WORDS: [&str; 7] = ["one", "two", "three", "four", "five", "six", "seven"];

const RULES: &str = r#"{"synonyms": ["one, two three, four", "five -> six seven"]}"#;

/// What may stand in a query, and what it is searched as.
const UNITS: [(&str, &[&str]); 6] = [
    ("one", &["one", "\"two three\"", "four"]),
    ("two three", &["two three", "one", "four"]),
    ("four", &["four", "one", "\"two three\""]),
    ("five", &["five", "\"six seven\""]),
    ("six", &["six"]),
    ("seven", &["seven"]),
];

fn batches() -> impl Strategy<Value = Vec<Vec<Document>>> {
    let text = |most| {
        let words = prop::collection::vec(prop::sample::select(&WORDS[..]), 0..most);
        words.prop_map(|words| words.join(" "))
    };
    batches_of((text(3), text(5)), 8)
}

/// Returns every way to write a query with one of its alternatives for each unit.
fn ways(units: &[usize]) -> Vec<String> {
    let mut ways = vec![String::new()];
    for &unit in units {
        let alternatives = UNITS[unit].1.iter();
        ways = alternatives
            .flat_map(|one| ways.iter().map(move |way| format!("{way} {one}")))
            .collect();
    }
    ways
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::size(100, 1_500)))]

    #[test]
    fn synonyms_find_what_the_queries_with_each_find_together(
        batches in batches(),
        partitions in prop_oneof![Just(1u32), Just(u32::MAX)],
        units in prop::collection::vec(0..UNITS.len(), 1..4),
        operator in prop::sample::select(&[Operator::And, Operator::Or][..]),
        analyzer in prop::sample::select(&[Analyzer::Plain, Analyzer::English][..]),
        is_explained in any::<bool>(),
        as_words in any::<bool>(),
    ) {
        prop_assume!(batches.iter().any(|batch| !batch.is_empty()));
        let plan = BuildPlan { analyzer, chunks: 3, partitions, ..BuildPlan::PLAIN };
        let index = build_index(&batches, plan).unwrap();
        let oracle = Oracle::new(&batches, analyzer, index.fields());
        let find = |query: &Query| found_by_all_ways(&index, &oracle, query);
        let rules = QueryRules::new(&Rules::of_json(RULES.as_bytes()).unwrap(), analyzer, index.fields());
        let without = Reading::new(analyzer, index.fields(), operator);
        let with = Reading {
            with: ReadWith { rules: rules.as_ref(), is_explained },
            ..without
        };
        let typed: Vec<&str> = units.iter().map(|&unit| UNITS[unit].0).collect();
        let typed = typed.join(" ");
        let read = match as_words {
            true => with.words(&typed),
            false => with.parse(&typed),
        };
        let mut expected = BTreeSet::new();
        for way in ways(&units) {
            expected.extend(find(&without.parse(&way).query));
        }
        let found = find(&read.query);
        prop_assert_eq!(&found, &expected, "{}", typed);
        let auto = Reading { operator: Operator::Auto, ..with }.parse(&typed);
        let mut relaxed = find(&auto.query);
        if let Some(some_words) = &auto.some_words {
            let more = find(some_words);
            prop_assert!(relaxed.is_subset(&more), "{}", typed);
            relaxed = more;
        }
        if operator == Operator::Or {
            prop_assert!(relaxed.is_subset(&found), "{}", typed);
        }
        find(&with.parse_as_you_type(&typed).query);
    }
}
