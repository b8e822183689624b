//! HTTP routes, headers, and errors as clients see them.
//!
//! A request is a task: while servers search, its thread reads other requests. If a client goes away,
//! its task is dropped, which cancels its calls to servers.
mod page;
mod params;

pub(crate) mod layers;
pub(crate) mod response;

use crate::api::draining::Draining;
use crate::api::error::SearchError;
use crate::api::options::SearchOptions;
use crate::front_end::{FrontEnd, told};
use crate::http::page::assets::{FAVICON, SCRIPT, STYLE_SHEET};
use crate::http::params::{SearchParameters, Unknown};
use crate::http::response::{JSON, refusal, respond, retry_soon};
use crate::metrics::front_end::{Client, Metrics};
use crate::net::blocking::beside_io;
use crate::net::turns::{Turn, Turns};
use crate::snapshot::reloads::{Reloaded, Reloads};
use axum::Router;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Response, StatusCode};
use axum::middleware::{from_fn, map_response_with_state};
use axum::routing::{any, get};
use ingest::LiveWriter;
use layers::bounded_body;
use layers::{finished, one_host};
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use tokio::runtime::Handle;
use wire::{PhaseTimes, SearchAnswer};

const HTML: &str = "text/html; charset=utf-8";

/// State shared by all requests.
pub(crate) struct App {
    pub(crate) front_end: FrontEnd,
    pub(crate) metrics: Metrics,
    pub(crate) draining: Draining,
    /// Writer of the index, where this server writes.
    pub(crate) writer: OnceLock<Arc<LiveWriter>>,
    reloads: Arc<Reloads<SearchError>>,
    turns: Turns,
}

impl App {
    pub(crate) fn new(front_end: FrontEnd, draining: Draining) -> App {
        let metrics = Metrics::new(&front_end);
        let cores_count = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        App {
            front_end,
            metrics,
            draining,
            writer: OnceLock::new(),
            reloads: Arc::default(),
            turns: Turns::new(cores_count),
        }
    }

    /// Makes every server open the newest generation, off the threads that read requests.
    pub(crate) async fn reload(self: &Arc<Self>) -> Reloaded<SearchError> {
        let (app, runtime) = (Arc::clone(self), Handle::current());
        let lost = || SearchError::Unavailable {
            part: "the front-end".into(),
            reason: "the reload was given up; see the server's log".into(),
        };
        let reload = move || runtime.block_on(app.front_end.reload());
        self.reloads.run(reload, lost).await
    }

    /// Returns other searches that find something.
    async fn suggestions(&self, query: &str, options: &SearchOptions) -> Vec<page::Suggestion> {
        let mut suggestions = Vec::new();
        for one in page::suggestions(query, options) {
            let probe = SearchOptions {
                k: 0,
                suggest: false,
                explain: false,
                trace: false,
                ..one.options.clone()
            };
            let found = self.front_end.search(&one.query, &probe).await;
            if found.is_ok_and(|found| found.total.value > 0) {
                suggestions.push(one);
            }
        }
        suggestions
    }

    /// Answers a query after the wait for its turn. The turn ends when the answer is rendered.
    async fn search(
        &self,
        parameters: &SearchParameters,
        query: &str,
    ) -> Result<(SearchAnswer, Option<Turn<'_>>), Failure> {
        let (mut options, arrived) = (parameters.options.clone(), Instant::now());
        let timeout = self.front_end.timeout_of(&options);
        let turn = self.turns.take(&options, timeout).await;
        let turn = turn.map_err(|error| self.failure(error))?;
        let waited = arrived.elapsed();
        if turn.is_some() {
            options.timeout = Some(timeout.saturating_sub(waited));
        }
        let (number, answered) = self.front_end.search_told(query, &options).await;
        let mut answer = answered.map_err(|error| Failure { error, number })?;
        if turn.is_some() {
            answer.phases_us.total += waited.as_micros() as u64;
        }
        told::without_paths(&mut answer.degraded, number);
        Ok((answer, turn))
    }

    /// Returns the failure of a request that never became a query.
    fn failure(&self, error: SearchError) -> Failure {
        Failure {
            number: self.front_end.failed(&error),
            error,
        }
    }
}

