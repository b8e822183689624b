//! Routes of a server of many indexes: `/NAME/…` is the server of one index, the rest is of all of them.

use super::creation::creation;
use super::error::CatalogError;
use super::{Catalog, beside, lists};
use crate::admin;
use crate::http::app::ServerState;
use crate::http::host_names::HostNames;
use crate::http::origins::Origins;
use crate::http::page;
use crate::http::routes::{
    accepts_html, guarded, health, index_routes, only_reading, with_page_files,
};
use crate::net::health::is_reading;
use crate::net::response::{HTML, JSON, refusal, respond, retry_soon};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{Method, Response, StatusCode, Uri};
use axum::routing::{any, get, post};
use percent_encoding::percent_decode_str;
use serde_json::json;
use std::sync::Arc;
use tower::ServiceExt;

/// Upper limit on the body of a request that creates an index, in bytes.
const CREATION_BYTES_MAX: usize = 1 << 20;
/// Failures of reloads that an answer names.
const FAILED_NAMED_MAX: usize = 10;

/// Returns the public routes.
pub(crate) fn public_router(catalog: &Arc<Catalog>, names: HostNames, origins: Origins) -> Router {
    let of_index = index_routes();
    let routes = Router::new()
        .route("/", get(lists::page))
        .route("/indexes", get(lists::json));
    let routes = routes.with_state(Arc::clone(catalog));
    let of_process = Router::new()
        .route("/healthz", get(health))
        .route("/metrics", any(administration))
        .route("/reload", any(administration));
    let entered = entered(catalog, of_index, AtName::Page);
    let routes = with_page_files(routes.merge(of_process))
        .method_not_allowed_fallback(only_reading)
        .fallback_service(entered);
    guarded(routes, &catalog.server, names, origins)
}

/// Returns the administration of all indexes and of each.
pub(crate) fn admin_routes(catalog: &Arc<Catalog>) -> Router {
    let of_index = admin::index_routes();
    let routes = Router::new()
        .route("/indexes", get(lists::json))
        .route("/healthz", get(health_of_writers))
        .route("/metrics", get(metrics_text))
        .route("/reload", post(reload));
    let entered = entered(catalog, of_index, AtName::Change);
    let routes = routes.with_state(Arc::clone(catalog));
    routes.fallback_service(entered)
}

/// What a request for the name of an index alone gets.
#[derive(Clone, Copy)]
enum AtName {
    /// The address of its page.
    Page,
    /// A change of the index as a whole, or its description.
    Change,
}

/// Returns the routes that begin with the name of an index.
fn entered(catalog: &Arc<Catalog>, of_index: Router, at_name: AtName) -> Router {
    let enter = move |State(catalog): State<Arc<Catalog>>, request: Request| {
        let of_index = of_index.clone();
        async move {
            match (Path::of(request.uri()), at_name) {
                (Some(Path { rest: None, .. }), AtName::Page) if !is_reading(request.method()) => {
                    only_reading().await
                }
                (Some(Path { name, rest: None }), AtName::Page) => {
                    named(&catalog, &name, &request.into_parts().0).await
                }
                (Some(Path { name, rest: None }), AtName::Change) => {
                    change(&catalog, name, request).await
                }
                (
                    Some(Path {
                        name,
                        rest: Some(rest),
                    }),
                    _,
                ) => within(&catalog, &name, rest, of_index, request).await,
                (None, _) => unknown(request.headers(), request.uri(), &nothing()),
            }
        }
    };
    Router::new()
        .fallback(enter)
        .with_state(Arc::clone(catalog))
}

/// Path of a request to an index.
struct Path {
    name: String,
    /// The path within the index, from its slash; `None` without one.
    rest: Option<String>,
}

impl Path {
    /// Reads a path; `None` where it names no index.
    fn of(uri: &Uri) -> Option<Path> {
        let path = uri.path().strip_prefix('/')?;
        let (name, rest) = match path.find('/') {
            Some(at) => (&path[..at], Some(path[at..].to_owned())),
            None => (path, None),
        };
        let name = percent_decode_str(name).decode_utf8().ok()?;
        (!name.is_empty()).then(|| Path {
            name: name.into_owned(),
            rest,
        })
    }
}

/// Answers a request within an index: `rest` is its path there.
async fn within(
    catalog: &Arc<Catalog>,
    name: &str,
    rest: String,
    of_index: Router,
    mut request: Request,
) -> Response<Body> {
    let app = match catalog.get(name).await {
        Ok(app) => app,
        Err(error) => return failed(request.headers(), request.uri(), &error),
    };
    let target = match request.uri().query() {
        Some(query) => format!("{rest}?{query}"),
        None => rest,
    };
    // A part of a path that was read is one.
    let Ok(target) = PathAndQuery::try_from(target) else {
        return unknown(request.headers(), request.uri(), &nothing());
    };
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = Some(target);
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
    }
    request.extensions_mut().insert(app);
    match of_index.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

/// Answers for an index without a path: its page has a slash more.
async fn named(catalog: &Arc<Catalog>, name: &str, parts: &Parts) -> Response<Body> {
    let uri = &parts.uri;
    if let Err(error) = catalog.get(name).await {
        return failed(&parts.headers, uri, &error);
    }
    // Relative, for the path that a proxy may have put before it.
    let last = uri.path().rsplit('/').next().unwrap_or_default();
    let target = match uri.query() {
        Some(query) => format!("{last}/?{query}"),
        None => format!("{last}/"),
    };
    let mut response = respond(StatusCode::PERMANENT_REDIRECT, HTML, "");
    match HeaderValue::try_from(target) {
        Ok(target) => {
            response.headers_mut().insert(header::LOCATION, target);
            response
        }
        Err(_) => unknown(&parts.headers, uri, &nothing()),
    }
}

