//! Facets beside the hits: values that narrow a search, filters that can be taken away, orders by date.

use crate::api::options::SearchOptions;
use crate::http::page::choices::{alternatives, with_alternative, without_alternative};
use crate::http::page::settings::pairs;
use crate::http::page::texts::cut;
use crate::http::page::times::thousands;
use crate::http::page::url::local;
use fields::{FieldType, Schema};
use serde_json::Value;
use wire::{FacetAnswer, SearchAnswer};

/// Facets that the page counts unasked.
const FACETS_MAX: usize = 4;
/// Number of values shown of each facet.
const VALUES: usize = 6;
/// Upper limit on the years of a facet that are shown.
const YEARS_MAX: usize = 12;
/// Upper limit on the values of a facet that are shown.
const VALUES_MAX: usize = 30;
/// Characters of a value that are shown.
const VALUE_CHARS_MAX: usize = 60;

/// Facets, filters and orders of a page of results.
pub(super) struct Refining {
    /// Filters in force.
    pub(super) chips: Vec<Link>,
    /// Orders of the hits; empty where there is no date to sort by.
    pub(super) orders: Vec<Link>,
    pub(super) facets: Vec<FacetView>,
}

/// Link to a search that is refined in another way.
pub(super) struct Link {
    pub(super) text: String,
    pub(super) href: String,
    pub(super) is_current: bool,
}

/// One facet.
pub(super) struct FacetView {
    pub(super) name: String,
    pub(super) values: Vec<ValueView>,
    /// Values that are not shown.
    pub(super) further: Option<String>,
    /// Least, mean and greatest of numbers, their percentiles, the number of distinct values.
    pub(super) stats: Vec<(String, String)>,
}

/// Value of a facet.
pub(super) struct ValueView {
    pub(super) text: String,
    pub(super) count: String,
    /// Link that narrows the search to the value, or widens it again; `None` where no clause can be written.
    pub(super) href: Option<String>,
    /// Link that widens the search of other values of the field to this one, too.
    pub(super) or_href: Option<String>,
    pub(super) is_chosen: bool,
}

/// Returns the facets that a page counts unless others are asked for: of words, truth values and dates.
/// The groups of near duplicates of a crawl are none: their names are hashes.
pub(crate) fn default_facets(schema: &Schema) -> Vec<String> {
    let is_crawled = schema.iter().any(|(name, _)| name == "inlinks");
    let can_be_asked_for = |name: &str| !name.contains([',', ':']);
    let facets = schema
        .iter()
        .filter(|(name, _)| can_be_asked_for(name) && !(is_crawled && *name == "group"));
    let facets = facets.filter_map(|(name, kind)| match kind {
        FieldType::Keyword | FieldType::Bool => Some(format!("{name}:terms:{VALUES}")),
        FieldType::Date => Some(format!("{name}:year")),
        FieldType::Integer | FieldType::Float | FieldType::Text => None,
    });
    facets.take(FACETS_MAX).collect()
}

