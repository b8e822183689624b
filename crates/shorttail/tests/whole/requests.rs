//! Requests as values: what is serialized is read back and answers the same; bytes from outside are read or refused.

use crate::{Bed, WORDS};
use proptest::prelude::*;
use shorttail::{Facet, FieldValue, HitContents, Query, Ranking, SearchRequest, Words};
use std::time::Duration;

fn words() -> impl Strategy<Value = Query> {
    let text = prop::collection::vec(prop::sample::select(&WORDS[..]), 1..4);
    (text, 0u8..9, 0u8..3).prop_map(|(words, form, count)| {
        let text = words.join(" ");
        match form {
            0 => Query::text(text),
            1 => Query::words(text),
            2 => Query::any_word(text),
            3 => Query::some_words(count.into(), text),
            4 => Query::near_phrase(text, count.into()),
            5 => Query::prefix(words[0]),
            6 => Query::wildcard(format!("{}*t", &words[0][..2])),
            7 => Query::regex(format!("({}|m.*)", words[0])),
            _ if count == 0 => Query::near(words[0]),
            _ => Query::near_within(count, words[0]),
        }
    })
}

fn values() -> impl Strategy<Value = Query> {
    prop_oneof![
        (0i64..30).prop_map(|price| Query::equals("price", price)),
        (0i64..30, 0i64..30).prop_map(|(low, high)| Query::range("price", low..high)),
        (0i64..30).prop_map(|low| Query::range("price", low..)),
        (0i64..30).prop_map(|high| Query::range("price", ..=high)),
        Just(Query::starts_with("lang", "d")),
        Just(Query::exists("price")),
        Just(Query::site("s1.example")),
        Just(Query::exact_site("s2.example")),
    ]
}

fn queries() -> impl Strategy<Value = Query> {
    let leaf = prop_oneof![3 => words(), 1 => values()];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let some = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            some.clone().prop_map(Query::all_of),
            some.clone().prop_map(Query::any_of),
            (0u32..3, some.clone()).prop_map(|(least, clauses)| Query::at_least(least, clauses)),
            (some, 0u8..5).prop_map(|(clauses, share)| {
                Query::best_of(clauses).tie_breaker(f32::from(share) / 4.0)
            }),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| one.and_better(other)),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| one.and_not(other)),
            inner.clone().prop_map(Query::filter),
            (inner.clone(), 1u8..9)
                .prop_map(|(clause, boost)| clause.boost(f32::from(boost) / 3.0)),
            (inner.clone(), 1u8..9).prop_map(|(clause, by)| clause.constant_score(by.into())),
            inner.clone().prop_map(|clause| clause.named("part")),
            inner.prop_map(|clause| clause.in_field("title")),
        ]
    })
}

