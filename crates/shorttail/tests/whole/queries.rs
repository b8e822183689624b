//! Typed queries and requests, against texts in the language of queries.

use crate::{Bed, page, urls};
use shorttail::{Facet, Period, Query, SearchRequest, Words};
use std::ops::Bound;

#[test]
fn typed_queries_are_the_texts_that_say_the_same() {
    let bed = Bed::of(120);
    let words = Query::words;
    for (text, typed) in [
        ("short tail", words("short tail")),
        ("short OR tuft", Query::any_word("short tuft")),
        ("\"short tail\"", Query::phrase("short tail")),
        ("\"moon tail\"~3", Query::near_phrase("moon tail", 3)),
        ("tu*", Query::prefix("tu")),
        ("t?f*", Query::wildcard("t?f*")),
        ("/(moo|rive)[nr]/", Query::regex("(moo|rive)[nr]")),
        ("tial~", Query::near("tial")),
        ("rivers~1", Query::near_within(1, "rivers")),
        ("title:moon", words("moon").in_field("title")),
        ("note:moon", words("moon").in_field("note")),
        (
            "note:\"moon moon\"",
            Query::phrase("moon moon").in_field("note"),
        ),
        (
            "moon price:15",
            words("moon").and(Query::equals("price", 15)),
        ),
        (
            "moon price:10..20",
            words("moon").and(Query::range("price", 10..=20)),
        ),
        (
            "moon price:[10 TO 20}",
            words("moon").and(Query::range("price", 10..20)),
        ),
        (
            "moon price:>=100",
            words("moon").and(Query::range("price", 100..)),
        ),
        (
            "moon date:2023",
            words("moon").and(Query::equals("date", "2023")),
        ),
        (
            "moon date:2021..2023",
            words("moon").and(Query::range("date", "2021"..="2023")),
        ),
        (
            "moon lang:de",
            words("moon").and(words("de").in_field("lang").filter()),
        ),
        (
            "moon lang:de*",
            words("moon").and(Query::starts_with("lang", "de")),
        ),
        ("moon lang:*", words("moon").and(Query::exists("lang"))),
        (
            "moon site:s1.example",
            words("moon").and(Query::site("s1.example")),
        ),
        (
            "moon site:example",
            words("moon").and(Query::site("example")),
        ),
        (
            "moon site:\"example\"",
            words("moon").and(Query::exact_site("example")),
        ),
        (
            "moon -title:tail",
            words("moon").and_not(words("tail").in_field("title")),
        ),
        (
            "moon^3 OR tail",
            Query::any_of([words("moon").boost(3.0), words("tail")]),
        ),
        (
            "moon (tail OR \"short river\") -lang:en",
            Query::all_of([
                words("moon"),
                Query::any_of([words("tail"), Query::phrase("short river")]),
            ])
            .and_not(words("en").in_field("lang")),
        ),
        ("short -story", Query::text("short -story").filter_nothing()),
    ] {
        let request = |query: Query| {
            SearchRequest::new(query)
                .words(Words::All)
                .k(200)
                .explain(true)
        };
        let expected = bed.index.search(request(text.into())).unwrap();
        let found = bed.index.search(request(typed)).unwrap();
        assert_eq!(expected.warnings, [""; 0], "{text}");
        assert_eq!(found.hits, expected.hits, "{text}");
        assert_eq!(found.total, expected.total, "{text}");
        let is_site = text.ends_with("\"example\"");
        assert!(is_site || !found.hits.is_empty(), "{text} finds nothing");
    }
}

/// A text within a tree, which is parsed there.
trait FilterNothing {
    fn filter_nothing(self) -> Query;
}

impl FilterNothing for Query {
    fn filter_nothing(self) -> Query {
        Query::all_of([self])
    }
}

#[test]
fn words_of_requests_are_those_of_texts() {
    let bed = Bed::of(60);
    let total = |words, text: &str| {
        let request = SearchRequest::new(text).words(words);
        bed.index.search(request).unwrap().total.value
    };
    let text = "short tail river nowhere";
    assert_eq!(total(Words::All, text), 0);
    assert_eq!(
        total(Words::Any, text),
        total(Words::All, "short OR tail OR river")
    );
    let three = bed.index.search(Query::some_words(3, text)).unwrap();
    assert_eq!(total(Words::AtLeast(3), text), three.total.value);
    assert_eq!(total(Words::Percent(75), text), three.total.value);
    let request = SearchRequest::new(text).words(Words::AllThenSome);
    let answer = bed.index.search(request).unwrap();
    assert_eq!((answer.some_words_from, answer.hits.len()), (Some(0), 10));
}

