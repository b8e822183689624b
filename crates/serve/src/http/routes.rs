//! Routes of the public port, and what needs no front-end: health, style sheet, script, icon.

use crate::http::app::{App, ServerState};
use crate::http::compression::compressed;
use crate::http::document::document;
use crate::http::host_names::{HostNames, known_host};
use crate::http::layers::{bounded_body, finished, one_host};
use crate::http::original::original;
use crate::http::origins::{Origins, shared_with_origins};
use crate::http::page;
use crate::http::page::assets::{FAVICON, SCRIPT, STYLE_SHEET};
use crate::http::search::{search_json, search_page, search_posted};
use crate::http::suggest::suggest;
use crate::net::response::{HTML, refusal, respond};
use axum::Extension;
use axum::Router;
use axum::body::Body;
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::{Response, StatusCode, Uri};
use axum::middleware::{from_fn, from_fn_with_state, map_response_with_state};
use axum::routing::{any, get};
use std::sync::Arc;

/// Returns the public routes of a server of one index.
pub(crate) fn router(app: Arc<App>, names: HostNames, origins: Origins) -> Router {
    let server = Arc::clone(&app.server);
    let routes = index_routes().route("/healthz", get(health));
    guarded(routes.layer(Extension(app)), &server, names, origins)
}

/// Returns the routes of an index, which each request carries as an extension.
pub(crate) fn index_routes() -> Router {
    let routes = Router::new()
        .route("/", get(search_page))
        .route("/search", get(search_json).post(search_posted))
        .route("/suggest", get(suggest))
        .route("/document", get(document))
        .route("/original/{*path}", get(original))
        .route("/reload", any(administration))
        .route("/metrics", any(administration))
        .route("/documents", any(administration))
        .route("/refresh", any(administration))
        .route("/rules", any(administration))
        .route("/delete-by-query", any(administration))
        .route("/crawl", any(administration))
        .route("/crawl/stop", any(administration));
    with_page_files(routes)
        .fallback(nothing_here)
        .method_not_allowed_fallback(only_reading)
}

/// Adds to public routes what holds for all requests: known hosts and origins, bounded bodies, the headers of security and of the end.
pub(crate) fn guarded(
    routes: Router,
    server: &Arc<ServerState>,
    names: HostNames,
    origins: Origins,
) -> Router {
    routes
        .layer(Extension(Arc::clone(server)))
        .layer(from_fn_with_state(Arc::new(origins), shared_with_origins))
        .layer(from_fn_with_state(Arc::new(names), known_host))
        .layer(from_fn(one_host))
        .layer(map_response_with_state(server.draining.clone(), finished))
        .layer(from_fn(bounded_body))
        .layer(from_fn(compressed))
}

/// Answers for a path without a page.
async fn nothing_here(uri: Uri, headers: HeaderMap) -> Response<Body> {
    if accepts_html(&headers) {
        return respond(StatusCode::NOT_FOUND, HTML, page::nothing_at(uri.path()));
    }
    refusal(
        StatusCode::NOT_FOUND,
        "nothing is here; the page is at /, the API at /search?q=WORDS",
    )
}

/// Refuses a method that no public route answers.
pub(crate) async fn only_reading() -> Response<Body> {
    refusal(
        StatusCode::METHOD_NOT_ALLOWED,
        "only GET and HEAD are answered, and POST by /search; use GET",
    )
}

/// Adds the files that pages name.
pub(crate) fn with_page_files(routes: Router) -> Router {
    routes
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
}

/// Refuses administration on the public port and names its address.
async fn administration() -> Response<Body> {
    refusal(
        StatusCode::NOT_FOUND,
        "metrics, reloads, writing and the status of a crawl are at the admin address of this server, which it prints as it starts (see --admin)",
    )
}

/// Reports whether the server takes requests.
pub(crate) async fn health(Extension(server): Extension<Arc<ServerState>>) -> Response<Body> {
    const TEXT: &str = "text/plain; charset=utf-8";
    match server.draining.has_begun() {
        true => respond(StatusCode::SERVICE_UNAVAILABLE, TEXT, "about to end\n"),
        false => plain(TEXT, "ok\n"),
    }
}

/// Returns whether a client asks for HTML by name, as browsers do.
pub(crate) fn accepts_html(headers: &HeaderMap) -> bool {
    let accept = headers.get_all(header::ACCEPT).iter();
    accept
        .into_iter()
        .any(|value| value.as_bytes().starts_with(b"text/html"))
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
