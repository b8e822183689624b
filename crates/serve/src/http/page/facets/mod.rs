//! Facets beside the hits: values that narrow a search, filters that can be taken away, orders by date.

use crate::api::options::SearchOptions;
use crate::http::page::choices::{alternatives, with_alternative, without_alternative};
use crate::http::page::settings::pairs;
use crate::http::page::texts::cut;
use crate::http::page::times::thousands;
use crate::http::page::url::local;
use askama::Template;
use fields::{FieldType, Schema};
use serde_json::Value;
use wire::{FacetAnswer, FacetBucket, SearchAnswer};

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
    /// Facets over the documents of the value.
    pub(super) within: Vec<FacetView>,
}

/// Facet below a value that it is within.
#[derive(Template)]
#[template(path = "facet_within.html")]
pub(super) struct FacetWithin<'a> {
    facet: &'a FacetView,
}

/// Returns the facets that a page counts unless others are asked for: of words, truth values and dates.
/// The groups of near duplicates of a crawl are none: their names are hashes.
pub(crate) fn default_facets(schema: &Schema) -> Vec<String> {
    let is_crawled = schema.iter().any(|(name, _)| name == "inlinks");
    let can_be_asked_for = |name: &str| !name.contains([',', ':', '{', '}']);
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
    let links = Links::new(answer, options);
    let dated = answer.facets.iter().find(|facet| is_of_years(facet));
    let orders = dated.map_or(Vec::new(), |facet| {
        let by = |text: &str, sort: String| Link {
            text: text.to_owned(),
            is_current: options.sort == sort,
            href: links.sorted(sort),
        };
        vec![
            by("Best first", String::new()),
            by("Newest first", format!("{}:desc", facet.field)),
            by("Oldest first", format!("{}:asc", facet.field)),
        ]
    });
    // What all hits have narrows nothing; who asked for the facet sees it all the same.
    let is_shown =
        |facet: &&FacetAnswer| !options.facets.is_empty() || narrows(facet, answer, options);
    let facets = answer.facets.iter().filter(is_shown);
    let facets = facets.map(|facet| links.facet(facet));
    Refining {
        chips: options
            .filters
            .iter()
            .map(|filter| Link {
                text: cut(filter, VALUE_CHARS_MAX),
                href: links.without(filter),
                is_current: true,
            })
            .collect(),
        orders,
        facets: facets.filter(FacetView::has_values).collect(),
    }
}

/// Returns whether a facet has a choice, or shows one that was made: not a single value that all hits have.
fn narrows(facet: &FacetAnswer, answer: &SearchAnswer, options: &SearchOptions) -> bool {
    match facet.buckets.as_slice() {
        [only] => only.count < answer.total.value || options.filters.contains(&only.filter),
        _ => true,
    }
}

/// Links to searches that are refined in another way.
struct Links<'a> {
    query: &'a str,
    options: &'a SearchOptions,
    first_page: SearchOptions,
}

