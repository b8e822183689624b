//! Tests that patterns are compared with words as written: against the oracle, in any division of the documents, and that
//! `word*` and `word~` find all that `word` finds.

use crate::ways::{all_segments, found_by_all_ways};
use document::{Document, url_hash};
use index::Order;
use proptest::prelude::*;
use search::plan::RANKED_TERMS_MAX;
use search::{Operator, Plan, Ranking, parse_with, search_partition};
use std::collections::BTreeSet;
use std::sync::Arc;
use testkit::{BuildPlan, Oracle, build_index};
use text::summary::Marked;
use text::{Analyzer, Language, Languages, Pattern};

/// Words of which stems are no words, of several scripts and languages, and compounds of them.
pub(crate) const WORDS: [&str; 40] = [
    "policy",
    "policies",
    "Policy",
    "polic",
    "earthquake",
    "earthquakes",
    "running",
    "runs",
    "run",
    "runner",
    "dying",
    "die",
    "skies",
    "sky",
    "canción",
    "canciones",
    "cancion",
    "Mangées",
    "mange",
    "Häuser",
    "haus",
    "бежать",
    "бегут",
    "Ёлка",
    "ёлки",
    "σπίτια",
    "σπίτι",
    "kitapları",
    "kitap",
    "için",
    "東京都",
    "京都",
    "running-shoes",
    "RunningShoes",
    "policies's",
    "don't",
    "node.js",
    "5kg",
    "C++",
    "किताबें",
];

/// Beginnings, forms and expressions of some of them.
const PATTERNS: [&str; 21] = [
    "policies*",
    "polici*",
    "pol*",
    "earthquake*",
    "r?nning",
    "run*",
    "d?ing",
    "sk?es",
    "canciones*",
    "canci?n",
    "/runn.*/",
    "/pol.+es/",
    "Häus*",
    "бе*",
    "ёл?и",
    "kit*",
    "title:running*",
    "running-sh*",
    "policies~",
    "title:canciones~2",
    "haus~1",
];

pub(crate) fn analyzers() -> impl Strategy<Value = Analyzer> {
    let of = |language| Languages::default().with(language);
    let languages = prop_oneof![
        3 => Just(of(Language::English)),
        2 => (0..Language::all().len()).prop_map(move |number| of(Language::all().nth(number).unwrap())),
        2 => Just(Language::all().collect::<Languages>()),
        1 => Just(Languages::default()),
    ];
    prop_oneof![
        4 => languages.clone().prop_map(Analyzer::Standard),
        1 => languages.prop_map(Analyzer::FirstStandard),
        1 => Just(Analyzer::English),
        1 => Just(Analyzer::Plain),
    ]
}

fn text(most: usize) -> impl Strategy<Value = String> {
    let words = prop::collection::vec(0..WORDS.len(), 0..most);
    words.prop_map(|words| {
        words
            .iter()
            .map(|&word| WORDS[word])
            .collect::<Vec<_>>()
            .join(" ")
    })
}

/// Returns batches of documents without replacements.
pub(crate) fn batches() -> impl Strategy<Value = Vec<Vec<Document>>> {
    batches_of((text(3), text(6)), 5)
}

/// Returns batches of fewer than `most` documents of these titles and bodies each, without replacements.
pub(crate) fn batches_of(
    document: impl Strategy<Value = (String, String)>,
    most: usize,
) -> impl Strategy<Value = Vec<Vec<Document>>> {
    let batch = prop::collection::vec(document, 0..most);
    prop::collection::vec(batch, 1..4).prop_map(|batches| {
        let mut number = 0;
        let mut document = |(title, body)| {
            number += 1;
            Document {
                url: format!("http://s{}.test/{number}", number % 3),
                title,
                body,
                ..Document::default()
            }
        };
        let batches = batches.into_iter();
        batches
            .map(|batch| batch.into_iter().map(&mut document).collect())
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::size(120, 2_000)))]

    #[test]
    fn patterns_find_words_as_written(
        batches in batches(),
        analyzer in analyzers(),
        partitions in prop_oneof![Just(1u32), Just(u32::MAX)],
        is_optimized in any::<bool>(),
        run_documents_max in prop_oneof![Just(None), Just(Some(1))],
        typed in prop::collection::vec(0..PATTERNS.len(), 1..4),
        words in prop::collection::vec(0..WORDS.len(), 1..6),
    ) {
        let plan = BuildPlan {
            analyzer,
            chunks: 3,
            partitions,
            run_documents_max,
            order: is_optimized.then_some(Order::Arrival),
            ..BuildPlan::PLAIN
        };
        prop_assume!(batches.iter().any(|batch| !batch.is_empty()));
        let index = build_index(&batches, plan).unwrap();
        let oracle = Oracle::new(&batches, analyzer, index.fields());
        let find = |typed: &str| {
            let parsed = parse_with(typed, analyzer, index.fields(), Operator::And);
            found_by_all_ways(&index, &oracle, &parsed.query)
        };
        for pattern in typed {
            find(PATTERNS[pattern]);
            find(&format!("policy -{}", PATTERNS[pattern]));
        }
        // Words of the documents, and others. Of a compound with signs, `*` belongs to the last part.
        let is_whole = |&word: &usize| WORDS[word].chars().all(char::is_alphanumeric);
        for word in words.into_iter().filter(is_whole) {
            for field in ["", "title:"] {
                let word = format!("{field}{}", WORDS[word]);
                let of_word = find(&word);
                for sign in ["*", "~", "~1", "~2"] {
                    let of_pattern = find(&format!("{word}{sign}"));
                    prop_assert!(of_word.is_subset(&of_pattern), "{}{} by {}", word, sign, analyzer);
                }
            }
        }
    }
}

