//! Middleware of all routes: checks of host and body, security headers.

use crate::api::draining::Draining;
use crate::http::response::refusal;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::uri::Authority;
use axum::http::{Response, StatusCode, Version};
use axum::middleware::Next;

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

/// What every response gets: the security headers, and at the end of the server a word that the
/// connection ends too.
pub(crate) async fn finished(
    State(draining): State<Draining>,
    mut response: Response<Body>,
) -> Response<Body> {
    let headers = response.headers_mut();
    for (name, value) in SECURITY_HEADERS {
        headers.insert(name, value);
    }
    if draining.has_begun() {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Refuses a request of HTTP/1.1 that does not name exactly one host (RFC 9112, 3.2): what stands between may have read
/// another one than this server would.
pub(crate) async fn one_host(request: Request, next: Next) -> Response<Body> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let is_valid = match (hosts.next(), hosts.next()) {
        (None, _) => request.version() < Version::HTTP_11,
        (Some(host), None) => {
            let host = host.as_bytes();
            host.is_empty() || !host.contains(&b'@') && Authority::try_from(host).is_ok()
        }
        (Some(_), Some(_)) => false,
    };
    match is_valid {
        true => next.run(request).await,
        false => refusal(
            StatusCode::BAD_REQUEST,
            "a request names exactly one host, in one Host header",
        ),
    }
}

/// No request here needs a body, so none is waited for.
pub(super) async fn bounded_body(request: Request, next: Next) -> Response<Body> {
    use axum::body::HttpBody;
    /// Clients that send a little all the same are served.
    const BODY_BYTES_MAX: u64 = 64 * 1024;
    if request.body().size_hint().lower() > BODY_BYTES_MAX {
        return refusal(
            StatusCode::PAYLOAD_TOO_LARGE,
            "no request needs a body here; put the query into the address, as /search?q=WORDS",
        );
    }
    next.run(request).await
}
