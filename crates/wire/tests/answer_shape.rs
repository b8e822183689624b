//! Test of the JSON of an answer as the contract with clients.
use std::path::Path;
use wire::answer::{Degraded, Span};
use wire::{
    FacetAnswer, FacetBucket, FacetPercentile, FacetStats, Hit, PhaseTimes, SearchAnswer,
    SuggestAnswer, SuggestedTitle, Total,
};

fn answer() -> SearchAnswer {
    SearchAnswer {
        query: "gr\u{f6}\u{df}e \"<b>\"".into(),
        total: Total {
            value: 12_345,
            exact: true,
        },
        hits: vec![
            Hit {
                id: "doc-7".into(),
                url: "https://example.org/a?b=c".into(),
                title: "Sizes \"render\":18446744073709551615 <b>".into(),
                site: "example.org".into(),
                score: 12.25,
                summary: "all <mark>gr\u{f6}\u{df}e</mark> &lt;b&gt; … sizes".into(),
                title_html: "<mark>a</mark>".into(),
                fields: [("year".to_owned(), 2026.into())].into_iter().collect(),
                more_from_site: true,
                held_back: false,
                pinned: false,
                hidden: 0,
                cut: Vec::new(),
                sort: vec![2026.into(), serde_json::Value::Null],
                lacks: Vec::new(),
                explanation: None,
            },
            Hit {
                id: "file:///a.txt".into(),
                url: "file:///a.txt".into(),
                title: String::new(),
                site: "file:///".into(),
                score: 0.5,
                summary: String::new(),
                title_html: String::new(),
                fields: json::Map::new(),
                more_from_site: false,
                held_back: true,
                pinned: true,
                hidden: 3,
                cut: Vec::new(),
                sort: Vec::new(),
                lacks: vec!["sizes".into()],
                explanation: Some(serde_json::json!({
                    "value": 0.5, "description": "sum of:", "details": []
                })),
            },
        ],
        numbers: Vec::new(),
        some_words_from: Some(1),
        facets: vec![
            FacetAnswer {
                field: "lang".into(),
                facet: "lang:terms:1".into(),
                buckets: vec![FacetBucket {
                    value: "en".into(),
                    count: 9,
                    filter: "lang:en".into(),
                    ..FacetBucket::default()
                }],
                others: 3,
                distinct: Some(4),
                documents: 11,
                missing: 2,
                stats: None,
                percentiles: Vec::new(),
                method: None,
            },
            FacetAnswer {
                field: "price".into(),
                facet: "price:stats".into(),
                documents: 5,
                missing: 8,
                stats: Some(FacetStats {
                    count: 6,
                    min: 0.5.into(),
                    max: 7.0.into(),
                    sum: Some(12.25.into()),
                    mean: Some(2.0.into()),
                }),
                ..FacetAnswer::default()
            },
            FacetAnswer {
                field: "price".into(),
                facet: "price:percentiles:50".into(),
                documents: 5,
                missing: 8,
                percentiles: vec![FacetPercentile {
                    percent: 50.0,
                    value: 2.5.into(),
                }],
                method: Some("DDSketch, relative error at most 0.8 %".into()),
                ..FacetAnswer::default()
            },
        ],
        corrected: Some("gr\u{f6}\u{df}en".into()),
        did_you_mean: None,
        more_hits: true,
        hides_some: true,
        after: Some("01ff".into()),
        moved: true,
        phases_us: PhaseTimes {
            parse: 1,
            queueing: 2,
            index_search: 3,
            optimization_searches: 4,
            merge: 5,
            spelling: 9,
            details: 6,
            summaries: 7,
            render: 8,
            total: 1045,
            search_cpu: None,
            run_queue: None,
        },
        warnings: vec!["ignored an unclosed quotation mark".into()],
        rules: vec!["synonym: tv -> telly".into()],
        coverage: 1.0,
        timed_out: false,
        degraded: Vec::new(),
        trace: None,
        schedule: Vec::new(),
    }
}

