//! Parameters of a request: conversion of the text behind the `?` to search options.
//!
//! Any bytes are decoded; invalid UTF-8 becomes the replacement character. The API refuses unknown
//! parameters, because an ignored one would give a wrong answer in silence. The page ignores them,
//! because links to it acquire further parameters on their way.
use crate::api::options::{SearchOptions, validate};
use engine::{HitContents, SearchError};
use search::{Least, Operator, Ranking};
use std::borrow::Cow;
use std::time::Duration;

/// Field by which the page collapses hits where its address names none: equal texts are shown once.
pub(crate) const PAGE_COLLAPSE: &str = search::aggregate::TEXT;

/// Treatment of unknown parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unknown {
    Refuse,
    Ignore,
}

/// Parameters of a search request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SearchParameters {
    /// Text of the query, if there is one.
    pub(crate) q: Option<String>,
    /// Names of the fields that hits show; all for `*`.
    pub(crate) fields: Vec<String>,
    pub(crate) options: SearchOptions,
}

/// Parses the parameters of a search behind the `?`.
pub(crate) fn parse(raw: Option<&str>, unknown: Unknown) -> Result<SearchParameters, SearchError> {
    of_pairs(
        url::form_urlencoded::parse(raw.unwrap_or("").as_bytes()),
        unknown,
    )
}

/// Parses decoded parameters of a search.
pub(crate) fn of_pairs<'a>(
    pairs: impl Iterator<Item = (Cow<'a, str>, Cow<'a, str>)>,
    unknown: Unknown,
) -> Result<SearchParameters, SearchError> {
    let mut q = None;
    let mut fields = Vec::new();
    let mut options = SearchOptions {
        suggest: unknown == Unknown::Ignore,
        correct: true,
        ..SearchOptions::default()
    };
    if unknown == Unknown::Ignore {
        options.collapse = PAGE_COLLAPSE.to_owned();
        // It says only that there are some.
        options.counts_hidden = false;
    }
    for (name, value) in pairs {
        match name.as_ref() {
            "q" => q = Some(value.into_owned()),
            "k" => options.k = number("k", &value)?,
            "start" => options.start = number("start", &value)?,
            "per_site" => options.per_site = number("per_site", &value)?,
            "collapse" => {
                options.collapse = value.trim().to_owned();
                options.counts_hidden =
                    unknown == Unknown::Refuse || options.collapse != PAGE_COLLAPSE;
            }
            "any" => {
                options.operator = if flag("any", &value)? {
                    Operator::Or
                } else {
                    Operator::And
                }
            }
            "words" => options.operator = operator(&value)?,
            "most" => options.operator = Operator::Most(least(&value)?),
            "explain" => options.explain = flag("explain", &value)?,
            "trace" => options.trace = flag("trace", &value)?,
            "fields" => fields = listed(&value).collect(),
            // The page shows all that a hit has.
            "hits" if unknown == Unknown::Refuse => options.returned.hits = contents(&value)?,
            "filter" if !value.trim().is_empty() => options.filters.push(value.into_owned()),
            "filter" => {}
            "facet" => options.facets.extend(fields::facet::split_list(&value)),
            "sort" => options.sort = value.into_owned(),
            // Links of the page have the number of hits before a page.
            "after" if unknown == Unknown::Refuse => options.after = Some(value.into_owned()),
            "as_you_type" => options.as_you_type = flag("as_you_type", &value)?,
            "correct" => options.correct = flag("correct", &value)?,
            "suggest" => options.suggest = flag("suggest", &value)?,
            "rules" => options.rules = flag("rules", &value)?,
            "partial" => options.partial = flag("partial", &value)?,
            "count" => options.returned.counted = counted(&value)?,
            "timeout" => options.timeout = Some(timeout(&value)?),
            "ranking" => options.ranking = ranking(&value)?,
            other if unknown == Unknown::Refuse => return Err(unknown_parameter(other)),
            _ => {}
        }
    }
    if !fields.is_empty() {
        let hits = &mut options.returned.hits;
        if *hits < HitContents::DETAILS {
            return Err(SearchError::BadRequest {
                parameter: "fields",
                reason: "hits of ids or numbers have no fields; ask for hits=details, or leave one of the two out".into(),
            });
        }
        *hits = hits.with_fields(true);
    }
    validate(&options)?;
    Ok(SearchParameters { q, fields, options })
}

/// Parameters of a search for titles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TitleParameters {
    /// Text as typed.
    pub(crate) q: String,
    /// Number of titles.
    pub(crate) k: usize,
    pub(crate) timeout: Option<Duration>,
}