#[test]
fn the_examples_of_the_documentation() {
    let texts = [
        "the policies of many",
        "a policy",
        "an earthquake",
        "two earthquakes here",
        "the election",
    ];
    let documents: Vec<Document> = (0..)
        .zip(texts)
        .map(|(number, text): (u32, _)| Document {
            url: format!("u:{number}"),
            body: text.to_owned(),
            ..Document::default()
        })
        .collect();
    let analyzer: Analyzer = "standard2-en".parse().unwrap();
    // Each document in a segment of its own.
    let batches: Vec<Vec<Document>> = documents.into_iter().map(|one| vec![one]).collect();
    let plan = BuildPlan {
        analyzer,
        ..BuildPlan::PLAIN
    };
    let index = build_index(&batches, plan).unwrap();
    let oracle = Oracle::new(&batches, analyzer, index.fields());
    for (typed, expected) in [
        ("policies*", vec![0, 1]),
        ("polici?s", vec![0, 1]),
        ("earthquake*", vec![2, 3]),
        ("/earthquakes/", vec![2, 3]),
        ("ele?tion", vec![4]),
        // No document has the word, and those with its stem are found by it.
        ("elections*", vec![4]),
    ] {
        let parsed = parse_with(typed, analyzer, index.fields(), Operator::And);
        let expected: BTreeSet<u64> = expected
            .iter()
            .map(|number| url_hash(&format!("u:{number}")))
            .collect();
        assert_eq!(
            found_by_all_ways(&index, &oracle, &parsed.query),
            expected,
            "{typed}"
        );
    }
}

#[test]
fn few_words_rank_and_many_count_alike() {
    for (count, is_ranked) in [(RANKED_TERMS_MAX, true), (RANKED_TERMS_MAX + 1, false)] {
        // Each batch is a segment, and a word of one is in no other.
        let documents = (0..count).map(|number| Document {
            url: format!("http://s{}.test/{number}", number % 3),
            body: format!("many{number:02} {}", "other ".repeat(number % 7)),
            ..Document::default()
        });
        let documents: Vec<Document> = documents.collect();
        let batches: Vec<Vec<Document>> = documents.chunks(20).map(<[_]>::to_vec).collect();
        for partitions in [1, u32::MAX] {
            let plan = BuildPlan {
                chunks: 3,
                partitions,
                ..BuildPlan::PLAIN
            };
            let index = build_index(&batches, plan).unwrap();
            let oracle = Oracle::new(&batches, BuildPlan::PLAIN.analyzer, index.fields());
            let parse = |typed| {
                parse_with(
                    typed,
                    BuildPlan::PLAIN.analyzer,
                    index.fields(),
                    Operator::And,
                )
            };
            let query = parse("many*").query;
            assert_eq!(found_by_all_ways(&index, &oracle, &query).len(), count);
            found_by_all_ways(&index, &oracle, &parse("other many*").query);
            found_by_all_ways(&index, &oracle, &parse("other -many*").query);
            let plan = Arc::new(Plan::new(&query, Ranking::default(), index.statistics()).unwrap());
            let (hits, _) = search_partition(&plan, all_segments(&index), usize::MAX).unwrap();
            let scores: BTreeSet<u32> = hits.iter().map(|hit| hit.score.to_bits()).collect();
            // As many as there are lengths.
            assert_eq!(scores.len(), if is_ranked { 7 } else { 1 });
            let like = Marked::Like(Pattern::Prefix("many".to_owned()));
            let marked = plan.summary_terms().into_iter().map(|term| term.marked);
            assert!(marked.eq([like]));
        }
    }
}
