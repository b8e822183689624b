//! Scores of every model on a small collection, beside those of its formula in double precision, whatever the history of
//! the index.

use crate::ways::all_segments;
use document::Document;
use search::{Operator, Plan, Ranking, bag_of_words, search_partition};
use serde_json::Value;
use std::collections::BTreeMap;
use testkit::{BuildPlan, build_index};

/// Tolerance beside the rounding of a score: half a step of the grid for each word of the query, whose highest score is below 16.
const TOLERANCE: f64 = 4.0 * 16.0 / (1 << 22) as f64 / 2.0;

/// Scores by the names of documents.
type Scores = BTreeMap<String, f32>;

fn document(name: &str, title: &str, body: &str) -> Document {
    Document {
        url: name.to_owned(),
        title: title.to_owned(),
        body: body.to_owned(),
        ..Document::default()
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Returns the scores of all matches of some words in an index made by commits.
fn scores(batches: &[Vec<Document>], words: &str, ranking: Ranking) -> Scores {
    let index = build_index(batches, BuildPlan::PLAIN).unwrap();
    let query = bag_of_words(words, index.analyzer(), Operator::Or);
    let plan = Plan::new(&query, ranking, index.statistics()).unwrap();
    let segments = all_segments(&index);
    let (hits, _) = search_partition(&plan, segments.iter().copied(), usize::MAX).unwrap();
    let url = |hit: &search::ScoredHit| {
        let mut all = segments.iter();
        let segment = all.find(|segment| segment.id() == hit.segment).unwrap();
        segment.details(hit.doc).unwrap().url
    };
    hits.iter().map(|hit| (url(hit), hit.score)).collect()
}

#[test]
fn models_score_as_their_formulas() {
    let known: Value = serde_json::from_str(include_str!("models.json")).unwrap();
    let documents = known["documents"].as_object().unwrap();
    let documents: Vec<Document> = documents
        .iter()
        .map(|(name, one)| document(name, text(&one["title"]), text(&one["body"])))
        .collect();
    // Earlier versions with other frequencies, and a document that goes without a trace.
    let mut earlier: Vec<Document> = documents.iter().step_by(2).cloned().collect();
    earlier
        .iter_mut()
        .for_each(|one| one.body += " tail dust the the the");
    let histories = [vec![documents.clone()], vec![earlier, documents]];
    let mut models = std::collections::BTreeSet::new();
    for model in known["models"].as_array().unwrap() {
        let ranking: Ranking = text(&model["ranking"]).parse().unwrap();
        models.insert(ranking.model().name);
        for (query, expected) in model["scores"].as_object().unwrap() {
            let words = text(&known["queries"][query]);
            let [found, later] = [0, 1].map(|at: usize| scores(&histories[at], words, ranking));
            assert_eq!(found, later, "{ranking} {words:?}");
            let expected = expected.as_object().unwrap();
            let names: Vec<&String> = expected.keys().collect();
            assert_eq!(
                found.keys().collect::<Vec<_>>(),
                names,
                "{ranking} {words:?}"
            );
            for (name, expected) in expected {
                let (score, expected) = (f64::from(found[name]), expected.as_f64().unwrap());
                assert!(
                    (score - expected).abs() < TOLERANCE + expected * 1e-6,
                    "{ranking} {words:?} {name}: {score}, not {expected}"
                );
            }
        }
    }
    let registered = Ranking::MODELS.iter().map(|model| model.name);
    assert_eq!(models, registered.collect());
}
