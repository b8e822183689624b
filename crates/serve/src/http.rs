//! The HTTP side: routes, headers, and errors as clients see them.
//!
//! A search runs in place on the thread that read its request, while another thread takes over the
//! runtime's work: handing it to a pool and back would cost two wake-ups a query.
use crate::metrics::{Client, Metrics};
use crate::page::{self, STYLE_SHEET};
use crate::parameters::{self, SearchParameters, Unknown};
use crate::{FrontEnd, SearchError};
use axum::Router;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{Response, StatusCode};
use axum::middleware::map_response;
use axum::routing::get;
use std::sync::Arc;
use tokio::task::block_in_place;
use wire::{PhaseTimes, SearchAnswer};

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const FAVICON: &str = include_str!("../assets/favicon.svg");

/// Everything shown comes from documents, and documents come from anywhere: nothing may be loaded
/// or run but what this server serves itself, and no script at all.
const SECURITY_HEADERS: [(HeaderName, HeaderValue); 3] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
             base-uri 'none'; frame-ancestors 'none'",
        ),
    ),
    (
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    ),
    (
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    ),
];

/// What all requests share.
pub(crate) struct App {
    pub(crate) front_end: FrontEnd,
    pub(crate) metrics: Metrics,
}

impl App {
    pub(crate) fn new(front_end: FrontEnd, partitions: usize) -> App {
        let index = front_end.index();
        let metrics = Metrics::new(
            index.statistics().documents_count(),
            index.chunks_count(),
            partitions,
        );
        App { front_end, metrics }
    }

    fn search(
        &self,
        parameters: &SearchParameters,
        query: &str,
    ) -> Result<SearchAnswer, SearchError> {
        block_in_place(|| self.front_end.search(query, &parameters.options))
    }
}

/// All routes over one application.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(search_page))
        .route("/search", get(search_json))
        .route("/document", get(document_page))
        .route(
            "/healthz",
            get(async || plain("text/plain; charset=utf-8", "ok\n")),
        )
        .route("/metrics", get(metrics_text))
        .route(
            "/style.css",
            get(async || lasting("text/css; charset=utf-8", STYLE_SHEET.as_str())),
        )
        .route(
            "/favicon.svg",
            get(async || lasting("image/svg+xml", FAVICON)),
        )
        .route(
            "/favicon.ico",
            get(async || lasting("image/svg+xml", FAVICON)),
        )
        .fallback(async || {
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
        .layer(map_response(async |mut response: Response<Body>| {
            for (name, value) in SECURITY_HEADERS {
                response.headers_mut().insert(name, value);
            }
            response
        }))
        .with_state(app)
}

async fn search_json(State(app): State<Arc<App>>, RawQuery(raw): RawQuery) -> Response<Body> {
    let answered = parameters::parse(raw.as_deref(), Unknown::Refuse).and_then(|parameters| {
        let query = parameters.q.as_deref().ok_or(SearchError::BadRequest {
            parameter: "q",
            reason: "the query is missing; ask for /search?q=WORDS".into(),
        })?;
        app.search(&parameters, query)
    });
    let mut answer = match answered {
        Ok(answer) => answer,
        Err(error) => return failed_json(&app, &error),
    };
    match answer.to_json() {
        Ok(json) => {
            app.metrics.answered(Client::Json, &answer.phases_us);
            timed(respond(StatusCode::OK, JSON, json), &answer.phases_us)
        }
        Err(error) => failed_json(
            &app,
            &SearchError::Unavailable {
                part: "the front-end".into(),
                reason: format!("the answer cannot be written as JSON: {error}"),
            },
        ),
    }
}

async fn search_page(State(app): State<Arc<App>>, RawQuery(raw): RawQuery) -> Response<Body> {
    let index = app.front_end.index();
    let parameters = match parameters::parse(raw.as_deref(), Unknown::Ignore) {
        Ok(parameters) => parameters,
        Err(error) => return failed_page(&app, &error, raw.as_deref()),
    };
    let query = parameters.q.as_deref().unwrap_or("");
    if query.trim().is_empty() {
        let home = page::home(index.statistics().documents_count(), index.chunks_count());
        return respond(StatusCode::OK, HTML, home);
    }
    match app.search(&parameters, query) {
        Ok(mut answer) => {
            let html = page::results(&mut answer, &parameters.options);
            app.metrics.answered(Client::Page, &answer.phases_us);
            timed(respond(StatusCode::OK, HTML, html), &answer.phases_us)
        }
        Err(error) => failed_page(&app, &error, raw.as_deref()),
    }
}

async fn document_page(State(app): State<Arc<App>>, RawQuery(raw): RawQuery) -> Response<Body> {
    let Some(url) = parameters::single(raw.as_deref(), "url") else {
        let error = SearchError::BadRequest {
            parameter: "url",
            reason: "the address of the document is missing; ask for /document?url=ADDRESS".into(),
        };
        return failed_page(&app, &error, None);
    };
    match block_in_place(|| app.front_end.document(&url)) {
        Ok(Some(document)) => respond(StatusCode::OK, HTML, page::document(&document)),
        Ok(None) if !app.front_end.has_texts() => {
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
        Err(error) => failed_page(&app, &SearchError::Index(error), None),
    }
}

async fn metrics_text(State(app): State<Arc<App>>) -> Response<Body> {
    let text = block_in_place(|| app.metrics.render());
    respond(
        StatusCode::OK,
        "text/plain; version=0.0.4; charset=utf-8",
        text,
    )
}

fn failed_json(app: &App, error: &SearchError) -> Response<Body> {
    app.metrics.failed(error);
    retriable(error, refusal(status(error), &error.to_string()))
}

fn failed_page(app: &App, error: &SearchError, raw: Option<&str>) -> Response<Body> {
    app.metrics.failed(error);
    let heading = match error {
        SearchError::BadRequest { .. } => "That cannot be searched for",
        SearchError::Overloaded { .. } => "Too many searches at once",
        SearchError::Index(_) | SearchError::Unavailable { .. } => "No answer",
    };
    let query = parameters::single(raw, "q").unwrap_or_default();
    let html = page::refusal(heading, &error.to_string(), &query);
    retriable(error, respond(status(error), HTML, html))
}

fn status(error: &SearchError) -> StatusCode {
    match error {
        SearchError::BadRequest { .. } => StatusCode::BAD_REQUEST,
        SearchError::Overloaded { .. } => StatusCode::TOO_MANY_REQUESTS,
        SearchError::Unavailable { .. } => StatusCode::SERVICE_UNAVAILABLE,
        SearchError::Index(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The JSON of an error: what went wrong and what to do about it.
fn refusal(status: StatusCode, reason: &str) -> Response<Body> {
    let json = serde_json::json!({ "error": { "reason": reason } });
    respond(status, JSON, json.to_string())
}

fn retriable(error: &SearchError, mut response: Response<Body>) -> Response<Body> {
    if matches!(error, SearchError::Overloaded { .. }) {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
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

/// A part of the page that stays: the page names the style sheet by its contents.
fn lasting(content_type: &'static str, body: &'static str) -> Response<Body> {
    let mut response = plain(content_type, body);
    response.headers_mut().insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=86400"),
    );
    response
}

fn respond(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Body>,
) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