/// Request without an answer, with its number in the log.
struct Failure {
    error: SearchError,
    number: u64,
}

/// Returns the routes of an application.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(search_page))
        .route("/search", get(search_json))
        .route("/document", get(document_page))
        .route("/healthz", get(health))
        .route("/reload", any(administration))
        .route("/metrics", any(administration))
        .route("/documents", any(administration))
        .route("/refresh", any(administration))
        .route("/delete-by-query", any(administration))
        .route(
            "/style.css",
            get(async || lasting("text/css; charset=utf-8", STYLE_SHEET.as_str())),
        )
        .route(
            "/page.js",
            get(async || lasting("text/javascript; charset=utf-8", SCRIPT)),
        )
        .route(
            "/favicon.svg",
            get(async || lasting("image/svg+xml", FAVICON)),
        )
        .route(
            "/favicon.ico",
            get(async || lasting("image/svg+xml", FAVICON)),
        )
        .fallback(async |headers: HeaderMap| {
            if accepts_html(&headers) {
                let html =
                    page::refusal("Nothing is here", "There is no page at this address.", "");
                return respond(StatusCode::NOT_FOUND, HTML, html);
            }
            refusal(
                StatusCode::NOT_FOUND,
                "nothing is here; the page is at /, the API at /search?q=WORDS",
            )
        })
        .method_not_allowed_fallback(async || {
            refusal(
                StatusCode::METHOD_NOT_ALLOWED,
                "only GET and HEAD are answered; use GET",
            )
        })
        .layer(from_fn(one_host))
        .layer(map_response_with_state(app.draining.clone(), finished))
        .layer(from_fn(bounded_body))
        .with_state(app)
}

/// Refuses administration on the public port and names its address.
async fn administration() -> Response<Body> {
    refusal(
        StatusCode::NOT_FOUND,
        "metrics, reloads and writing are at the admin address of this server, which it prints as it starts (see --admin)",
    )
}

pub(crate) async fn health(State(app): State<Arc<App>>) -> Response<Body> {
    const TEXT: &str = "text/plain; charset=utf-8";
    match app.draining.has_begun() {
        true => respond(StatusCode::SERVICE_UNAVAILABLE, TEXT, "about to end\n"),
        false => plain(TEXT, "ok\n"),
    }
}

