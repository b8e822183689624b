//! Filters, boosts and names of clauses, on lists of many blocks.
use crate::ways::{all_segments, check_all_ways, many_documents, parsed};
use index::{Field, Index};
use proptest::prelude::*;
use search::{Explanation, Plan, Query, Ranking, explain, search_partition};
use std::sync::Arc;
use testkit::{BuildPlan, build_index};
use text::Pattern;
use text::summary::Marked;

fn filter(clause: Query) -> Query {
    Query::Filter(Box::new(clause))
}

fn boosted(boost: f32, clause: Query) -> Query {
    let clause = Box::new(clause);
    Query::Boosted { boost, clause }
}

fn named(name: &str, clause: Query) -> Query {
    Query::Named {
        name: name.to_owned(),
        clause: Box::new(clause),
    }
}

fn all_of(required: Vec<Query>, optional: Vec<Query>) -> Query {
    Query::Boolean {
        required,
        optional,
        excluded: Vec::new(),
    }
}

fn word(number: u32) -> Query {
    Query::Term {
        field: Field::Text,
        term: format!("w{number}"),
        weight: 1,
    }
}

/// Every clause of an explanation: its name and its value.
fn names(why: &Explanation) -> Vec<(Option<&str>, f32)> {
    match why.description.starts_with("sum") {
        true => why.details.iter().flat_map(names).collect(),
        false => vec![(why.name.as_deref(), why.value)],
    }
}

fn scores(index: &Index, query: &Query) -> Vec<(u32, f32)> {
    let plan = Arc::new(Plan::new(query, Ranking::default(), index.statistics()).unwrap());
    let (hits, _) = search_partition(&plan, all_segments(index), usize::MAX).unwrap();
    let mut scores: Vec<_> = hits.iter().map(|hit| (hit.doc.0, hit.score)).collect();
    scores.sort_by_key(|score| score.0);
    scores
}

#[test]
fn all_ways_agree_on_filters_and_boosts() {
    let index = build_index(&[many_documents(11)], BuildPlan::PLAIN).unwrap();
    let clauses = [
        "w12",
        "w2",
        "\"w12 w11\"",
        "\"w12 w11 w12\"",
        "w1*",
        "w9 OR w8",
        "+w12 -w11",
        "site:s3.test",
        "\"w12 w11\" OR w4",
    ];
    let clauses = clauses.map(|typed| parsed(typed, true, &index));
    for (number, clause) in clauses.iter().enumerate() {
        let filtered = filter(clause.clone());
        let any = all_of(Vec::new(), vec![word(10), boosted(7.5, word(5))]);
        let queries = [
            filtered.clone(),
            boosted(0.25, clause.clone()),
            all_of(vec![filtered.clone(), word(11)], vec![]),
            all_of(
                vec![filtered.clone(), word(11)],
                vec![boosted(3.0, word(7))],
            ),
            all_of(
                vec![filtered.clone()],
                vec![word(9), boosted(0.5, word(12))],
            ),
            all_of(vec![filtered.clone(), any], vec![]),
            all_of(
                vec![],
                vec![filtered, boosted(2.0, clause.clone()), word(3)],
            ),
        ];
        for query in queries {
            check_all_ways(&index, &query, Ranking::default(), 10, 3 + number);
            check_all_ways(&index, &query, Ranking::TfIdf, 200, 2);
        }
    }
}

#[test]
fn frequent_filters_are_probed_and_rare_ones_lead() {
    let index = build_index(&[many_documents(7)], BuildPlan::PLAIN).unwrap();
    let any = all_of(vec![], vec![word(4), word(9), boosted(2.0, word(7))]);
    for (filters, algorithm) in [
        (vec![12], "maxscore"),
        (vec![12, 11], "maxscore"),
        (vec![5], "mixed"),
        (vec![12, 5], "mixed"),
    ] {
        let filters = filters.into_iter().map(|number| filter(word(number)));
        let required: Vec<_> = filters.chain([any.clone()]).collect();
        let query = all_of(required.clone(), vec![]);
        let but = Query::Boolean {
            required,
            optional: vec![],
            excluded: vec![word(8)],
        };
        for query in [query, but] {
            let plan = Plan::new(&query, Ranking::default(), index.statistics()).unwrap();
            let segments = all_segments(&index);
            let search = || search::top_of_partition(&plan, segments.iter().copied(), 10);
            let (_, profile) = search::profile(&plan, segments.iter().copied(), search).unwrap();
            assert_eq!(profile.algorithms, [algorithm], "{query:?}");
            check_all_ways(&index, &query, Ranking::default(), 10, 4);
            check_all_ways(&index, &query, Ranking::default(), 3000, 2);
        }
    }
}

