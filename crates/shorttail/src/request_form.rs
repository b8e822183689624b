//! Serialized form of requests: one object, whose keys but `query` may be left out.

use crate::query::Query;
use crate::request::{SearchRequest, Words};
use engine::{HitContents, Returned, SearchOptions};
use search::{Least, Operator, Ranking};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::time::Duration;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestForm {
    query: Query,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    filters: Vec<Query>,
    #[serde(default = "hits_count")]
    k: usize,
    #[serde(default)]
    start: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    sort: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    facets: Vec<String>,
    #[serde(default)]
    words: Operator,
    #[serde(default)]
    ranking: Ranking,
    #[serde(default)]
    per_site: u32,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    collapse: String,
    #[serde(default = "yes")]
    counted: bool,
    #[serde(default)]
    hits: HitContents,
    #[serde(default)]
    explain: bool,
    #[serde(default)]
    as_you_type: bool,
    #[serde(default)]
    suggest: bool,
    #[serde(default = "yes")]
    correct: bool,
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    rules: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timeout_us: Option<u64>,
}

fn hits_count() -> usize {
    SearchOptions::default().k
}

fn yes() -> bool {
    true
}

fn is_true(flag: &bool) -> bool {
    *flag
}

impl Serialize for SearchRequest {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        RequestForm::from(self.clone()).serialize(to)
    }
}

impl<'de> Deserialize<'de> for SearchRequest {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<SearchRequest, D::Error> {
        RequestForm::deserialize(from).map(SearchRequest::from)
    }
}

impl From<SearchRequest> for RequestForm {
    fn from(request: SearchRequest) -> RequestForm {
        let SearchRequest {
            query,
            filters,
            options,
            words,
            deadline: _,
            token: _,
        } = request;
        let us = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        RequestForm {
            query,
            filters,
            k: options.k,
            start: options.start,
            per_site: options.per_site,
            collapse: options.collapse,
            after: options.after,
            sort: options.sort,
            facets: options.facets,
            words: words.operator(),
            ranking: options.ranking,
            counted: options.returned.counted,
            hits: options.returned.hits,
            explain: options.explain,
            as_you_type: options.as_you_type,
            suggest: options.suggest,
            correct: options.correct,
            rules: options.rules,
            timeout_us: options.timeout.map(us),
        }
    }
}

impl From<RequestForm> for SearchRequest {
    fn from(form: RequestForm) -> SearchRequest {
        SearchRequest {
            query: form.query,
            filters: form.filters,
            options: SearchOptions {
                k: form.k,
                start: form.start,
                per_site: form.per_site,
                collapse: form.collapse,
                after: form.after,
                sort: form.sort,
                facets: form.facets,
                ranking: form.ranking,
                returned: Returned {
                    counted: form.counted,
                    hits: form.hits,
                },
                explain: form.explain,
                as_you_type: form.as_you_type,
                suggest: form.suggest,
                correct: form.correct,
                rules: form.rules,
                timeout: form.timeout_us.map(Duration::from_micros),
                ..SearchOptions::default()
            },
            words: match form.words {
                Operator::And => Words::All,
                Operator::Or => Words::Any,
                Operator::Auto => Words::AllThenSome,
                Operator::Most(Least::Words(words)) => Words::AtLeast(words),
                Operator::Most(Least::Percent(percent)) => Words::Percent(percent),
            },
            deadline: None,
            token: None,
        }
    }
}
