//! Health checks, which pass where other requests are refused: they show nothing but whether the server answers.

use axum::http::{Method, Request};

/// Returns whether a request asks for the health of the server.
pub(crate) fn is_health_check<B>(request: &Request<B>) -> bool {
    request.uri().path() == "/healthz" && is_reading(request.method())
}

/// Returns whether a method only reads.
pub(crate) fn is_reading(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}