#[test]
fn a_filter_leaves_the_scores_of_the_others() {
    let index = build_index(&[many_documents(3)], BuildPlan::PLAIN).unwrap();
    let both = scores(&index, &all_of(vec![word(9), word(12)], vec![]));
    let alone = scores(&index, &word(9));
    let filtered = scores(&index, &all_of(vec![word(9), filter(word(12))], vec![]));
    let docs = |scores: &[(u32, f32)]| scores.iter().map(|score| score.0).collect::<Vec<_>>();
    assert!(!both.is_empty() && both.len() < alone.len());
    assert_eq!(docs(&filtered), docs(&both));
    assert!(filtered.iter().all(|score| alone.contains(score)));
    assert!(
        scores(&index, &filter(word(12)))
            .iter()
            .all(|score| score.1 == 0.0)
    );
}

#[test]
fn boosts_multiply_weights() {
    let index = build_index(&[many_documents(3)], BuildPlan::PLAIN).unwrap();
    let once = scores(&index, &word(9));
    // A power of two changes no digit.
    let eight = boosted(4.0, all_of(vec![boosted(2.0, word(9))], vec![]));
    for (once, eight) in once.iter().zip(scores(&index, &eight)) {
        assert_eq!((once.0, once.1 * 8.0), eight);
    }
}

#[test]
fn explanations_repeat_names() {
    let index = build_index(&[many_documents(5)], BuildPlan::PLAIN).unwrap();
    let phrase = parsed("\"w12 w11\"", false, &index);
    let query = named(
        "all",
        all_of(
            vec![named("rare", word(9)), filter(named("site", word(12)))],
            vec![
                named("near", boosted(2.0, phrase)),
                parsed("?1*", false, &index),
            ],
        ),
    );
    let plan = Arc::new(Plan::new(&query, Ranking::default(), index.statistics()).unwrap());
    let (hits, _) = search_partition(&plan, all_segments(&index), 1).unwrap();
    let segments = all_segments(&index);
    let segment = segments
        .iter()
        .find(|one| one.id() == hits[0].segment)
        .unwrap();
    let why = explain::explain(&plan, segment, hits[0].doc)
        .unwrap()
        .unwrap();
    let named = names(&why);
    let all: Vec<_> = named.iter().map(|one| one.0.unwrap()).collect();
    assert_eq!(all, ["all/rare", "all/site", "all/near", "all"]);
    assert_eq!((named[1].1, named[3].1), (0.0, 1.0));
    assert!(why.to_string().contains("[all/near] "), "{why}");
    assert!(why.to_string().contains("boost"), "{why}");
    // The words of a filter are not what summaries look for.
    let terms: Vec<_> = plan
        .summary_terms()
        .into_iter()
        .map(|term| term.marked)
        .collect();
    let mut expected = ["w9", "w12", "w11"]
        .map(|term| Marked::Term(term.to_owned()))
        .to_vec();
    expected.push(Marked::Like(Pattern::Wildcard("?1*".to_owned())));
    assert_eq!(terms, expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Names change neither hits nor scores, wherever they stand.
    #[test]
    fn names_change_nothing(query in testkit::queries(), batches in testkit::batches(2, 16)) {
        let index = build_index(&batches, BuildPlan::PLAIN).unwrap();
        prop_assert_eq!(scores(&index, &named("n", query.clone())), scores(&index, &query));
    }
}