/// Parses the parameters of a search for titles behind the `?`.
pub(crate) fn titles(raw: Option<&str>) -> Result<TitleParameters, SearchError> {
    let mut typed = None;
    let (mut k, mut until) = (SearchOptions::default().k, None);
    for (name, value) in url::form_urlencoded::parse(raw.unwrap_or("").as_bytes()) {
        match name.as_ref() {
            "q" => typed = Some(value.into_owned()),
            "k" => k = number("k", &value)?,
            "timeout" => until = Some(timeout(&value)?),
            other => {
                return Err(SearchError::BadRequest {
                    parameter: "parameter",
                    reason: format!("{:?} is not known; use q, k, timeout", brief(other)),
                });
            }
        }
    }
    let q = typed.ok_or_else(|| SearchError::BadRequest {
        parameter: "q",
        reason: "the text is missing; ask for /suggest?q=TEXT".into(),
    })?;
    Ok(TitleParameters {
        q,
        k,
        timeout: until,
    })
}

/// Returns the entries of a list with commas between them.
fn listed(value: &str) -> impl Iterator<Item = String> {
    let entries = value.split(',').map(str::trim);
    entries.filter(|entry| !entry.is_empty()).map(str::to_owned)
}

/// Returns one parameter; the last value if it is repeated.
pub(crate) fn single(raw: Option<&str>, wanted: &str) -> Option<String> {
    url::form_urlencoded::parse(raw.unwrap_or("").as_bytes())
        .filter(|(name, _)| name == wanted)
        .last()
        .map(|(_, value)| value.into_owned())
}

fn number<T: std::str::FromStr>(parameter: &'static str, value: &str) -> Result<T, SearchError> {
    value.parse().map_err(|_| SearchError::BadRequest {
        parameter,
        reason: format!(
            "{:?} is not a whole number from 0 up; give one, or leave it out",
            brief(value)
        ),
    })
}

fn flag(parameter: &'static str, value: &str) -> Result<bool, SearchError> {
    match value {
        "" | "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        other => Err(SearchError::BadRequest {
            parameter,
            reason: format!(
                "{:?} is neither 1 nor 0; give one of them, or leave it out",
                brief(other)
            ),
        }),
    }
}

fn counted(value: &str) -> Result<bool, SearchError> {
    match value {
        "" | "exact" => Ok(true),
        "none" => Ok(false),
        other => Err(SearchError::BadRequest {
            parameter: "count",
            reason: format!(
                "{:?} is no way to count; choose exact, or none for the best hits alone",
                brief(other)
            ),
        }),
    }
}

fn contents(value: &str) -> Result<HitContents, SearchError> {
    match value {
        "" | "summaries" => Ok(HitContents::default()),
        "details" => Ok(HitContents::DETAILS),
        "ids" => Ok(HitContents::Ids),
        "numbers" => Ok(HitContents::Numbers),
        other => Err(SearchError::BadRequest {
            parameter: "hits",
            reason: format!(
                "{:?} is nothing that hits have; choose summaries, details, ids or numbers",
                brief(other)
            ),
        }),
    }
}

/// Parses milliseconds, or a number with a unit.
fn timeout(value: &str) -> Result<Duration, SearchError> {
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &value[digits.len()..] {
        "" | "ms" => Some(1),
        "s" => Some(1000),
        _ => None,
    };
    let ms = unit.zip(digits.parse::<u64>().ok());
    match ms.and_then(|(unit, number)| number.checked_mul(unit)) {
        Some(ms) if ms > 0 => Ok(Duration::from_millis(ms)),
        _ => Err(SearchError::BadRequest {
            parameter: "timeout",
            reason: format!(
                "{:?} is no time; give milliseconds, as 200 or 200ms, or seconds, as 2s",
                brief(value)
            ),
        }),
    }
}

fn operator(value: &str) -> Result<Operator, SearchError> {
    Operator::named(value).ok_or_else(|| SearchError::BadRequest {
        parameter: "words",
        reason: format!(
            "{:?} is no way to match words; choose auto (good documents with all words first, then the others), all \
             or any",
            brief(value)
        ),
    })
}

fn least(value: &str) -> Result<Least, SearchError> {
    value.parse().map_err(|error| SearchError::BadRequest {
        parameter: "most",
        reason: format!("{:?} is no part of the words; {error}", brief(value)),
    })
}

fn ranking(value: &str) -> Result<Ranking, SearchError> {
    if value.is_empty() {
        return Ok(Ranking::default());
    }
    value.parse().map_err(|error| SearchError::BadRequest {
        parameter: "ranking",
        reason: format!("{:?} is {error}", brief(value)),
    })
}

fn unknown_parameter(name: &str) -> SearchError {
    SearchError::BadRequest {
        parameter: "parameters",
        reason: format!(
            "{:?} is not known; use q, k, start, per_site, collapse, words, any, most, ranking, explain, count, timeout, partial, trace, as_you_type, suggest, correct, rules, hits, fields, filter, facet, sort, after",
            brief(name)
        ),
    }
}