#[test]
fn json_shape() {
    check_golden(
        "search_answer.json",
        &serde_json::to_string_pretty(&answer()).unwrap(),
    );
}

fn check_golden(name: &str, json: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let path = folder.join(name);
    let actual = format!("{json}\n");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        actual, expected,
        "run with UPDATE_GOLDEN=1 and review the difference"
    );
}

#[test]
fn json_shape_of_suggestions() {
    let answer = SuggestAnswer {
        query: "gr\u{f6}\u{df}e <".into(),
        titles: vec![SuggestedTitle {
            title: "Gr\u{f6}\u{df}en <b>".into(),
            title_html: "<mark>Gr\u{f6}\u{df}en</mark> &lt;b&gt;".into(),
            url: "https://example.org/a?b=c".into(),
        }],
        total_us: 412,
        degraded: Vec::new(),
    };
    let value: serde_json::Value = serde_json::from_str(&answer.to_json().unwrap()).unwrap();
    check_golden(
        "suggest_answer.json",
        &serde_json::to_string_pretty(&value).unwrap(),
    );
}

#[test]
fn answers_of_before_can_still_be_read() {
    let mut json = serde_json::to_value(answer()).unwrap();
    json.as_object_mut().unwrap().remove("more_hits");
    let phases = json["phases_us"].as_object_mut().unwrap();
    phases.remove("total");
    phases.remove("spelling");
    let read: SearchAnswer = serde_json::from_value(json).unwrap();
    assert!(!read.more_hits);
    assert_eq!(read.phases_us.total, 0);
}

#[test]
fn timed_json_is_the_answer_with_its_render_time() {
    let mut timed = answer();
    let json = timed.to_json().unwrap();
    let read: SearchAnswer = serde_json::from_str(&json).unwrap();
    assert_eq!(read, timed);
    assert_eq!(timed.phases_us.total, 1045 + timed.phases_us.render);
    assert!(timed.phases_us.render < 1_000_000);
    assert_eq!(timed.hits, answer().hits);
}

#[test]
fn server_timing_names_every_phase_in_milliseconds() {
    assert_eq!(
        answer().phases_us.server_timing(),
        "parse;dur=0.001, queueing;dur=0.002, index_search;dur=0.003, \
         optimization_searches;dur=0.004, merge;dur=0.005, spelling;dur=0.009, details;dur=0.006, \
         summaries;dur=0.007, render;dur=0.008, total;dur=1.045"
    );
}

#[test]
fn what_is_missing_and_the_steps_are_said_only_where_there_are_some() {
    let whole = serde_json::to_value(answer()).unwrap();
    assert!(whole.get("degraded").is_none() && whole.get("trace").is_none());
    let partial = SearchAnswer {
        degraded: vec![Degraded {
            lacks: "search".into(),
            chunks: "0-63".into(),
            reason: "deadline".into(),
            message: "the deadline ended the search there".into(),
            documents_searched: 10,
            documents_count: 40,
        }],
        trace: Some(vec![Span {
            name: "merge".into(),
            part: String::new(),
            start_us: 5,
            duration_us: 1,
            filters: vec!["lang:en in segment 3: list, 7 of 7 documents passed".into()],
        }]),
        ..answer()
    };
    let value = serde_json::to_value(&partial).unwrap();
    assert_eq!(
        value["degraded"],
        serde_json::json!([{
            "lacks": "search", "chunks": "0-63", "reason": "deadline",
            "message": "the deadline ended the search there",
            "documents_searched": 10, "documents_count": 40
        }])
    );
    assert_eq!(
        value["trace"],
        serde_json::json!([{
            "name": "merge", "start_us": 5, "duration_us": 1,
            "filters": ["lang:en in segment 3: list, 7 of 7 documents passed"]
        }])
    );
    assert_eq!(
        serde_json::from_value::<SearchAnswer>(value).unwrap(),
        partial
    );
}
