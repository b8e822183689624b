//! Agreement of every algorithm with exhaustive evaluation over segments with few, some and mostly deleted documents.

use crate::ways::{all_segments, check_all_ways, many_documents, parsed};
use index::Index;
use search::ranking::Model;
use search::{Plan, Ranking, profile, search_partition, top_of_partition};
use testkit::{BuildPlan, build_index};

/// Queries, whether their bare words are optional, and an algorithm that runs them.
const QUERIES: [(&str, bool, &str); 15] = [
    ("w12", false, "single"),
    ("w9", false, "single"),
    ("w5", false, "single"),
    ("w11 w9", false, "conjunction"),
    ("w12 w11 w10", false, "conjunction"),
    ("w12 w9 w7", true, "maxscore"),
    ("w11 w6 -w10", true, "maxscore"),
    ("w8 w7", true, "union"),
    ("\"w12 w11 w10\"", false, "phrase"),
    ("\"w11 w9\"~3", false, "phrase"),
    ("+w10 w8 -w7", true, "mixed"),
    ("+w12 w4", true, "maxscore"),
    ("\"w11 w10 w9\" w8", true, "mixed"),
    ("w1*", false, "best of"),
    ("?1*", false, "exhaustive"),
];

/// Choice of the documents replaced by others.
#[derive(Debug, Clone, Copy)]
enum Replaced {
    /// Documents spread over the index.
    Spread,
    /// Shortest documents, which score best: a threshold that counted them would drop hits.
    Best,
}

/// Returns an index in which `permille` of a thousand documents are replaced by documents without any
/// of their words.
fn index_with(permille: usize, replaced: Replaced) -> Index {
    let documents = many_documents(permille as u64);
    let count = documents.len() * permille / 1000;
    let mut chosen: Vec<&document::Document> = documents.iter().collect();
    match replaced {
        // A stride that is coprime with the number of documents visits all of them.
        Replaced::Spread => {
            chosen = (0..documents.len())
                .map(|number| &documents[number * 7_919 % documents.len()])
                .collect();
        }
        Replaced::Best => chosen.sort_by_key(|document| document.body.len()),
    }
    let later: Vec<_> = chosen[..count]
        .iter()
        .map(|document| document::Document {
            body: "replaced".to_owned(),
            ..(*document).clone()
        })
        .collect();
    build_index(&[documents, later], BuildPlan::PLAIN).unwrap()
}

fn check(permille: usize, replaced: Replaced) {
    let index = index_with(permille, replaced);
    let first = all_segments(&index)[0];
    let deleted = first.documents_count() - first.live_documents_count();
    assert_eq!(deleted as usize, 21_000 * permille / 1000);
    for (typed, any, algorithm) in QUERIES {
        let query = parsed(typed, any, &index);
        for ranking in Ranking::MODELS.map(Model::ranking) {
            for &k in testkit::size(&[10, 950][..], &[1, 10, 80, 950]) {
                check_all_ways(&index, &query, ranking, k, 5);
            }
        }
        let plan = Plan::new(&query, Ranking::default(), index.statistics()).unwrap();
        let (_, profiled) = profile(&plan, all_segments(&index), || {
            top_of_partition(&plan, all_segments(&index), 10)?;
            search_partition(&plan, all_segments(&index), 10)
        })
        .unwrap();
        assert!(
            profiled.algorithms.contains(&algorithm),
            "{typed}: {:?}",
            profiled.algorithms
        );
    }
}

#[test]
fn one_of_a_thousand() {
    check(1, Replaced::Spread);
    check(1, Replaced::Best);
}

#[test]
fn one_of_ten() {
    check(100, Replaced::Spread);
    check(100, Replaced::Best);
}

#[test]
fn most() {
    check(600, Replaced::Spread);
    check(600, Replaced::Best);
}

#[test]
fn few_deletions_leave_a_threshold() {
    let index = index_with(1, Replaced::Best);
    for (typed, any) in [("w12", false), ("w9", false), ("w12 w9 w7", true)] {
        let query = parsed(typed, any, &index);
        let plan = Plan::new(&query, Ranking::default(), index.statistics()).unwrap();
        let segments = all_segments(&index);
        let search = || top_of_partition(&plan, segments.iter().copied(), 10);
        let (_, profiled) = profile(&plan, segments.iter().copied(), search).unwrap();
        assert!(profiled.first_threshold.is_some(), "{typed}");
    }
}