/// Shortens a value of the request for a message.
fn brief(value: &str) -> String {
    value.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Returned;
    use proptest::prelude::*;

    #[test]
    fn all_parameters() {
        let raw = "q=a+b%22&k=5&start=10&per_site=0&collapse=isbn&any=1&ranking=tfidf&explain=1\
                   &count=none&timeout=2s&partial=0&trace=1&suggest=1&correct=0&rules=0&fields=author,+date\
                   &filter=lang:en&filter=&filter=-x:1&facet=lang,+date:month&facet=site&sort=date:desc";
        let read = parse(Some(raw), Unknown::Refuse).unwrap();
        assert_eq!(read.q.as_deref(), Some("a b\""));
        assert_eq!(
            read.options,
            SearchOptions {
                k: 5,
                start: 10,
                depth_max: None,
                per_site: 0,
                collapse: "isbn".to_owned(),
                as_you_type: false,
                counts_hidden: true,
                operator: Operator::Or,
                ranking: Ranking::TfIdf,
                explain: true,
                returned: Returned {
                    counted: false,
                    hits: HitContents::default().with_fields(true),
                },
                timeout: Some(Duration::from_secs(2)),
                partial: false,
                trace: true,
                suggest: true,
                correct: false,
                rules: false,
                filters: vec!["lang:en".into(), "-x:1".into()],
                filter_trees: Vec::new(),
                facets: vec!["lang".into(), "date:month".into(), "site".into()],
                sort: "date:desc".into(),
                after: None,
            }
        );
        let paged = parse(Some("q=a&after=*"), Unknown::Refuse).unwrap();
        assert_eq!(paged.options.after.as_deref(), Some("*"));
        let page = parse(Some("q=a&after=*"), Unknown::Ignore).unwrap();
        assert_eq!(page.options.after, None);
        for (raw, unknown, operator) in [
            ("", Unknown::Refuse, Operator::Auto),
            ("", Unknown::Ignore, Operator::Auto),
            ("words=auto", Unknown::Refuse, Operator::Auto),
            ("words=all", Unknown::Ignore, Operator::And),
            ("any=0", Unknown::Ignore, Operator::And),
            ("words=any", Unknown::Ignore, Operator::Or),
            (
                "most=75%25",
                Unknown::Refuse,
                Operator::Most(Least::Percent(75)),
            ),
            ("most=3", Unknown::Ignore, Operator::Most(Least::Words(3))),
        ] {
            assert_eq!(
                parse(Some(raw), unknown).unwrap().options.operator,
                operator,
                "{raw}"
            );
        }
        let contents = |raw| {
            parse(Some(raw), Unknown::Refuse)
                .unwrap()
                .options
                .returned
                .hits
        };
        assert_eq!(contents("hits=details"), HitContents::DETAILS);
        assert_eq!(contents("hits=ids"), HitContents::Ids);
        assert_eq!(contents("hits=numbers"), HitContents::Numbers);
        assert_eq!(contents("hits=summaries&fields="), HitContents::default());
        let with_fields = HitContents::DETAILS.with_fields(true);
        assert_eq!(contents("fields=a&hits=details"), with_fields);
        assert_eq!(contents("hits=details&fields=a"), with_fields);
        let page = parse(Some("hits=ids"), Unknown::Ignore).unwrap();
        assert_eq!(page.options.returned.hits, HitContents::default());
        let timeout = |raw| parse(Some(raw), Unknown::Refuse).unwrap().options.timeout;
        assert_eq!(timeout("timeout=250"), Some(Duration::from_millis(250)));
        assert_eq!(timeout("timeout=250ms"), Some(Duration::from_millis(250)));
    }

    #[test]
    fn bad_bytes_are_replaced() {
        let read = parse(Some("q=%ff%zz%"), Unknown::Refuse).unwrap();
        assert_eq!(read.q.as_deref(), Some("\u{fffd}%zz%"));
    }

    #[test]
    fn bad_parameters_name_themselves_and_a_remedy() {
        for (raw, part) in [
            ("k=x", "k: \"x\" is not a whole number"),
            ("k=-1", "k: \"-1\""),
            ("k=1001", "ask for 1000 at most"),
            ("start=99999999999999999999", "start: "),
            ("start=10000", "narrow the query"),
            ("per_site=two", "per_site: "),
            ("any=maybe", "neither 1 nor 0"),
            ("words=most", "choose auto"),
            ("most=0", "give a number of words from 1"),
            ("most=101%25", "from 1% to 100%"),
            ("most=half", "\"half\" is no part of the words"),
            ("ranking=best", "choose bm25, tfidf or dirichlet"),
            ("timeout=soon", "give milliseconds"),
            ("timeout=0", "give milliseconds"),
            ("timeout=5h", "give milliseconds"),
            ("timeout=99999999999999999999s", "give milliseconds"),
            ("count=about", "choose exact, or none"),
            ("hits=all", "choose summaries, details, ids or numbers"),
            ("hits=ids&fields=a", "hits of ids or numbers have no fields"),
            ("size=3", "\"size\" is not known; use q, k"),
        ] {
            let message = parse(Some(raw), Unknown::Refuse).unwrap_err().to_string();
            assert!(message.contains(part), "{raw}: {message}");
        }
        assert!(parse(Some("utm_source=x"), Unknown::Ignore).is_ok());
    }

    proptest! {
        #[test]
        fn never_panics(raw in ".{0,200}") {
            let _ = parse(Some(&raw), Unknown::Refuse);
            let _ = single(Some(&raw), "url");
        }
    }
}
