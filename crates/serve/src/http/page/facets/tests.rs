//! Tests of facets beside the hits: what their values and orders link to, and which are shown.

use super::*;
use crate::http::page::tests::page_options;

#[test]
fn values_narrow_and_chosen_ones_widen() {
    let bucket = |value: &str, filter: &str| FacetBucket {
        value: value.into(),
        count: 1_234,
        filter: filter.into(),
        ..FacetBucket::default()
    };
    let answer = SearchAnswer {
        query: "lynx".into(),
        facets: vec![
            FacetAnswer {
                field: "lang".into(),
                facet: "lang:terms:3".into(),
                buckets: vec![
                    bucket("en", "lang:en"),
                    bucket("de", "lang:de"),
                    bucket("\"", ""),
                ],
                distinct: Some(9),
                ..FacetAnswer::default()
            },
            FacetAnswer {
                field: "date".into(),
                facet: "date:year".into(),
                ..FacetAnswer::default()
            },
        ],
        ..SearchAnswer::default()
    };
    let options = SearchOptions {
        filters: vec!["lang:en".into()],
        start: 10,
        ..page_options()
    };
    let refining = refining(&answer, &options);
    let values = &refining.facets[0].values;
    assert_eq!(refining.facets.len(), 1);
    assert_eq!(values[0].href.as_deref(), Some("./?q=lynx"));
    assert!(values[0].is_chosen);
    assert_eq!(
        values[1].href.as_deref(),
        Some("./?q=lynx&filter=lang%3Ade")
    );
    assert_eq!(
        values[1].or_href.as_deref(),
        Some("./?q=lynx&filter=lang%3Aen+OR+lang%3Ade")
    );
    assert_eq!((&values[0].or_href, &values[2].or_href), (&None, &None));
    assert_eq!(
        (values[1].count.as_str(), &values[2].href),
        ("1,234", &None)
    );
    assert_eq!(refining.facets[0].further.as_deref(), Some("6"));
    assert_eq!(refining.chips[0].href, "./?q=lynx");
    assert_eq!(
        refining.orders[1].href,
        "./?q=lynx&filter=lang%3Aen&sort=date%3Adesc"
    );
    assert!(refining.orders[0].is_current);
    let options = SearchOptions {
        filters: vec!["lang:en OR lang:de".into()],
        ..options
    };
    let values = &super::refining(&answer, &options).facets[0].values;
    assert!(values[0].is_chosen && values[1].is_chosen);
    assert_eq!(
        values[0].href.as_deref(),
        Some("./?q=lynx&filter=lang%3Ade")
    );
    assert_eq!(
        values[1].href.as_deref(),
        Some("./?q=lynx&filter=lang%3Aen")
    );
}

#[test]
fn a_value_that_all_hits_have_is_not_offered() {
    let bucket = |count| FacetBucket {
        value: "en".into(),
        count,
        filter: "lang:en".into(),
        ..FacetBucket::default()
    };
    let shown = |count, options: &SearchOptions| {
        let answer = SearchAnswer {
            total: wire::Total {
                value: 7,
                exact: true,
            },
            facets: vec![FacetAnswer {
                field: "lang".into(),
                facet: "lang:terms:6".into(),
                buckets: vec![bucket(count)],
                ..FacetAnswer::default()
            }],
            ..SearchAnswer::default()
        };
        refining(&answer, options).facets.len()
    };
    let usual = page_options();
    assert_eq!((shown(7, &usual), shown(6, &usual)), (0, 1));
    let chosen = SearchOptions {
        filters: vec!["lang:en".into()],
        ..page_options()
    };
    let asked = SearchOptions {
        facets: vec!["lang".into()],
        ..page_options()
    };
    assert_eq!((shown(7, &chosen), shown(7, &asked)), (1, 1));
}

#[test]
fn facets_within_a_value_stand_below_it() {
    let facet = |facet: &str, buckets| FacetAnswer {
        field: facet.split(':').next().unwrap_or_default().into(),
        facet: facet.into(),
        buckets,
        ..FacetAnswer::default()
    };
    let bucket = |value: &str, filter: &str, facets| FacetBucket {
        value: value.into(),
        count: 3,
        filter: filter.into(),
        facets,
    };
    let inner = facet(
        "lang:terms:2",
        vec![bucket("<de>", "date:2024 lang:de", Vec::new())],
    );
    let empty = facet("lang:terms:2", Vec::new());
    let year = bucket("2024", "date:2024", vec![inner, empty]);
    let answer = SearchAnswer {
        query: "lynx".into(),
        total: wire::Total {
            value: 9,
            exact: true,
        },
        facets: vec![facet("date:year{lang:terms:2,lang:terms:2}", vec![year])],
        ..SearchAnswer::default()
    };
    let options = |filter: &str| SearchOptions {
        filters: vec![filter.into()],
        ..page_options()
    };
    let refined = refining(&answer, &options("lang:de"));
    assert_eq!(refined.orders.len(), 3);
    let within = &refined.facets[0].values[0].within;
    assert_eq!(within.len(), 1);
    assert_eq!(
        within[0].values[0].href.as_deref(),
        Some("./?q=lynx&filter=lang%3Ade&filter=date%3A2024+lang%3Ade")
    );
    let html = within[0].within().to_string();
    assert!(html.contains("<bdi>&#60;de&#62;</bdi>"), "{html}");
    let refined = refining(&answer, &options("date:2024 lang:de"));
    let value = &refined.facets[0].values[0].within[0].values[0];
    assert_eq!(
        (value.is_chosen, value.href.as_deref()),
        (true, Some("./?q=lynx"))
    );
}

#[test]
fn words_truth_values_and_dates_are_counted_unasked() {
    let schema = [
        ("a", FieldType::Integer),
        ("b", FieldType::Keyword),
        ("c:d", FieldType::Keyword),
        ("e", FieldType::Date),
        ("f", FieldType::Text),
        ("g", FieldType::Bool),
    ];
    let facets = default_facets(&schema.into_iter().collect());
    assert_eq!(facets, ["b:terms:6", "e:year", "g:terms:6"]);
    let crawled = [
        ("group", FieldType::Keyword),
        ("inlinks", FieldType::Integer),
        ("lang", FieldType::Keyword),
    ];
    let facets = default_facets(&crawled.into_iter().collect());
    assert_eq!(facets, ["lang:terms:6"]);
}
