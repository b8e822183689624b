//! Responses, and refusals in JSON.

use axum::body::Body;
use axum::http::header::{self, HeaderValue};
use axum::http::{Response, StatusCode};

/// Media type of JSON.
pub(crate) const JSON: &str = "application/json";

/// Media type of a page.
pub(crate) const HTML: &str = "text/html; charset=utf-8";

/// Returns a response of `status` with `body`, which is of `content_type`.
pub(crate) fn respond(
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

/// Returns a refusal: `reason` in JSON.
pub(crate) fn refusal(status: StatusCode, reason: &str) -> Response<Body> {
    let json = serde_json::json!({ "error": { "reason": reason } });
    respond(status, JSON, json.to_string())
}

/// Adds `Retry-After: 1` to a refusal of which the cause may be gone in a second.
pub(crate) fn retry_soon(mut response: Response<Body>) -> Response<Body> {
    let second = HeaderValue::from_static("1");
    response.headers_mut().insert(header::RETRY_AFTER, second);
    response
}