#[test]
fn filters_select_and_facets_count_beside_them() {
    let bed = Bed::of(90);
    let filtered = |filter: Query| {
        let request = SearchRequest::new("moon").filter(filter).k(200);
        let request = request.facet(Facet::terms("lang", 10)).fields(true);
        bed.index.search(request).unwrap()
    };
    let typed = filtered(Query::equals("lang", "de"));
    let text = filtered("lang:de".into());
    assert_eq!((&typed.hits, &typed.facets), (&text.hits, &text.facets));
    assert!(typed.hits.iter().all(|hit| hit.fields["lang"] == "de"));
    // A filter of a field does not narrow its facet.
    assert_eq!(typed.facets[0].buckets.len(), 3);
    // Filters alone.
    let request = SearchRequest::new("").filter(Query::range("price", 10..20));
    assert_eq!(bed.index.search(request).unwrap().total.value, 10);
}

#[test]
fn facets_count_all_matches() {
    let bed = Bed::of(90);
    let facets = [
        Facet::terms("lang", 2),
        Facet::distinct("price"),
        Facet::stats("price"),
        Facet::percentiles("price", &[50.0, 100.0]),
        Facet::histogram("price", 30.0),
        Facet::calendar("date", Period::Year),
        Facet::calendar_in("date", Period::Month, "Europe/Berlin"),
        Facet::ranges("price", &["..10", "10..20", "80.."]),
        Facet::terms("site", 10),
    ];
    let query = Query::exists("price");
    let counts = bed.index.aggregate(query.clone(), facets.clone()).unwrap();
    let buckets: Vec<usize> = counts.iter().map(|one| one.buckets.len()).collect();
    assert_eq!(buckets, [2, 0, 0, 0, 3, 5, 5, 3, 4]);
    assert_eq!(counts[1].distinct, Some(90));
    let stats = counts[2].stats.as_ref().unwrap();
    assert_eq!(
        (stats.count, &stats.max, &stats.mean),
        (90, &89.into(), &Some(44.5.into()))
    );
    assert_eq!(counts[3].percentiles[1], (100.0, 89.into()));
    let ranges: Vec<u64> = counts[7]
        .buckets
        .iter()
        .map(|bucket| bucket.count)
        .collect();
    assert_eq!(ranges, [11, 11, 10]);
    let request = facets
        .into_iter()
        .fold(SearchRequest::new(query), SearchRequest::facet);
    assert_eq!(bed.index.search(request).unwrap().facets, counts);
}

#[test]
fn facets_within_buckets_count_their_documents() {
    let bed = Bed::of(90);
    let facet = Facet::terms("lang", 2)
        .with(Facet::missing("price").with(Facet::terms("site", 1)))
        .with(Facet::stats("price"));
    let counts = bed.index.aggregate("moon", [facet.clone()]).unwrap();
    assert_eq!(
        counts[0].facet,
        "lang:terms:2{price:missing{site:terms:1},price:stats}"
    );
    for bucket in &counts[0].buckets {
        let [missing, stats] = &bucket.facets[..] else {
            panic!("two facets");
        };
        let (none, one) = (&missing.buckets[0], stats.stats.as_ref());
        assert_eq!(one.map_or(0, |stats| stats.count), stats.documents);
        assert_eq!(none.count + stats.documents, bucket.count);
        assert_eq!(
            (none.count, missing.missing),
            (stats.missing, stats.missing)
        );
        // The filter of a bucket leaves its documents, as those of buckets within it do.
        let request = SearchRequest::new("moon").filter(Query::from(bucket.filter.as_str()));
        assert_eq!(bed.index.search(request).unwrap().total.value, bucket.count);
        for inner in &none.facets[0].buckets {
            let request = SearchRequest::new("moon").filter(Query::from(inner.filter.as_str()));
            assert_eq!(bed.index.search(request).unwrap().total.value, inner.count);
        }
    }
}

#[test]
fn batches_are_single_searches() {
    let bed = Bed::of(80);
    let requests: Vec<SearchRequest> = [
        "short",
        "tail -moon",
        "\"moon river\"",
        "nowhere",
        "[",
        "price:3..70 tu*",
    ]
    .into_iter()
    .flat_map(|text| [1, 10, 30].map(|k| SearchRequest::new(text).k(k)))
    .chain([SearchRequest::new(Query::words("x").in_field("none"))])
    .collect();
    for threads in [0, 1, 3, 100] {
        let batch = bed.index.search_batch(&requests, threads);
        assert_eq!(batch.len(), requests.len());
        for (request, answer) in requests.iter().zip(batch) {
            match (bed.index.search(request), answer) {
                (Ok(single), Ok(answer)) => {
                    assert_eq!((answer.hits, answer.total), (single.hits, single.total));
                }
                (Err(single), Err(error)) => assert_eq!(error.to_string(), single.to_string()),
                (single, answer) => panic!("{single:?} {answer:?}"),
            }
        }
    }
    assert!(bed.index.search_batch(Vec::<&str>::new(), 2).is_empty());
}

