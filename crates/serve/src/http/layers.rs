//! Middleware of all routes: checks of host and body, security headers.
//!
//! Not tower-http: its limit of bodies answers in plain text without a remedy, each of its three layers of headers is
//! as long as the loop here, and its compression hides the length of an answer from the limit on unread answers
//! (`net/listener/output.rs`).

use crate::api::draining::Draining;
use crate::http::posted::BODY_BYTES_MAX;
use crate::net::response::refusal;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::uri::Authority;
use axum::http::{Response, StatusCode, Version};
use axum::middleware::Next;

/// Security headers. All content comes from untrusted documents, so pages may load only resources of
/// this server, and run no script but the one file of it.
const SECURITY_HEADERS: [(HeaderName, HeaderValue); 3] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
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

/// Adds the security headers to every response and, at the end of the server, the announcement that the
/// connection ends too.
pub(crate) async fn finished(
    State(draining): State<Draining>,
    mut response: Response<Body>,
) -> Response<Body> {
    let headers = response.headers_mut();
    for (name, value) in SECURITY_HEADERS {
        // Files of documents have a stricter policy.
        headers.entry(name).or_insert(value);
    }
    if draining.has_begun() {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Refuses a request of HTTP/1.1 that does not name exactly one host (RFC 9112, 3.2): a proxy may have
/// read another host than this server would.
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

/// Limits the body of a request; only a search by POST needs one, a short one.
pub(super) async fn bounded_body(request: Request, next: Next) -> Response<Body> {
    use axum::body::HttpBody;
    if request.body().size_hint().lower() > BODY_BYTES_MAX as u64 {
        return refusal(
            StatusCode::PAYLOAD_TOO_LARGE,
            "no request needs so long a body here; post a search of 64 KiB at most, or put it into the address, as \
             /search?q=WORDS",
        );
    }
    next.run(request).await
}
