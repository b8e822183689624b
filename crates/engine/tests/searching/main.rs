//! Searches through the public API: pages, limits, timeouts, reloads.

mod collapsed;
mod correcting;
mod sites;
mod strings;

use engine::{
    Engine, EngineError, HitContents, Operator, QuerySource, Returned, SearchAnswer, SearchOptions,
};
use index::{BuildOptions, Writer};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use vfs::{MemoryStorage, SharedStorage};

fn commit(storage: &SharedStorage, numbers: std::ops::Range<usize>) {
    let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
    for number in numbers {
        let document = document::Document {
            url: format!("https://site{}.example/{number}", number % 5),
            title: format!("Title {number}"),
            body: "alpha ".repeat(1 + number % 7) + "in a text",
            ..Default::default()
        };
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
}

fn engine_of(documents: usize) -> (Engine, SharedStorage) {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    commit(&storage, 0..documents);
    (Engine::open_in(storage.clone()).unwrap(), storage)
}

fn urls(answer: &SearchAnswer) -> Vec<&str> {
    answer.hits.iter().map(|hit| &*hit.url).collect()
}

#[test]
fn most_of_the_words_are_required() {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
    for (page, body) in ["a b c d", "a b c", "a b", "a", "d"]
        .into_iter()
        .enumerate()
    {
        let document = document::Document {
            url: format!("https://s{page}.test/"),
            body: body.to_owned(),
            ..document::Document::default()
        };
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    let engine = Engine::open_in(storage).unwrap();
    for (most, query, count) in [
        ("75%", "a b c d", 2),
        ("50%", "a b c d", 3),
        ("1", "a b c d", 5),
        ("9", "a b c d", 1),
        // A word that no document holds counts.
        ("75%", "a b c nowhere", 2),
        ("100%", "a nowhere", 0),
        ("50%", "a b c d -c", 1),
    ] {
        let options = SearchOptions {
            operator: search::Operator::Most(most.parse().unwrap()),
            ..SearchOptions::default()
        };
        let answer = engine.search(query, &options).unwrap();
        assert_eq!(answer.total.value, count, "{query} {most}");
    }
}

#[test]
fn a_reload_finds_what_was_committed() {
    let (engine, storage) = engine_of(10);
    let total = || {
        engine
            .search("alpha", &SearchOptions::default())
            .unwrap()
            .total
            .value
    };
    let before = engine.reload().unwrap();
    commit(&storage, 10..25);
    assert_eq!(total(), 10);
    assert_eq!(engine.reload().unwrap(), before + 1);
    assert_eq!(total(), 25);
}

#[test]
fn a_timeout_is_an_error_or_a_flag_and_never_silent() {
    let (engine, _) = engine_of(60);
    let options = SearchOptions {
        timeout: Some(Duration::ZERO),
        ..SearchOptions::default()
    };
    match engine.search("alpha", &options) {
        Ok(answer) => assert!(
            answer.timed_out && !answer.degraded.is_empty(),
            "{answer:?}"
        ),
        Err(error) => assert!(matches!(error, EngineError::TimedOut), "{error}"),
    }
}

#[test]
fn options_that_cannot_be_met_are_refused_by_name() {
    let (engine, _) = engine_of(1);
    let options = SearchOptions {
        sort: "nowhere".to_owned(),
        ..SearchOptions::default()
    };
    let refused = engine.search("alpha", &options).unwrap_err();
    assert!(refused.to_string().starts_with("sort: "), "{refused}");
}

#[test]
fn a_cancelled_search_ends_without_an_answer() {
    let (engine, _) = engine_of(60);
    let options = SearchOptions {
        facets: ["site", "site:terms:2{site:missing{site},site}"]
            .map(str::to_owned)
            .to_vec(),
        explain: true,
        ..SearchOptions::default()
    };
    let asked = AtomicUsize::new(0);
    let after = |calls| {
        asked.store(0, Relaxed);
        engine.search_until("alpha text", &options, &|| {
            asked.fetch_add(1, Relaxed) >= calls
        })
    };
    let whole = after(usize::MAX).unwrap();
    assert_eq!(whole.total.value, 60);
    let calls = asked.load(Relaxed);
    assert!(calls >= 4, "{calls} tests for cancellation");
    for number in 0..calls {
        let outcome = after(number);
        assert!(
            matches!(outcome, Err(EngineError::Cancelled)),
            "{number} of {calls}"
        );
    }
    let again = after(calls).unwrap();
    assert_eq!(urls(&again), urls(&whole));
}

#[test]
fn any_document_is_explained_as_a_hit_is() {
    let (engine, _) = engine_of(60);
    let options = SearchOptions {
        explain: true,
        per_site: 0,
        ..SearchOptions::default()
    };
    let answer = engine.search("alpha -title:3", &options).unwrap();
    for hit in &answer.hits {
        let explained = engine
            .explain("alpha -title:3", &options, &hit.url)
            .unwrap();
        assert_eq!(explained, hit.explanation);
        assert!(explained.is_some());
    }
    for url in ["https://site3.example/3", "https://nowhere.example/"] {
        assert_eq!(
            engine.explain("alpha -title:3", &options, url).unwrap(),
            None
        );
    }
}

#[test]
fn all_documents_are_found_page_by_page_with_any_filter() {
    let (engine, _) = engine_of(60);
    let ask = |text: &str, filters: &[&str], start: usize| {
        let options = SearchOptions {
            k: 7,
            start,
            filters: filters.iter().map(|&filter| filter.to_owned()).collect(),
            facets: vec!["site:terms:20".to_owned()],
            ..SearchOptions::default()
        };
        engine.search(text, &options).unwrap()
    };
    for (text, filters, total) in [
        ("*", &[][..], 60),
        ("*:*", &[], 60),
        ("* -site:site3.example", &[], 48),
        ("*", &["-site:site3.example"], 48),
        ("", &["-site:site3.example"], 48),
        (" ", &["site:site3.example"], 12),
        ("", &["*"], 60),
        ("* site:site3.example", &["-alpha"], 0),
    ] {
        let mut urls = std::collections::BTreeSet::new();
        for start in (0..total + 7).step_by(7) {
            let answer = ask(text, filters, start);
            assert_eq!(answer.total.value, total as u64, "{text} {filters:?}");
            assert!(answer.warnings.is_empty(), "{:?}", answer.warnings);
            urls.extend(answer.hits.into_iter().map(|hit| hit.url));
        }
        assert_eq!(urls.len(), total, "{text} {filters:?}");
    }
    // The facet of a field is not narrowed by the filters of that field.
    let facets = ask("", &["site:site3.example"], 0).facets;
    assert_eq!(facets, ask("*", &[], 0).facets);
    assert_eq!(facets[0].buckets.len(), 5);
}

#[test]
fn trees_filter_as_texts_do() {
    let (engine, _) = engine_of(60);
    let answered = |filters: Vec<String>, filter_trees| {
        let options = SearchOptions {
            filters,
            filter_trees,
            facets: vec!["site".to_owned()],
            returned: Returned {
                hits: HitContents::DETAILS,
                ..Returned::default()
            },
            ..SearchOptions::default()
        };
        engine.search("alpha", &options).unwrap()
    };
    let tree = search::parse("site:site3.example", text::Analyzer::Plain, Operator::And).query;
    let (texts, trees) = (
        answered(vec!["site:site3.example".to_owned()], Vec::new()),
        answered(Vec::new(), vec![tree]),
    );
    assert_eq!(texts.total.value, 12);
    assert_eq!(
        (texts.hits, texts.total, texts.facets),
        (trees.hits.clone(), trees.total, trees.facets)
    );
    // Without summaries nothing is missing.
    assert!(trees.hits.iter().all(|hit| hit.summary.is_empty()));
    assert_eq!(
        (trees.degraded.len(), trees.warnings.len(), trees.coverage),
        (0, 0, 1.0)
    );
}

#[test]
fn an_answer_has_what_was_asked_for_and_no_more() {
    let (engine, _) = engine_of(60);
    let answered = |k, counted, hits, sort: &str| {
        let options = SearchOptions {
            k,
            returned: Returned { counted, hits },
            sort: sort.to_owned(),
            per_site: 2,
            ..SearchOptions::default()
        };
        engine.search("alpha", &options).unwrap()
    };
    let whole = answered(10, true, HitContents::default(), "");
    assert!(whole.hits.iter().any(|hit| hit.more_from_site));
    for sort in ["", "site"] {
        // No hit is ranked, and whether there are any is known all the same.
        for hits in [HitContents::default(), HitContents::Numbers] {
            let counted = answered(0, true, hits, sort);
            assert_eq!((counted.total, counted.hits.len()), (whole.total, 0));
            assert_eq!((counted.numbers.len(), counted.more_hits), (0, true));
        }
        let uncounted = answered(0, false, HitContents::default(), sort);
        assert!(uncounted.more_hits && uncounted.total.value <= whole.total.value);
    }
    let ids = answered(10, true, HitContents::Ids, "");
    let shown = ids.hits.iter().zip(&whole.hits);
    assert_eq!(ids.hits.len(), whole.hits.len());
    for (id, hit) in shown {
        assert_eq!((&id.id, &id.url, id.score), (&hit.id, &hit.url, hit.score));
        let texts = [&id.title, &id.title_html, &id.site, &id.summary];
        assert!(texts.iter().all(|text| text.is_empty()) && !id.more_from_site);
    }
    let numbers = answered(10, true, HitContents::Numbers, "");
    assert!(numbers.hits.is_empty() && numbers.degraded.is_empty());
    let scores =
        |answer: &SearchAnswer| -> Vec<f32> { answer.hits.iter().map(|hit| hit.score).collect() };
    let found: Vec<f32> = numbers.numbers.iter().map(|hit| hit.score).collect();
    assert_eq!(found, scores(&whole));
    for (number, hit) in numbers.numbers.iter().zip(&whole.hits) {
        assert_eq!(number.url_hash, document::url_hash(&hit.url));
    }
    // An explanation needs a document.
    let options = SearchOptions {
        explain: true,
        returned: Returned {
            hits: HitContents::Numbers,
            ..Returned::default()
        },
        ..SearchOptions::default()
    };
    let explained = engine.search("alpha", &options).unwrap();
    assert!(explained.hits.iter().all(|hit| hit.explanation.is_some()));
    assert_eq!(
        (&explained.hits[0].url, &*explained.hits[0].title),
        (&whole.hits[0].url, "")
    );
}

#[test]
fn words_have_no_syntax() {
    let (engine, _) = engine_of(60);
    let options = SearchOptions {
        operator: Operator::Auto,
        ..SearchOptions::default()
    };
    let hits = |source| engine.search(source, &options).unwrap().hits;
    assert_eq!(
        hits(QuerySource::Words("alpha -nothing")),
        hits(QuerySource::Text("alpha nothing"))
    );
    assert_ne!(
        hits(QuerySource::Words("alpha -nothing")),
        hits(QuerySource::Text("alpha -nothing"))
    );
}

#[test]
fn trees_and_options_are_values_within_limits() {
    let options = SearchOptions {
        k: 3,
        operator: Operator::Most(search::Least::Percent(60)),
        timeout: Some(std::time::Duration::from_millis(250)),
        returned: Returned {
            counted: false,
            hits: HitContents::Ids,
        },
        filter_trees: vec![search::Query::Nothing],
        ..SearchOptions::default()
    };
    let json = serde_json::to_string(&options).unwrap();
    assert_eq!(
        serde_json::from_str::<SearchOptions>(&json).unwrap(),
        options
    );
    let few = r#"{"k":3,"words":"60%","timeout_us":250000,"returned":{"counted":false,"hits":"ids"},"filter_trees":["nothing"]}"#;
    assert_eq!(serde_json::from_str::<SearchOptions>(few).unwrap(), options);
    let refused = serde_json::from_str::<SearchOptions>(r#"{"operator":"all"}"#).unwrap_err();
    assert!(
        refused.to_string().starts_with("unknown field `operator`"),
        "{refused}"
    );
    let (engine, _) = engine_of(5);
    let many = search::Query::AnyTelling(vec![search::Query::Nothing; 2_000]);
    let refused = |query: &search::Query, filter_trees| {
        let options = SearchOptions {
            filter_trees,
            ..SearchOptions::default()
        };
        engine.search(query, &options).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&many, Vec::new()),
        "query: the query has too many clauses"
    );
    assert_eq!(
        refused(&search::Query::Nothing, vec![many.clone()]),
        "filter: the query has too many clauses"
    );
}