impl<'a> Links<'a> {
    fn new(answer: &'a SearchAnswer, options: &'a SearchOptions) -> Links<'a> {
        Links {
            query: &answer.query,
            options,
            first_page: SearchOptions {
                start: 0,
                ..options.clone()
            },
        }
    }

    fn link(&self, options: SearchOptions) -> String {
        local("./", &pairs(self.query, &options))
    }

    fn sorted(&self, sort: String) -> String {
        self.link(SearchOptions {
            sort,
            ..self.first_page.clone()
        })
    }

    fn filtered<'f>(&self, filters: impl Iterator<Item = &'f String>) -> String {
        self.link(SearchOptions {
            filters: filters.cloned().collect(),
            ..self.first_page.clone()
        })
    }

    fn without(&self, filter: &String) -> String {
        self.filtered((self.options.filters.iter()).filter(|other| *other != filter))
    }

    /// A value takes the place of another one of its field.
    fn with(&self, field: &str, filter: &String) -> String {
        let of_field = |other: &&String| {
            other
                .strip_prefix(field)
                .is_some_and(|rest| rest.starts_with(':'))
        };
        let kept = self.options.filters.iter().filter(|other| !of_field(other));
        self.filtered(kept.chain([filter]))
    }

    fn replaced(&self, filter: &String, by: Option<String>) -> String {
        let kept = self.options.filters.iter().filter(|other| *other != filter);
        self.filtered(kept.chain(&by))
    }

    fn facet(&self, facet: &FacetAnswer) -> FacetView {
        // The filter that chooses values of this field, where there is one.
        let is_choice = |filter: &&String| !alternatives(filter, &facet.field).is_empty();
        let choice = self.options.filters.iter().find(is_choice);
        self.view(facet, |bucket| self.value(&facet.field, choice, bucket))
    }

    /// Returns a facet within a bucket: its values narrow the search to both.
    fn facet_within(&self, facet: &FacetAnswer) -> FacetView {
        self.view(facet, |bucket| {
            let filters = &self.options.filters;
            let is_chosen = filters.contains(&bucket.filter);
            let href = match (is_chosen, bucket.filter.is_empty()) {
                (true, _) => Some(self.without(&bucket.filter)),
                (false, false) => Some(self.filtered(filters.iter().chain([&bucket.filter]))),
                (false, true) => None,
            };
            self.valued(bucket, href, None, is_chosen)
        })
    }

    fn view(&self, facet: &FacetAnswer, value: impl Fn(&FacetBucket) -> ValueView) -> FacetView {
        let is_dated = is_of_years(facet);
        let values = facet.buckets.iter().filter(|bucket| bucket.count > 0);
        // The latest years are asked for most.
        let mut values: Vec<_> = values.collect();
        if is_dated {
            values.reverse();
            values.truncate(YEARS_MAX);
        }
        let shown_count = facet.buckets.len().min(VALUES_MAX) as u64;
        let further = match is_dated {
            true => (facet.buckets.len() as u64).saturating_sub(YEARS_MAX as u64),
            false if facet.buckets.is_empty() => 0,
            false => facet.distinct.unwrap_or(0).saturating_sub(shown_count),
        };
        FacetView {
            name: shown(&Value::from(facet.field.as_str())),
            values: values.into_iter().take(VALUES_MAX).map(value).collect(),
            further: (further > 0).then(|| thousands(further)),
            stats: stats(facet),
        }
    }

    /// Returns a value of a field, which one of the filters may choose.
    fn value(&self, field: &str, choice: Option<&String>, bucket: &FacetBucket) -> ValueView {
        let is_among =
            |filter: &&String| alternatives(filter, field).contains(&bucket.filter.as_str());
        let chosen_by = choice.filter(is_among);
        let is_chosen = chosen_by.is_some() || self.options.filters.contains(&bucket.filter);
        let or_href = match (choice, is_chosen || bucket.filter.is_empty()) {
            (Some(choice), false) => {
                let both = with_alternative(choice, &bucket.filter);
                Some(self.replaced(choice, Some(both)))
            }
            _ => None,
        };
        let href = match (is_chosen, bucket.filter.is_empty()) {
            (true, _) => Some(match chosen_by {
                Some(choice) => {
                    let rest = without_alternative(choice, field, &bucket.filter);
                    self.replaced(choice, rest)
                }
                None => self.without(&bucket.filter),
            }),
            (false, false) => Some(self.with(field, &bucket.filter)),
            (false, true) => None,
        };
        self.valued(bucket, href, or_href, is_chosen)
    }

    fn valued(
        &self,
        bucket: &FacetBucket,
        href: Option<String>,
        or_href: Option<String>,
        is_chosen: bool,
    ) -> ValueView {
        let within = bucket.facets.iter().map(|facet| self.facet_within(facet));
        ValueView {
            text: shown(&bucket.value),
            count: thousands(bucket.count),
            href,
            or_href,
            is_chosen,
            within: within.filter(FacetView::has_values).collect(),
        }
    }
}

/// Returns whether the buckets of a facet are years.
fn is_of_years(facet: &FacetAnswer) -> bool {
    let outer = facet.facet.split('{').next();
    outer.is_some_and(|outer| outer.ends_with(":year"))
}

impl FacetView {
    fn has_values(&self) -> bool {
        !self.values.is_empty() || !self.stats.is_empty()
    }

    /// Returns the facet as it stands below a value that it is within.
    pub(super) fn within(&self) -> FacetWithin<'_> {
        FacetWithin { facet: self }
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
        Value::Null => "(none)".to_owned(),
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
mod tests;