async fn search_json(State(app): State<Arc<App>>, RawQuery(raw): RawQuery) -> Response<Body> {
    let parameters = match params::parse(raw.as_deref(), Unknown::Refuse) {
        Ok(parameters) => parameters,
        Err(error) => return failed_json(&app, &app.failure(error)),
    };
    let Some(query) = parameters.q.as_deref() else {
        let missing = SearchError::BadRequest {
            parameter: "q",
            reason: "the query is missing; ask for /search?q=WORDS".into(),
        };
        return failed_json(&app, &app.failure(missing));
    };
    let (mut answer, _turn) = match app.search(&parameters, query).await {
        Ok(answered) => answered,
        Err(failure) => return failed_json(&app, &failure),
    };
    answer.keep_fields(&parameters.fields);
    let bytes_max = app.front_end.answer_bytes_max();
    let hits_count = answer.hits.len();
    match rendered(hits_count, || answer.to_json()) {
        Ok(json) if json.len() > bytes_max => {
            let too_large = SearchError::too_large(parameters.options.explain, bytes_max);
            failed_json(&app, &app.failure(too_large))
        }
        Ok(json) => {
            app.metrics.answered(Client::Json, &answer);
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

async fn search_page(State(app): State<Arc<App>>, RawQuery(raw): RawQuery) -> Response<Body> {
    let parameters = match params::parse(raw.as_deref(), Unknown::Ignore) {
        Ok(parameters) => parameters,
        Err(error) => return failed_page(&app, &app.failure(error), raw.as_deref()),
    };
    let query = parameters.q.as_deref().unwrap_or("");
    if query.trim().is_empty() && parameters.options.filters.is_empty() {
        let known = app.front_end.known();
        let home = page::home(known.documents_count, known.chunks_count);
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
            let html = rendered(hits_count, || {
                page::results(&mut answer, &parameters.options, &suggestions)
            });
            if html.len() > bytes_max {
                return failed_page(&app, &app.failure(too_large), raw.as_deref());
            }
            app.metrics.answered(Client::Page, &answer);
            timed(respond(StatusCode::OK, HTML, html), &answer.phases_us)
        }
        Err(failure) => failed_page(&app, &failure, raw.as_deref()),
    }
}

/// Whether a client asks for HTML by name, as browsers do.
fn accepts_html(headers: &HeaderMap) -> bool {
    let accept = headers.get_all(header::ACCEPT).iter();
    accept
        .into_iter()
        .any(|value| value.as_bytes().starts_with(b"text/html"))
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

async fn document_page(State(app): State<Arc<App>>, RawQuery(raw): RawQuery) -> Response<Body> {
    let Some(url) = params::single(raw.as_deref(), "url") else {
        let error = SearchError::BadRequest {
            parameter: "url",
            reason: "the address of the document is missing; ask for /document?url=ADDRESS".into(),
        };
        return failed_page(&app, &app.failure(error), None);
    };
    match app.front_end.document(&url).await {
        Ok(Some(document)) => respond(StatusCode::OK, HTML, page::document(&document)),
        Ok(None) if !app.front_end.known().has_texts => {
            let html = page::refusal(
                "No texts here",
                "This index finds documents, but does not keep their texts: it was built with --texts none.",
                "",
            );
            respond(StatusCode::NOT_FOUND, HTML, html)
        }
        Ok(None) => {
            let html = page::refusal(
                "Not in the index",
                &format!(
                    "There is no document at {url} here. It may have been there before the index was last built."
                ),
                "",
            );
            respond(StatusCode::NOT_FOUND, HTML, html)
        }
        Err(error) => failed_page(&app, &app.failure(error), None),
    }
}

/// Records a request without an answer. A request that was not understood never became a query with a
/// number.
fn failed(app: &App, error: &SearchError) {
    app.metrics.failed(error);
    if let SearchError::BadRequest { parameter, .. } = error {
        tracing::debug!(%parameter, "refused: not understood");
    }
}

fn failed_json(app: &App, failure: &Failure) -> Response<Body> {
    let Failure { error, number } = failure;
    failed(app, error);
    retriable(
        error,
        refusal(status(error), &told::message(error, *number)),
    )
}

fn failed_page(app: &App, failure: &Failure, raw: Option<&str>) -> Response<Body> {
    let Failure { error, number } = failure;
    failed(app, error);
    let heading = match error {
        SearchError::BadRequest { .. } => "That cannot be searched for",
        SearchError::Overloaded { .. } => "Too many searches at once",
        SearchError::TimedOut { .. } => "No answer in time",
        SearchError::Index(_)
        | SearchError::Damaged { .. }
        | SearchError::Partial { .. }
        | SearchError::GenerationGone { .. }
        | SearchError::Unavailable { .. } => "No answer",
    };
    let query = params::single(raw, "q").unwrap_or_default();
    let html = page::refusal(heading, &told::message(error, *number), &query);
    retriable(error, respond(status(error), HTML, html))
}

pub(crate) fn status(error: &SearchError) -> StatusCode {
    match error {
        SearchError::BadRequest { .. } => StatusCode::BAD_REQUEST,
        SearchError::Overloaded { .. } => StatusCode::TOO_MANY_REQUESTS,
        SearchError::TimedOut { .. }
        | SearchError::Partial {
            timed_out: true, ..
        } => StatusCode::GATEWAY_TIMEOUT,
        SearchError::GenerationGone { .. }
        | SearchError::Unavailable { .. }
        | SearchError::Partial { .. } => StatusCode::SERVICE_UNAVAILABLE,
        SearchError::Index(_) | SearchError::Damaged { .. } => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn retriable(error: &SearchError, response: Response<Body>) -> Response<Body> {
    match error {
        SearchError::Overloaded { .. } => retry_soon(response),
        _ => response,
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

fn plain(content_type: &'static str, body: &'static str) -> Response<Body> {
    respond(StatusCode::OK, content_type, body)
}

/// Returns a cacheable resource of the page: the page names the style sheet by its contents.
fn lasting(content_type: &'static str, body: &'static str) -> Response<Body> {
    let mut response = plain(content_type, body);
    response.headers_mut().insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=86400"),
    );
    response
}
