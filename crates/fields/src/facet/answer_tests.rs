//! Tests of facets as an answer shows them.

use super::{Buckets, Distribution, Facet, FacetCounts, Figures};
use crate::dates;
use crate::distinct::DistinctValues;
use crate::field_type::FieldType;
use crate::schema::Schema;
use crate::sketch::QuantileSketch;
use crate::stats::Stats;
use crate::value::Value;
use wire::FacetAnswer;

fn schema() -> Schema {
    let fields = FieldType::ALL.map(|kind| (kind.name().to_owned(), kind));
    fields.into_iter().collect()
}

fn answered(facet: &str, counts: Vec<(Value, u64)>) -> FacetAnswer {
    let counts = FacetCounts {
        buckets: Buckets {
            counts,
            ..Buckets::default()
        },
        documents_count: 7,
        matches_count: 10,
        ..FacetCounts::default()
    };
    Facet::parse(facet, &schema()).unwrap().answer(&counts)
}

#[test]
fn buckets_name_their_values_and_clauses() {
    let word = |word: &str| Value::Keyword(word.into());
    let counts = vec![
        (word("a b"), 2),
        (word("cs.LG"), 9),
        (word("x\"y"), 1),
        (word("z"), 1),
    ];
    let answer = answered("keyword:terms:3", counts);
    let shown: Vec<_> = answer
        .buckets
        .iter()
        .map(|one| (one.count, one.filter.as_str()))
        .collect();
    assert_eq!(
        shown,
        [(9, "keyword:cs.LG"), (2, "keyword:\"a b\""), (1, "")]
    );
    assert_eq!(
        (answer.others, answer.distinct, answer.missing),
        (1, Some(4), 3)
    );
    let day = Value::Date(dates::parse("2024-02-01").unwrap());
    for (facet, value, filter) in [
        ("date:year", "2024", "date:2024"),
        ("date:month", "2024-02", "date:2024-02"),
        ("date:day", "2024-02-01", "date:2024-02-01"),
        ("date:week", "2024-02-01", "date:(>=2024-02-01 <2024-02-05)"),
        (
            "date:day:Asia/Tokyo",
            "2024-02-01",
            "date:(>=2024-02-01 <2024-02-01T15:00:00Z)",
        ),
        (
            "date:hour:Asia/Kolkata",
            "2024-02-01T05:30:00+05:30",
            "date:(>=2024-02-01 <2024-02-01T00:30:00Z)",
        ),
        (
            "date:step:12h",
            "2024-02-01",
            "date:(>=2024-02-01 <2024-02-01T12:00:00Z)",
        ),
    ] {
        let answer = answered(facet, vec![(day.clone(), 3)]);
        assert_eq!(answer.buckets[0].value, value);
        assert_eq!(answer.buckets[0].filter, filter);
    }
    let answer = answered("i64:step:10", vec![(Value::Integer(-10), 3)]);
    assert_eq!(answer.buckets[0].filter, "i64:(>=-10 <0)");
    let answer = answered("i64:missing", vec![(Value::Bool(true), 3)]);
    let bucket = &answer.buckets[0];
    assert!(bucket.value.is_null());
    assert_eq!((bucket.count, &*bucket.filter), (3, "-i64:*"));
    assert_eq!(answered("site:missing", Vec::new()).buckets[0].filter, "");
    let answer = answered("i64:ranges:..5;6..", vec![(Value::Integer(1), 3)]);
    let shown: Vec<_> = answer
        .buckets
        .iter()
        .map(|one| (one.count, one.filter.as_str()))
        .collect();
    assert_eq!(shown, [(0, "i64:..5"), (3, "i64:6..")]);
}

#[test]
fn estimates_name_their_method() {
    let asked = |text: &str, figures: Figures| {
        let counts = FacetCounts {
            figures,
            ..FacetCounts::default()
        };
        Facet::parse(text, &schema()).unwrap().answer(&counts)
    };
    let none = asked("i64:percentiles", Figures::None);
    assert_eq!((none.percentiles.len(), none.method.is_some()), (0, true));
    let sorted = (0..100).map(|number| (Value::Integer(number), 1));
    let distribution = Distribution {
        ends: Some((Value::Integer(0), Value::Integer(99))),
        sketch: QuantileSketch::of_sorted(sorted),
    };
    let answer = asked("i64:percentiles:50,100", Figures::Percentiles(distribution));
    let shown: Vec<_> = answer
        .percentiles
        .iter()
        .map(|one| (one.percent, one.value.clone()))
        .collect();
    assert_eq!(shown, [(50.0, 49.into()), (100.0, 99.into())]);
    assert!(
        answer
            .method
            .is_some_and(|method| method.contains("DDSketch"))
    );
    let values = DistinctValues::of([Value::Bool(true), Value::Bool(true)]);
    let answer = asked("bool:distinct", Figures::Distinct(values));
    assert_eq!(
        (answer.distinct, answer.method.as_deref()),
        (Some(1), Some("exact"))
    );
}

#[test]
fn statistics_have_the_types_of_their_fields() {
    let with = |value: Value| {
        let mut stats = Stats::default();
        stats.add(&value, 2);
        let counts = FacetCounts {
            figures: Figures::Stats(stats),
            ..FacetCounts::default()
        };
        let facet = Facet::parse("i64:stats", &schema()).unwrap();
        facet.answer(&counts).stats.unwrap()
    };
    let integer = with(Value::Integer(i64::MAX));
    assert_eq!(integer.sum, Some((2 * i64::MAX as u64).into()));
    assert_eq!(with(Value::Float(0.5)).sum, Some(1.0.into()));
    let date = with(Value::Date(0));
    assert_eq!((date.mean, date.sum), (Some("1970-01-01".into()), None));
}

#[test]
fn buckets_within_others_narrow_to_both() {
    let facet = Facet::parse("i64:ranges:..5;6..{keyword:terms:1{bool}}", &schema()).unwrap();
    let buckets = |counts: &[(Value, u64)]| Buckets {
        counts: counts.to_vec(),
        ..Buckets::default()
    };
    let bools = FacetCounts {
        matches_count: 3,
        documents_count: 2,
        buckets: buckets(&[(Value::Bool(true), 2)]),
        ..FacetCounts::default()
    };
    let (odd, word) = (Value::Keyword("\"".into()), Value::Keyword("w".into()));
    let words = FacetCounts {
        matches_count: 4,
        documents_count: 4,
        buckets: buckets(&[(odd, 1), (word, 3)]),
        within: vec![vec![FacetCounts::default()], vec![bools]],
        ..FacetCounts::default()
    };
    let counts = FacetCounts {
        matches_count: 9,
        documents_count: 4,
        buckets: buckets(&[(Value::Integer(1), 4)]),
        within: vec![vec![words]],
        ..FacetCounts::default()
    };
    let answer = facet.answer(&counts);
    // A range without documents has its facets, too.
    let none = &answer.buckets[0].facets[0];
    assert_eq!((none.documents, none.buckets.len()), (0, 0));
    assert_eq!(none.facet, "keyword:terms:1{bool:terms:10}");
    let words = &answer.buckets[1].facets[0];
    assert_eq!(
        (words.others, words.distinct, words.buckets.len()),
        (1, Some(2), 1)
    );
    let bools = &words.buckets[0].facets[0];
    assert_eq!((bools.documents, bools.missing), (2, 1));
    assert_eq!(bools.buckets[0].filter, "i64:6.. keyword:w bool:true");
    let json = serde_json::to_string(&bools.buckets[0]).unwrap();
    assert!(!json.contains("facets"), "{json}");
}
