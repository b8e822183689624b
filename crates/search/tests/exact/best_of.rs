//! The best of some clauses and constant scores: all ways to search agree, and the meaning is as told.
use crate::ways::{all_segments, check_all_ways, many_documents, parsed};
use index::{Field, Index};
use proptest::prelude::*;
use search::{Plan, Query, Ranking, exhaustive, search_partition};
use std::sync::Arc;
use testkit::{BuildPlan, build_index, floats};
use text::summary::Marked;

fn word(number: u32) -> Query {
    Query::Term {
        field: Field::Text,
        term: format!("w{number}"),
        weight: 1,
    }
}

fn combined(required: Vec<Query>, optional: Vec<Query>, excluded: Vec<Query>) -> Query {
    Query::Boolean {
        required,
        optional,
        excluded,
    }
}

fn any_of(clauses: Vec<Query>) -> Query {
    combined(Vec::new(), clauses, Vec::new())
}

fn best_of(tie_breaker: f32, clauses: Vec<Query>) -> Query {
    Query::BestOf {
        clauses,
        tie_breaker,
    }
}

fn constant(score: f32, clause: Query) -> Query {
    let clause = Box::new(clause);
    Query::Constant { score, clause }
}

fn boosted(boost: f32, clause: Query) -> Query {
    let clause = Box::new(clause);
    Query::Boosted { boost, clause }
}

fn plan_of(index: &Index, query: &Query) -> Arc<Plan> {
    Arc::new(Plan::new(query, Ranking::default(), index.statistics()).unwrap())
}

/// Returns every match and its score, by document.
fn scores(index: &Index, query: &Query) -> Vec<(u32, f32)> {
    let (hits, _) = search_partition(&plan_of(index, query), all_segments(index), 1 << 20).unwrap();
    let mut scores: Vec<_> = hits.iter().map(|hit| (hit.doc.0, hit.score)).collect();
    scores.sort_by_key(|score| score.0);
    scores
}

#[test]
fn the_best_clause_counts_and_a_share_of_the_others() {
    let index = build_index(&[many_documents(5)], BuildPlan::PLAIN).unwrap();
    let words = || vec![word(6), word(9), word(11)];
    let sum = scores(&index, &any_of(words()));
    let singles: Vec<_> = words().iter().map(|word| scores(&index, word)).collect();
    for tie_breaker in [0.0, 0.25, 1.0] {
        let best = scores(&index, &best_of(tie_breaker, words()));
        assert_eq!(best.len(), sum.len());
        for (&(doc, score), &(other, sum)) in best.iter().zip(&sum) {
            let of_doc = singles.iter().filter_map(|scores| {
                let at = scores.binary_search_by_key(&doc, |score| score.0);
                at.ok().map(|at| scores[at].1)
            });
            let greatest = of_doc.fold(0.0, f32::max);
            let expected = greatest + tie_breaker * (sum - greatest);
            assert_eq!(doc, other);
            assert!((score - expected).abs() < 1e-4, "{score} {expected}");
        }
    }
}

#[test]
fn a_constant_score_is_that_of_every_match() {
    let index = build_index(&[many_documents(5)], BuildPlan::PLAIN).unwrap();
    for typed in ["w9", "w9 OR w11", "+w12 -w11", "\"w12 w11\"", "w1*"] {
        let clause = parsed(typed, true, &index);
        let matches = scores(&index, &clause);
        let expected: Vec<_> = matches.iter().map(|score| (score.0, 1.5)).collect();
        assert!(!expected.is_empty(), "{typed}");
        let query = constant(0.75, boosted(7.0, clause));
        assert_eq!(
            scores(&index, &boosted(2.0, query.clone())),
            expected,
            "{typed}"
        );
        check_all_ways(&index, &query, Ranking::default(), 10, 3);
    }
}

#[test]
fn alternatives_are_searched_by_their_lists() {
    let index = build_index(&[many_documents(7)], BuildPlan::PLAIN).unwrap();
    let two = || best_of(0.3, vec![word(4), word(9)]);
    let some = || constant(2.0, any_of(vec![word(4), word(9)]));
    let prefix = Query::Pattern {
        field: Field::Text,
        pattern: text::Pattern::Prefix("w1".to_owned()),
    };
    let pattern = Query::Pattern {
        field: Field::Text,
        pattern: text::Pattern::Wildcard("?1*".to_owned()),
    };
    for (query, algorithm) in [
        (two(), "maxscore"),
        (any_of(vec![two(), word(7)]), "maxscore"),
        (
            combined(vec![], vec![two(), word(7)], vec![word(10)]),
            "maxscore",
        ),
        (
            combined(vec![two()], vec![word(11)], vec![word(10)]),
            "maxscore",
        ),
        (some(), "exhaustive"),
        (any_of(vec![some(), word(7)]), "maxscore"),
        (any_of(vec![constant(2.0, word(10)), word(3)]), "maxscore"),
        (constant(2.0, word(4)), "single"),
        (
            combined(vec![constant(2.0, word(4)), word(9)], vec![], vec![]),
            "conjunction",
        ),
        (combined(vec![two(), word(11)], vec![], vec![]), "mixed"),
        (
            combined(
                vec![best_of(0.3, vec![word(2), word(4)]), word(11)],
                vec![],
                vec![],
            ),
            "exhaustive",
        ),
        (
            combined(
                vec![word(5)],
                vec![best_of(0.0, vec![word(9), word(11)])],
                vec![],
            ),
            "mixed",
        ),
        (best_of(0.0, vec![word(4), prefix]), "best of"),
        (
            combined(
                vec![best_of(0.0, vec![word(9), word(11)]), word(12)],
                vec![word(3)],
                vec![word(8)],
            ),
            "best of",
        ),
        (
            combined(
                vec![
                    best_of(0.0, vec![word(9), word(11)]),
                    best_of(0.0, vec![boosted(3.0, word(8)), word(12)]),
                ],
                vec![],
                vec![],
            ),
            "best of",
        ),
        // A rare word leads.
        (
            combined(
                vec![best_of(0.0, vec![word(11), word(12)]), word(1)],
                vec![],
                vec![],
            ),
            "mixed",
        ),
        (best_of(0.0, vec![word(4), pattern]), "exhaustive"),
    ] {
        let plan = plan_of(&index, &query);
        let segments = all_segments(&index);
        let search = || search::top_of_partition(&plan, segments.iter().copied(), 10);
        let (_, profile) = search::profile(&plan, segments.iter().copied(), search).unwrap();
        assert_eq!(profile.algorithms, [algorithm], "{query:?}");
        check_all_ways(&index, &query, Ranking::default(), 10, 4);
        check_all_ways(&index, &query, Ranking::TfIdf, 3000, 2);
    }
}

