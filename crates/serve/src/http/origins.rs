//! Pages of other sites that may read answers: cross-origin resource sharing (the Fetch standard, 3.3).
//!
//! Without an origin that the operator names, a browser lets pages of this server alone read its answers. A page that asks by
//! POST with JSON sends a preflight first, an OPTIONS request, which is answered here.

use crate::net::response::refusal;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, Response, StatusCode};
use axum::middleware::Next;
use std::sync::Arc;
use url::Url;

/// Time for which a browser keeps the answer to a preflight, in seconds: the longest that Chromium takes.
const PREFLIGHT_AGE_S: &str = "7200";

/// Origin that may read answers: a scheme, a host and a port, as a browser writes them, or `*` for any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(String);

/// Parses an origin that the operator gives.
///
/// # Errors
/// A text that no browser sends as `Origin`.
pub fn parse_origin(text: &str) -> Result<Origin, String> {
    if text == "*" {
        return Ok(Origin(text.to_owned()));
    }
    let url = Url::parse(text).ok().filter(|url| {
        let is_web = matches!(url.scheme(), "http" | "https");
        let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        is_web && is_bare && url.username().is_empty() && url.password().is_none()
    });
    match url {
        Some(url) => Ok(Origin(url.origin().ascii_serialization())),
        None => Err(format!(
            "{text:?} is no origin; write the start of the page's address, as https://www.example.org, without a path, or * for any"
        )),
    }
}

/// Origins that may read answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Origins(Vec<Origin>);

impl Origins {
    pub(crate) fn new(origins: &[Origin]) -> Origins {
        Origins(origins.to_vec())
    }

    fn are_any(&self) -> bool {
        self.0.iter().any(|Origin(origin)| origin == "*")
    }

    /// Returns what answers say to a browser of the origin of a request; `None` where its pages may not read the answer.
    fn told(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let asked = headers.get(header::ORIGIN)?;
        if self.are_any() {
            return Some(HeaderValue::from_static("*"));
        }
        let is_one = self
            .0
            .iter()
            .any(|Origin(origin)| origin.as_bytes() == asked.as_bytes());
        is_one.then(|| asked.clone())
    }
}

/// Answers preflights, and tells browsers which pages may read an answer.
pub(crate) async fn shared_with_origins(
    State(origins): State<Arc<Origins>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let told = origins.told(request.headers());
    let is_preflight = request.method() == Method::OPTIONS
        && request
            .headers()
            .contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = match (is_preflight, &told) {
        (false, _) => next.run(request).await,
        (true, Some(_)) => preflight(),
        (true, None) => refusal(
            StatusCode::FORBIDDEN,
            "pages of this origin may not read answers; start the server with --allow-origin ORIGIN, as https://www.example.org",
        ),
    };
    let headers = response.headers_mut();
    if !origins.0.is_empty() && !origins.are_any() {
        headers.append(header::VARY, HeaderValue::from_static("origin"));
    }
    if let Some(told) = told {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, told);
        headers.insert(
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("retry-after, server-timing"),
        );
    }
    response
}

fn preflight() -> Response<Body> {
    const ALLOWED: [(HeaderName, &str); 3] = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, POST"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "content-type"),
        (header::ACCESS_CONTROL_MAX_AGE, PREFLIGHT_AGE_S),
    ];
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    for (name, value) in ALLOWED {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_those_that_browsers_send() {
        for (text, origin) in [
            ("https://www.Example.org", "https://www.example.org"),
            ("https://www.example.org:443/", "https://www.example.org"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("*", "*"),
        ] {
            assert_eq!(parse_origin(text), Ok(Origin(origin.into())), "{text}");
        }
        for text in [
            "",
            "www.example.org",
            "https://a.example/docs",
            "null",
            "file:///srv",
            "https://a@b.example",
        ] {
            assert!(
                parse_origin(text).unwrap_err().contains("is no origin"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_page_of_another_origin_is_told_nothing() {
        let of = |origin: &'static str| {
            HeaderMap::from_iter([(header::ORIGIN, HeaderValue::from_static(origin))])
        };
        let one = Origins::new(&[parse_origin("https://a.example").unwrap()]);
        assert_eq!(
            one.told(&of("https://a.example")).unwrap(),
            "https://a.example"
        );
        for other in [
            "https://b.example",
            "http://a.example",
            "https://a.example:8443",
            "null",
        ] {
            assert_eq!(one.told(&of(other)), None);
        }
        assert_eq!(one.told(&HeaderMap::new()), None);
        let any = Origins::new(&[parse_origin("*").unwrap()]);
        assert_eq!(any.told(&of("https://b.example")).unwrap(), "*");
    }
}