#[test]
fn pages_follow_each_other() {
    let bed = Bed::of(50);
    let all = bed.index.search(SearchRequest::new("moon").k(100)).unwrap();
    let mut after = "*".to_owned();
    let mut paged = Vec::new();
    loop {
        let request = SearchRequest::new(Query::words("moon")).k(7).after(&*after);
        let page = bed.index.search(request).unwrap();
        paged.extend(page.hits);
        match page.after {
            Some(next) if page.more_hits => after = next,
            _ => break,
        }
    }
    assert_eq!(paged, all.hits);
    let second = bed
        .index
        .search(SearchRequest::new("moon").start(3).k(2))
        .unwrap();
    assert_eq!(urls(&second), urls(&all)[3..5]);
    let sorted = SearchRequest::new("moon").sort("price:desc").k(1);
    let sorted = bed.index.search(sorted).unwrap();
    let greatest = (0..50).rev().map(page).find(|page| {
        page.title.contains("moon")
            || page.body.contains("moon")
            || page.fields["note"].as_str().unwrap().contains("moon")
    });
    assert_eq!(sorted.hits[0].url, greatest.unwrap().url);
    // Without summaries, hits are the same otherwise.
    let bare = bed
        .index
        .search(SearchRequest::new("moon").k(100).summaries(false))
        .unwrap();
    assert!(bare.is_complete() && bare.hits.iter().all(|hit| hit.summary.is_empty()));
    assert_eq!(urls(&bare), urls(&all));
}

#[test]
fn the_best_clause_or_a_constant_scores() {
    let bed = Bed::of(120);
    let scores = |query: Query| {
        let answer = bed.index.search(SearchRequest::new(query).k(200)).unwrap();
        let hits = answer.hits.iter().map(|hit| (hit.url.clone(), hit.score));
        hits.collect::<std::collections::BTreeMap<_, _>>()
    };
    let (title, text) = (
        || Query::words("moon").in_field("title"),
        || Query::words("moon").boost(0.5),
    );
    let (titles, texts) = (scores(title()), scores(text()));
    let best = scores(Query::best_of([title(), text()]));
    let both = titles.keys().filter(|url| texts.contains_key(*url)).count();
    assert!(both > 0 && texts.len() > both);
    assert_eq!(best.len(), titles.len() + texts.len() - both);
    for (url, score) in &best {
        let of =
            |scores: &std::collections::BTreeMap<_, f32>| scores.get(url).copied().unwrap_or(0.0);
        assert!((score - of(&titles).max(of(&texts))).abs() < 1e-5);
    }
    // A share of 1 is the sum; a boost or a name around it changes no share.
    let sum = scores(Query::any_of([title(), text()]));
    let all = Query::best_of([title(), text()])
        .named("all")
        .tie_breaker(1.0);
    assert_eq!(scores(all), sum);
    let constant = scores(Query::words("moon").constant_score(2.0).boost(1.5));
    assert_eq!(constant.len(), scores("moon".into()).len());
    assert!(constant.values().all(|score| *score == 3.0));
}

#[test]
fn queries_over_the_limits_are_refused() {
    let bed = Bed::of(10);
    let nested = (0..40).fold(Query::words("a"), |query, _| query.filter());
    let many = (0..2000).map(|number| Query::words(format!("w{number}")));
    let patterns = (0..20).map(|number| Query::prefix(format!("p{number}")));
    for query in [
        nested,
        Query::any_of(many),
        Query::any_of(patterns),
        Query::near_phrase("a b", 65),
        Query::phrase("a ".repeat(65)),
        Query::near_within(3, "word"),
        Query::words("a").boost(f32::NAN),
        Query::words("a").constant_score(0.0),
        Query::words("a").constant_score(f32::INFINITY),
        Query::best_of([Query::words("a")]).tie_breaker(1.5),
        Query::best_of([Query::words("a")]).tie_breaker(f32::NAN),
        Query::words("a").named("n".repeat(257)),
        Query::wildcard("*"),
        Query::regex("a(b"),
        Query::range("price", (Bound::Included(5), Bound::Excluded(3))),
        Query::equals("price", "cheap"),
        Query::equals("nowhere", 1),
        Query::equals("note", "x"),
        Query::starts_with("price", "1"),
        Query::words("a").in_field("price"),
        Query::site(" "),
    ] {
        let outcome = bed.index.search(query.clone());
        assert!(
            matches!(outcome, Err(shorttail::Error::BadRequest { .. })),
            "{query:?} {outcome:?}"
        );
    }
    let nothing = Query::all_of([]);
    assert_eq!(bed.index.search(nothing).unwrap().total.value, 0);
}