fn requests() -> impl Strategy<Value = SearchRequest> {
    let contents = [HitContents::Numbers, HitContents::Ids, HitContents::Details];
    let words = [
        Words::All,
        Words::Any,
        Words::AllThenSome,
        Words::AtLeast(2),
        Words::Percent(60),
    ];
    let choices = (
        prop::sample::select(contents.to_vec()),
        prop::sample::select(words.to_vec()),
    );
    let page = (0usize..9, 0usize..4, 0u32..3, any::<[bool; 5]>());
    let filters = prop::collection::vec(queries(), 0..3);
    (queries(), filters, page, choices).prop_map(|(query, filters, page, choices)| {
        let (k, start, per_site, [counted, fields, summaries, explain, more]) = page;
        let (contents, words) = choices;
        let mut request = SearchRequest::new(query)
            .k(k)
            .start(start)
            .per_site(per_site)
            .count_all(counted)
            .hits(contents)
            .words(words)
            .explain(explain)
            .suggest(more);
        if contents == HitContents::Details {
            request = request.fields(fields).summaries(summaries);
        }
        if more {
            request = request
                .sort("price:desc")
                .facet(Facet::terms("lang", 2).with(Facet::stats("price")))
                .ranking(Ranking::bm25(0.9, 0.4))
                .timeout(Duration::from_micros(90_000_001));
        }
        filters.into_iter().fold(request, SearchRequest::filter)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_query_is_read_back(query in queries()) {
        let json = serde_json::to_string(&query).unwrap();
        prop_assert_eq!(serde_json::from_str::<Query>(&json).unwrap(), query, "{}", json);
    }

    #[test]
    fn bytes_from_outside_are_read_or_refused(
        request in requests(),
        at in any::<prop::sample::Index>(),
        bytes in prop::collection::vec(any::<u8>(), 0..9),
    ) {
        let mut json = serde_json::to_vec(&request).unwrap();
        let at = at.index(json.len());
        let end = (at + bytes.len() / 2).min(json.len());
        json.splice(at..end, bytes.iter().copied());
        let _ = serde_json::from_slice::<SearchRequest>(&json);
        let _ = serde_json::from_slice::<Query>(&bytes);
    }
}

#[test]
fn a_request_that_was_read_back_answers_the_same() {
    let index = Bed::of(30).index;
    proptest!(ProptestConfig::with_cases(100), |(request in requests())| {
        let json = serde_json::to_string(&request).unwrap();
        let read: SearchRequest = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(&serde_json::to_string(&read).unwrap(), &json);
        let (one, other) = (index.search(&request), index.search(&read));
        match (one, other) {
            (Ok(one), Ok(other)) => {
                prop_assert_eq!((&one.hits, &one.numbers), (&other.hits, &other.numbers));
                prop_assert_eq!((one.total, &one.facets), (other.total, &other.facets));
            }
            (Err(one), Err(other)) => prop_assert_eq!(one.to_string(), other.to_string()),
            (one, other) => prop_assert!(false, "{:?} {:?}", one, other),
        }
    });
}

#[test]
fn a_request_needs_its_query_alone() {
    let read = |json: &str| serde_json::from_str::<SearchRequest>(json);
    let json = |request: &SearchRequest| serde_json::to_value(request).unwrap();
    assert_eq!(
        json(&read(r#"{"query":"tail"}"#).unwrap()),
        json(&SearchRequest::new("tail"))
    );
    let clause = r#"{"query":{"value":{"field":"price","test":{"range":{"from":5,"below":9.5}}}}}"#;
    let built = Query::all_of([Query::words("tail")]);
    assert_ne!(
        json(&read(clause).unwrap()),
        json(&SearchRequest::new(built))
    );
    for (text, part) in [
        (r#"{}"#, "missing field `query`"),
        (
            r#"{"query":"a","size":1}"#,
            "unknown field `size`, expected one of `query`",
        ),
        (
            r#"{"query":{"word":"a"}}"#,
            "unknown variant `word`, expected one of",
        ),
        (
            r#"{"query":{"words":{"text":"a","in":"title"}}}"#,
            "unknown field `in`",
        ),
        (
            r#"{"query":3}"#,
            "expected a query: a text, or an object of one clause",
        ),
        (r#"{"query":"a","words":"most"}"#, "choose all, any or auto"),
        (r#"{"query":"a","ranking":"bm26"}"#, "bm25"),
        (r#"{"query":"a","hits":"urls"}"#, "unknown variant `urls`"),
        (
            r#"{"query":{"value":{"field":"n","test":{"range":{"from":1,"above":1}}}}}"#,
            "one lower and one upper end",
        ),
    ] {
        let refused = read(text).unwrap_err().to_string();
        assert!(refused.contains(part), "{text}: {refused}");
    }
    let deep = format!(
        "{{\"query\":{}\"a\"{}}}",
        r#"{"filter":"#.repeat(5_000),
        "}".repeat(5_000)
    );
    let refused = read(&deep).unwrap_err().to_string();
    assert!(refused.contains("nested deeper"), "{refused}");
    assert_eq!(
        serde_json::from_str::<FieldValue>("5").unwrap(),
        FieldValue::from("5")
    );
}