#[test]
fn explanations_tell_the_best_and_the_constant() {
    let index = build_index(&[many_documents(5)], BuildPlan::PLAIN).unwrap();
    let named = |name: &str, clause| Query::Named {
        name: name.to_owned(),
        clause: Box::new(clause),
    };
    let query = combined(
        vec![word(11), best_of(0.5, vec![word(9), word(12)])],
        vec![
            named("one", constant(3.0, word(10))),
            named("some", constant(2.0, any_of(vec![word(12), word(8)]))),
        ],
        vec![],
    );
    let plan = plan_of(&index, &query);
    let (hits, _) = search_partition(&plan, all_segments(&index), 1).unwrap();
    let segments = all_segments(&index);
    let segment = segments.iter().find(|one| one.id() == hits[0].segment);
    let why = exhaustive::explain(&plan, segment.unwrap(), hits[0].doc)
        .unwrap()
        .unwrap();
    assert_eq!(why.value.to_bits(), hits[0].score.to_bits());
    let text = why.to_string();
    for part in [
        "greatest of the clauses that match + tie breaker * sum of the others, tie breaker = 0.5",
        "3 [one] constant score: a document that matches counts 3",
        "0 [one] w10: a filter adds nothing",
        "2 [some] constant score: a document that matches counts 2",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    // Words of constant scores are marked, as they count.
    let marked: Vec<_> = plan
        .summary_terms()
        .into_iter()
        .map(|term| term.marked)
        .collect();
    let expected = ["w11", "w9", "w12", "w10", "w8"].map(|term| Marked::Term(term.to_owned()));
    assert_eq!(marked, expected);
    assert_eq!(query.marked_words(), expected);
}

/// Trees of words, constants of words and the best of them, of which each match holds one of some words.
fn trees() -> impl Strategy<Value = Query> {
    let words = || (4u32..13).prop_map(word);
    let leaves = prop_oneof![
        4 => words(),
        2 => (floats(0.1, 4.0), words()).prop_map(|(boost, clause)| boosted(boost, clause)),
        1 => (floats(0.1, 9.0), words()).prop_map(|(score, clause)| constant(score, clause)),
        1 => (floats(0.1, 9.0), prop::collection::vec(words(), 2..4))
            .prop_map(|(score, clauses)| constant(score, any_of(clauses))),
    ];
    leaves.prop_recursive(3, 12, 4, |inner| {
        let some = || prop::collection::vec(inner.clone(), 2..5);
        let ties = prop_oneof![Just(0.0f32), Just(1.0), floats(0.0, 1.0)];
        prop_oneof![
            4 => (ties, some()).prop_map(|(tie_breaker, clauses)| best_of(tie_breaker, clauses)),
            2 => some().prop_map(any_of),
            1 => (inner.clone(), some())
                .prop_map(|(required, optional)| combined(vec![required], optional, vec![])),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn trees_over_many_windows_are_their_slow_twin(
        seed in any::<u64>(),
        with_deletions in any::<bool>(),
        queries in prop::collection::vec(
            (trees(), 0u8..6, 4u32..13, prop_oneof![Just(1usize), Just(10), 1usize..90], 1usize..12), 40),
    ) {
        let documents = many_documents(seed);
        let replaced = if with_deletions { documents[..900].to_vec() } else { Vec::new() };
        let index = build_index(&[documents, replaced], BuildPlan::PLAIN).unwrap();
        for (tree, beside, number, k, ranges) in queries {
            let query = match beside {
                0 => combined(vec![], vec![tree], vec![word(number)]),
                1 => combined(vec![tree], vec![word(number)], vec![]),
                2 => combined(vec![tree, word(number)], vec![], vec![]),
                3 => combined(vec![word(number)], vec![tree], vec![]),
                _ => tree,
            };
            check_all_ways(&index, &query, Ranking::default(), k, ranges);
        }
    }
}