/// Creates, drops or describes an index.
async fn change(catalog: &Arc<Catalog>, name: String, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let of = Arc::clone(catalog);
    let done = match parts.method {
        Method::GET | Method::HEAD => match catalog.get(&name).await {
            Ok(app) => Ok(respond(
                StatusCode::OK,
                JSON,
                lists::described(&name, &app).to_string(),
            )),
            Err(error) => Err(error),
        },
        Method::PUT => {
            let Ok(body) = to_bytes(body, CREATION_BYTES_MAX).await else {
                let reason = "the body of a creation has at most 1 MiB";
                return refusal(StatusCode::PAYLOAD_TOO_LARGE, reason);
            };
            let options = match creation(&body) {
                Ok(options) => options,
                Err(reason) => return refusal(StatusCode::BAD_REQUEST, &reason),
            };
            let created = beside(move || {
                let app = of.create(&name, options)?;
                Ok(lists::described(&name, &app))
            });
            let answered = created.await;
            answered.map(|index| respond(StatusCode::CREATED, JSON, index.to_string()))
        }
        Method::DELETE => {
            let dropped = beside(move || {
                of.drop_index(&name)?;
                Ok(json!({ "dropped": name }))
            });
            let answered = dropped.await;
            answered.map(|dropped| respond(StatusCode::OK, JSON, dropped.to_string()))
        }
        _ => {
            return refusal(
                StatusCode::METHOD_NOT_ALLOWED,
                "an index is created by PUT /NAME, dropped by DELETE /NAME and described by GET /NAME",
            );
        }
    };
    done.unwrap_or_else(|error| failed(&parts.headers, &parts.uri, &error))
}

/// Answers a request that failed for the index as a whole.
fn failed(headers: &HeaderMap, uri: &Uri, error: &CatalogError) -> Response<Body> {
    let reason = error.to_string();
    let status = match error {
        CatalogError::Unknown { .. } => return unknown(headers, uri, &reason),
        CatalogError::BadName { .. } => StatusCode::BAD_REQUEST,
        CatalogError::ReadOnly | CatalogError::NotHere => StatusCode::NOT_FOUND,
        CatalogError::Unavailable { .. } => {
            return retry_soon(refusal(StatusCode::SERVICE_UNAVAILABLE, &reason));
        }
        CatalogError::Exists { .. } | CatalogError::HoldsMore { .. } => StatusCode::CONFLICT,
        CatalogError::Index { source } => {
            use vfs::StorageError::Locked;
            if let index::IndexError::Storage(Locked { .. }) = source {
                let reason = "another process writes to the index; try again when it has ended";
                return retry_soon(refusal(StatusCode::CONFLICT, reason));
            }
            if let index::IndexError::Mismatch { reason, .. } = source {
                return refusal(StatusCode::BAD_REQUEST, reason);
            }
            StatusCode::INTERNAL_SERVER_ERROR
        }
        CatalogError::Serve { .. } | CatalogError::GivenUp => StatusCode::INTERNAL_SERVER_ERROR,
    };
    if status == StatusCode::INTERNAL_SERVER_ERROR {
        // Paths are for the log.
        tracing::error!(path = uri.path(), %error, "the index cannot be served");
        let reason = "the index cannot be opened; the log of this server says why";
        return refusal(status, reason);
    }
    refusal(status, &reason)
}

/// Answers for what is not here.
fn unknown(headers: &HeaderMap, uri: &Uri, reason: &str) -> Response<Body> {
    match accepts_html(headers) {
        true => respond(StatusCode::NOT_FOUND, HTML, page::nothing_at(uri.path())),
        false => refusal(StatusCode::NOT_FOUND, reason),
    }
}

fn nothing() -> String {
    "nothing is here; GET /indexes lists the indexes, /NAME/search?q=WORDS searches one".to_owned()
}

/// Refuses administration on the public port and names its address.
async fn administration() -> Response<Body> {
    refusal(
        StatusCode::NOT_FOUND,
        "metrics, reloads, writing, creating and dropping are at the admin address of this server, which it prints as it \
         starts (see --admin)",
    )
}

/// Reports whether the server takes requests, and whether all writers write that should.
async fn health_of_writers(
    State(catalog): State<Arc<Catalog>>,
    axum::Extension(server): axum::Extension<Arc<ServerState>>,
) -> Response<Body> {
    let failures = catalog.failing_writers();
    if failures.is_empty() || server.draining.has_begun() {
        return health(axum::Extension(server)).await;
    }
    let (name, reason) = &failures[0];
    let text = match failures.len() {
        1 => format!("ok, but nothing is written to {name}: {reason}\n"),
        count => format!("ok, but nothing is written to {count} indexes, as {name}: {reason}\n"),
    };
    respond(StatusCode::OK, "text/plain; charset=utf-8", text)
}

async fn metrics_text(State(catalog): State<Arc<Catalog>>) -> Response<Body> {
    admin::exposed(move || catalog.render()).await
}

/// Makes every open index search its newest generation.
async fn reload(State(catalog): State<Arc<Catalog>>) -> Response<Body> {
    let reloaded = catalog.reload().await;
    let failed = reloaded.iter().filter_map(|(app, generation)| {
        let error = generation.as_ref().err()?;
        let index = app.front_end.name().unwrap_or_default();
        Some(json!({ "index": index, "reason": error.to_string() }))
    });
    let failed: Vec<_> = failed.collect();
    let count = reloaded.len() - failed.len();
    let named = &failed[..failed.len().min(FAILED_NAMED_MAX)];
    let status = match failed.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let answer = json!({ "reloaded": count, "failed_count": failed.len(), "failed": named });
    respond(status, JSON, answer.to_string())
}
