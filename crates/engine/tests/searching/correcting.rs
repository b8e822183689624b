//! Corrected queries: offered, or answered in place of those that find nothing.

use crate::engine_of;
use engine::{Engine, Operator, QuerySource, SearchAnswer, SearchOptions};
use index::{BuildOptions, Writer};
use proptest::prelude::*;
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};

/// Options of a search that is corrected, and offered corrections.
fn corrected() -> SearchOptions {
    SearchOptions {
        suggest: true,
        correct: true,
        ..SearchOptions::default()
    }
}

/// Returns an engine over documents of these texts.
fn engine_over<'t>(texts: impl IntoIterator<Item = &'t str>, options: BuildOptions) -> Engine {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    let mut writer = Writer::open(storage.clone(), options).unwrap();
    for (number, body) in texts.into_iter().enumerate() {
        let document = document::Document {
            url: format!("https://s{}.test/{number}", number % 3),
            title: format!("Number {number}"),
            body: body.to_owned(),
            ..document::Document::default()
        };
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    Engine::open_in(storage).unwrap()
}

/// Returns the query whose hits are shown and the one that is offered, with its total.
fn of(answer: &SearchAnswer) -> (Option<&str>, Option<(&str, u64)>) {
    let offered = answer.did_you_mean.as_ref();
    let offered = offered.map(|better| (&*better.query, better.total.value));
    (answer.corrected.as_deref(), offered)
}

#[test]
fn a_query_that_finds_nothing_is_answered_with_the_hits_of_its_correction() {
    let (engine, _) = engine_of(10);
    let answer = engine.search("aplha  txet", &corrected()).unwrap();
    assert_eq!(of(&answer), (Some("alpha  text"), None));
    assert_eq!(answer.query, "aplha  txet");
    let direct = engine.search("alpha  text", &corrected()).unwrap();
    assert_eq!(of(&direct), (None, None));
    assert_eq!((answer.total, &answer.hits), (direct.total, &direct.hits));
    let phases = answer.phases_us;
    let named: u64 = phases.named().iter().map(|(_, us)| us).sum();
    assert!(phases.spelling > 0 && named <= phases.total, "{phases:?}");
    for (suggest, offered) in [(true, Some(("alpha  text", 10))), (false, None)] {
        let options = SearchOptions {
            suggest,
            correct: false,
            ..corrected()
        };
        let answer = engine.search("aplha  txet", &options).unwrap();
        assert_eq!((of(&answer), answer.hits.len()), ((None, offered), 0));
    }
    let words = QuerySource::Words("titel");
    let answer = engine.search(words, &corrected()).unwrap();
    assert_eq!(of(&answer), (Some("title"), None));
    for text in [
        "\"aplha\"",
        "xylophone",
        "-aplha",
        "title:aplha",
        "aplha*",
        "alpha",
        "/aplha/",
        "",
    ] {
        let answer = engine.search(text, &corrected()).unwrap();
        assert_eq!(of(&answer), (None, None), "{text}");
    }
}

#[test]
fn where_the_other_words_find_documents_the_correction_is_offered() {
    let (engine, _) = engine_of(10);
    for operator in [Operator::Auto, Operator::Or] {
        let options = SearchOptions {
            operator,
            ..corrected()
        };
        let answer = engine.search("alpha titel", &options).unwrap();
        assert_eq!(
            of(&answer),
            (None, Some(("alpha title", 10))),
            "{operator:?}"
        );
        assert_eq!(answer.hits.len(), 10);
    }
    let all = SearchOptions {
        operator: Operator::And,
        ..corrected()
    };
    let answer = engine.search("alpha titel", &all).unwrap();
    assert_eq!(of(&answer), (Some("alpha title"), None));
    // What is being typed has its own law.
    let typing = SearchOptions {
        as_you_type: true,
        ..corrected()
    };
    assert_eq!(engine.search("xlapha ", &typing).unwrap().corrected, None);
}

#[test]
fn a_rare_word_beside_a_far_more_frequent_one_is_offered_it() {
    let texts = std::iter::repeat_n("on a saturday", 200).chain(["on a saturdy", "the sturdy one"]);
    let engine = engine_over(texts, BuildOptions::default());
    let answer = engine.search("saturdy", &corrected()).unwrap();
    assert_eq!(of(&answer), (None, Some(("saturday", 200))));
    assert_eq!(answer.hits.len(), 1);
    let answer = engine.search("sturdy", &corrected()).unwrap();
    assert_eq!(of(&answer), (None, None));
    // The second word has no document with another.
    let answer = engine.search("saturdy sturdy", &corrected()).unwrap();
    assert_eq!(of(&answer).0, None);
}

#[test]
fn words_decide_together() {
    let texts = ["solar salt"; 3].into_iter().chain(["polar sale"; 9]);
    let texts = texts
        .chain(["sale of boats"; 30])
        .chain(["a boat of wood"; 300]);
    let engine = engine_over(texts, BuildOptions::default());
    let answer = engine.search("solat salr", &corrected()).unwrap();
    assert_eq!(of(&answer), (Some("solar salt"), None));
    // Each word is known, and no document has both.
    let answer = engine.search("solar sale", &corrected()).unwrap();
    assert_eq!(of(&answer), (None, Some(("solar salt", 3))));
}

#[test]
fn pages_facets_filters_and_order_are_those_of_the_corrected_query() {
    let (engine, _) = engine_of(60);
    let check = |options: &SearchOptions| {
        let answer = engine.search("aplha", options).unwrap();
        let direct = engine.search("alpha", options).unwrap();
        assert_eq!(answer.corrected.as_deref(), Some("alpha"), "{options:?}");
        assert_eq!(answer.hits, direct.hits, "{options:?}");
        assert_eq!(
            (answer.total, answer.more_hits),
            (direct.total, direct.more_hits)
        );
        assert_eq!(answer.facets, direct.facets);
        answer
    };
    let filtered = || SearchOptions {
        filters: vec!["site:site3.example".into()],
        facets: vec!["site".into()],
        ..corrected()
    };
    for start in [0, 10, 55, 70] {
        check(&SearchOptions {
            start,
            ..corrected()
        });
        check(&SearchOptions {
            start,
            ..filtered()
        });
    }
    check(&SearchOptions {
        sort: "site:desc".into(),
        ..filtered()
    });
    check(&SearchOptions {
        collapse: "site".into(),
        ..corrected()
    });
    check(&SearchOptions {
        per_site: 2,
        ..filtered()
    });
    // A filter under which the correction finds nothing.
    let none = SearchOptions {
        filters: vec!["site:site9.example".into()],
        ..corrected()
    };
    assert_eq!(of(&engine.search("aplha", &none).unwrap()), (None, None));
    for operator in [Operator::And, Operator::Auto] {
        let mut options = SearchOptions {
            after: Some("*".into()),
            operator,
            k: 25,
            ..corrected()
        };
        let mut urls = Vec::new();
        loop {
            let page = engine.search("aplha", &options).unwrap();
            assert_eq!(page.corrected.as_deref(), Some("alpha"));
            urls.extend(page.hits.iter().map(|hit| hit.url.clone()));
            if !page.more_hits {
                break;
            }
            options.after = page.after;
        }
        urls.sort_unstable();
        urls.dedup();
        assert_eq!(urls.len(), 60);
        // A cursor of the corrected query is one of the query typed.
        assert!(engine.search("alpha", &options).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::size(48, 1000)))]

    #[test]
    fn a_correction_has_documents_whatever_is_typed(
        texts in prop::collection::vec("(alpha|alpah|beta|betta|gamma|gama|delta|Zürich|é|東京)( (alpha|beta|gamma|omega|zürich)){0,4}", 1..24),
        typed in prop_oneof![
            "(alpha|aplha|beta|btea|gamma|gmma|omgea|zurihc|xyz)( (alpha|aplha|betta|gamma|omegaa|züric)){0,4}",
            ".{0,30}",
        ],
        operator in prop::sample::select(&Operator::NAMED[..]),
        plain in any::<bool>(),
    ) {
        let analyzer = if plain { text::Analyzer::Plain } else { text::Analyzer::English };
        let options = BuildOptions { analyzer: Some(analyzer), ..BuildOptions::default() };
        let engine = engine_over(texts.iter().map(|text| &**text), options);
        let options = SearchOptions { operator: operator.1, ..corrected() };
        let answer = engine.search(&typed, &options).unwrap();
        let verbatim = SearchOptions { correct: false, suggest: false, ..options.clone() };
        let as_typed = engine.search(&typed, &verbatim).unwrap();
        if let Some(instead) = &answer.corrected {
            prop_assert!(as_typed.hits.is_empty() && as_typed.total.value == 0);
            prop_assert!(!answer.hits.is_empty());
            let direct = engine.search(instead, &verbatim).unwrap();
            prop_assert_eq!(&answer.hits, &direct.hits, "{}", instead);
            prop_assert_eq!(&answer.did_you_mean, &None);
        } else {
            prop_assert_eq!(&answer.hits, &as_typed.hits);
        }
        if let Some(better) = &answer.did_you_mean {
            let all = SearchOptions { operator: Operator::And, ..verbatim.clone() };
            let total = engine.search(&better.query, &all).unwrap().total;
            prop_assert_eq!(total, better.total, "{}", better.query);
            prop_assert!(!engine.search(&better.query, &verbatim).unwrap().hits.is_empty());
        }
    }
}
