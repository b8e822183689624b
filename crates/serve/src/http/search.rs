//! Search over HTTP: the page at `/`, JSON at `/search`.

use crate::http::app::App;
use crate::http::failure::{failed_json, failed_page};
use crate::http::page;
use crate::http::params::{self, SearchParameters, Unknown};
use crate::http::posted;
use crate::metrics::served::Client;
use crate::net::blocking::beside_io;
use crate::net::response::{HTML, JSON, respond};
use axum::Extension;
use axum::body::Body;
use axum::extract::RawQuery;
use axum::http::header::{HeaderMap, HeaderName, HeaderValue};
use axum::http::{Response, StatusCode};
use engine::SearchError;
use engine::cut_values::cut_map;
use std::sync::Arc;
use wire::{PhaseTimes, SearchAnswer};

/// Answers a search as JSON.
pub(super) async fn search_json(
    Extension(app): Extension<Arc<App>>,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    answered_json(app, params::parse(raw.as_deref(), Unknown::Refuse)).await
}

/// Answers a search that is posted as JSON.
pub(super) async fn search_posted(
    Extension(app): Extension<Arc<App>>,
    RawQuery(raw): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Response<Body> {
    let posted = posted::received(&headers, body).await;
    let parameters = posted.and_then(|posted| {
        let pairs = posted::all(raw.as_deref(), &posted);
        params::of_pairs(pairs, Unknown::Refuse)
    });
    answered_json(app, parameters).await
}

async fn answered_json(
    app: Arc<App>,
    parameters: Result<SearchParameters, SearchError>,
) -> Response<Body> {
    let parameters = match parameters {
        Ok(parameters) => parameters,
        Err(error) => return failed_json(&app, &app.failure(error)),
    };
    let query = match parameters.q.as_deref() {
        Some(query) => query,
        None if !parameters.options.filters.is_empty() => "",
        None => {
            let missing = SearchError::BadRequest {
                parameter: "q",
                reason: "the query is missing; ask for /search?q=WORDS, or q=* for all documents"
                    .into(),
            };
            return failed_json(&app, &app.failure(missing));
        }
    };
    let (mut answer, _turn) = match app.search(&parameters, query).await {
        Ok(answered) => answered,
        Err(failure) => return failed_json(&app, &failure),
    };
    answer.keep_fields(&parameters.fields);
    let bytes_max = app.front_end.answer_bytes_max();
    let hits_count = answer.hits.len();
    match rendered(hits_count, || written(&mut answer, bytes_max)) {
        Ok(json) if json.len() > bytes_max => {
            let too_large = SearchError::too_large(parameters.options.explain, bytes_max);
            failed_json(&app, &app.failure(too_large))
        }
        Ok(json) => {
            app.answered(Client::Json, &answer);
            timed(respond(StatusCode::OK, JSON, json), &answer.phases_us)
        }
        Err(error) => {
            let unwritten = SearchError::Unavailable {
                part: "the front-end".into(),
                reason: format!("the answer cannot be written as JSON: {error}"),
            };
            failed_json(&app, &app.failure(unwritten))
        }
    }
}

/// Answers a search as a page; without a query, the home page.
pub(super) async fn search_page(
    Extension(app): Extension<Arc<App>>,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let parameters = match params::parse(raw.as_deref(), Unknown::Ignore) {
        Ok(parameters) => parameters,
        Err(error) => return failed_page(&app, &app.failure(error), raw.as_deref()),
    };
    let query = parameters.q.as_deref().unwrap_or("");
    if query.trim().is_empty() && parameters.options.filters.is_empty() {
        let home = page::home(&app.front_end.known());
        return respond(StatusCode::OK, HTML, home);
    }
    let mut asked = parameters.clone();
    if asked.options.facets.is_empty() {
        asked.options.facets = page::default_facets(&app.front_end.known().fields);
    }
    match app.search(&asked, query).await {
        Ok((mut answer, _turn)) => {
            let bytes_max = app.front_end.answer_bytes_max();
            let too_large = SearchError::too_large(parameters.options.explain, bytes_max);
            if page::bytes_min(&answer) > bytes_max {
                return failed_page(&app, &app.failure(too_large), raw.as_deref());
            }
            let hits_count = answer.hits.len();
            let suggestions = match hits_count {
                0 if answer.total.value == 0 => app.suggestions(query, &parameters.options).await,
                _ => Vec::new(),
            };
            let addresses = app.front_end.addresses();
            let html = rendered(hits_count, || {
                page::results(&mut answer, &parameters.options, &suggestions, &addresses)
            });
            if html.len() > bytes_max {
                return failed_page(&app, &app.failure(too_large), raw.as_deref());
            }
            app.answered(Client::Page, &answer);
            timed(respond(StatusCode::OK, HTML, html), &answer.phases_us)
        }
        Err(failure) => failed_page(&app, &failure, raw.as_deref()),
    }
}

/// Writes an answer as JSON. Values are cut further where they make it too large, the longest first, so that a page does
/// not fail because of a few documents.
fn written(answer: &mut SearchAnswer, bytes_max: usize) -> serde_json::Result<String> {
    /// Limits on a value to which all are cut, one after the other, in bytes.
    const VALUE_BYTES_MAX: [usize; 4] = [8 << 10, 2 << 10, 512, 64];
    let mut json = answer.to_json()?;
    for value_bytes_max in VALUE_BYTES_MAX {
        if json.len() <= bytes_max || answer.hits.iter().all(|hit| hit.fields.is_empty()) {
            break;
        }
        for hit in &mut answer.hits {
            for name in cut_map(&mut hit.fields, value_bytes_max, usize::MAX) {
                if !hit.cut.contains(&name) {
                    hit.cut.push(name);
                }
            }
        }
        json = answer.to_json()?;
    }
    Ok(json)
}

/// Serializes an answer; a large one beside the I/O threads.
fn rendered<T>(hits_count: usize, write: impl FnOnce() -> T) -> T {
    /// Upper limit on the hits serialized on an I/O thread: about fifty microseconds.
    const HITS_FEW: usize = 20;
    match hits_count > HITS_FEW {
        true => beside_io(write),
        false => write(),
    }
}

fn timed(mut response: Response<Body>, times: &PhaseTimes) -> Response<Body> {
    if let Ok(value) = HeaderValue::from_str(&times.server_timing()) {
        response
            .headers_mut()
            .insert(HeaderName::from_static("server-timing"), value);
    }
    response
}