/// Returns filters, facets and orders that refine the search of an answer.
pub(super) fn refining(answer: &SearchAnswer, options: &SearchOptions) -> Refining {
    let first_page = SearchOptions {
        start: 0,
        ..options.clone()
    };
    let link = |options: SearchOptions| local("./", &pairs(&answer.query, &options));
    let without = |filter: &String| {
        let kept = options.filters.iter().filter(|other| *other != filter);
        link(SearchOptions {
            filters: kept.cloned().collect(),
            ..first_page.clone()
        })
    };
    // A value takes the place of another one of its field.
    let with = |field: &str, filter: &String| {
        let of_field = |other: &&String| {
            other
                .strip_prefix(field)
                .is_some_and(|rest| rest.starts_with(':'))
        };
        let kept = options.filters.iter().filter(|other| !of_field(other));
        link(SearchOptions {
            filters: kept.chain([filter]).cloned().collect(),
            ..first_page.clone()
        })
    };
    let replaced = |filter: &String, by: Option<String>| {
        let kept = options.filters.iter().filter(|other| *other != filter);
        link(SearchOptions {
            filters: kept.cloned().chain(by).collect(),
            ..first_page.clone()
        })
    };
    let facet = |facet: &FacetAnswer| {
        // The filter that chooses values of this field, where there is one.
        let is_choice = |filter: &&String| !alternatives(filter, &facet.field).is_empty();
        let choice = options.filters.iter().find(is_choice);
        let is_dated = facet.facet.ends_with(":year");
        let values = facet.buckets.iter().filter(|bucket| bucket.count > 0);
        // The latest years are asked for most.
        let mut values: Vec<_> = values.collect();
        if is_dated {
            values.reverse();
            values.truncate(YEARS_MAX);
        }
        let values = values.into_iter().take(VALUES_MAX).map(|bucket| {
            let is_among = |filter: &&String| {
                alternatives(filter, &facet.field).contains(&bucket.filter.as_str())
            };
            let chosen_by = choice.filter(is_among);
            let is_chosen = chosen_by.is_some() || options.filters.contains(&bucket.filter);
            ValueView {
                text: shown(&bucket.value),
                count: thousands(bucket.count),
                or_href: match (choice, is_chosen || bucket.filter.is_empty()) {
                    (Some(choice), false) => Some(replaced(
                        choice,
                        Some(with_alternative(choice, &bucket.filter)),
                    )),
                    _ => None,
                },
                href: match (is_chosen, bucket.filter.is_empty()) {
                    (true, _) => Some(match chosen_by {
                        Some(choice) => {
                            let rest = without_alternative(choice, &facet.field, &bucket.filter);
                            replaced(choice, rest)
                        }
                        None => without(&bucket.filter),
                    }),
                    (false, false) => Some(with(&facet.field, &bucket.filter)),
                    (false, true) => None,
                },
                is_chosen,
            }
        });
        let shown_count = facet.buckets.len().min(VALUES_MAX) as u64;
        let further = match is_dated {
            true => (facet.buckets.len() as u64).saturating_sub(YEARS_MAX as u64),
            false if facet.buckets.is_empty() => 0,
            false => facet.distinct.unwrap_or(0).saturating_sub(shown_count),
        };
        FacetView {
            name: shown(&Value::from(facet.field.as_str())),
            values: values.collect(),
            further: (further > 0).then(|| thousands(further)),
            stats: stats(facet),
        }
    };
    let dated = answer
        .facets
        .iter()
        .find(|facet| facet.facet.ends_with(":year"));
    let orders = dated.map_or(Vec::new(), |facet| {
        let by = |text: &str, sort: String| Link {
            text: text.to_owned(),
            is_current: options.sort == sort,
            href: link(SearchOptions {
                sort,
                ..first_page.clone()
            }),
        };
        vec![
            by("Best first", String::new()),
            by("Newest first", format!("{}:desc", facet.field)),
            by("Oldest first", format!("{}:asc", facet.field)),
        ]
    });
    let has_values = |view: &FacetView| !view.values.is_empty() || !view.stats.is_empty();
    Refining {
        chips: options
            .filters
            .iter()
            .map(|filter| Link {
                text: cut(filter, VALUE_CHARS_MAX),
                href: without(filter),
                is_current: true,
            })
            .collect(),
        orders,
        facets: answer.facets.iter().map(facet).filter(has_values).collect(),
    }
}

fn stats(facet: &FacetAnswer) -> Vec<(String, String)> {
    let Some(stats) = &facet.stats else {
        let percentiles = facet.percentiles.iter();
        let rows = percentiles.map(|one| (format!("{} %", one.percent), shown(&one.value)));
        let distinct = facet.distinct.filter(|_| facet.method.is_some());
        let distinct = distinct.map(|count| ("values".to_owned(), thousands(count)));
        return rows.chain(distinct).collect();
    };
    let rows = [
        ("least", Some(&stats.min)),
        ("mean", stats.mean.as_ref()),
        ("greatest", Some(&stats.max)),
    ];
    let rows = rows
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    rows.map(|(name, value)| (name.to_owned(), shown(value)))
        .collect()
}

/// Returns a value as text.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "(empty)".to_owned(),
        Value::String(text) => cut(text, VALUE_CHARS_MAX),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) if float.abs() < 1e15 => {
                let text = format!("{float:.3}");
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            _ => number.to_string(),
        },
        other => cut(&other.to_string(), VALUE_CHARS_MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::FacetBucket;

    #[test]
    fn values_narrow_and_chosen_ones_widen() {
        let bucket = |value: &str, filter: &str| FacetBucket {
            value: value.into(),
            count: 1_234,
            filter: filter.into(),
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
            operator: crate::http::params::PAGE_OPERATOR,
            ..SearchOptions::default()
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
}
