//! Request heads, and what response heads say: outcome, version, redirects.

use bytes::Bytes;
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Request, Response, StatusCode, Version};
use url::Url;

use super::connection::Key;
use super::error::FetchError;
use super::fetched::{HttpVersion, Outcome};
use super::options::{FetchRequest, OriginHeaders};

/// Returns the message of a request, with the headers of its origin; `None` for a URL that no message can carry.
pub(super) fn message(
    request: &FetchRequest<'_>,
    is_http2: bool,
    user_agent: &HeaderValue,
    headers: &[OriginHeaders],
) -> Option<Request<Empty<Bytes>>> {
    let url = request.url;
    let authority = url.authority().rsplit('@').next().unwrap_or_default();
    let query = url
        .query()
        .map(|query| format!("?{query}"))
        .unwrap_or_default();
    let path = url.path();
    let mut message = Request::builder().method("GET");
    message = match is_http2 {
        true => message
            .uri(format!("{}://{authority}{path}{query}", url.scheme()))
            .version(Version::HTTP_2),
        false => message
            .uri(format!("{path}{query}"))
            .header(header::HOST, authority),
    };
    message = message
        .header(header::USER_AGENT, user_agent)
        .header(
            header::ACCEPT,
            "text/html,application/xhtml+xml,application/xml;q=0.9,text/plain;q=0.8,*/*;q=0.1",
        )
        .header(header::ACCEPT_ENCODING, "gzip, br, zstd");
    // A validator that no header can carry makes the request unconditional.
    if let Some(etag) = request
        .etag
        .and_then(|etag| HeaderValue::from_str(etag).ok())
    {
        message = message.header(header::IF_NONE_MATCH, etag);
    }
    if let Some(date) = request
        .last_modified
        .and_then(|date| HeaderValue::from_str(date).ok())
    {
        message = message.header(header::IF_MODIFIED_SINCE, date);
    }
    let mut message = message.body(Empty::new()).ok()?;
    let origin = url.origin();
    for group in headers
        .iter()
        .filter(|group| group.origin.origin() == origin)
    {
        for (name, value) in &group.headers {
            message.headers_mut().insert(name, value.clone());
        }
    }
    Some(message)
}

/// Returns the outcome that the head of a response states.
pub(super) fn outcome(
    request: &FetchRequest<'_>,
    key: &Key,
    response: &Response<Incoming>,
) -> Result<Outcome, FetchError> {
    let headers = response.headers();
    match response.status() {
        StatusCode::NOT_MODIFIED if request.is_conditional() => {
            return Ok(Outcome::NotModified);
        }
        StatusCode::NOT_MODIFIED => {
            return Err(protocol(
                key,
                "304 to a request without a condition",
                None::<std::io::Error>,
            ));
        }
        StatusCode::SWITCHING_PROTOCOLS => {
            return Err(protocol(key, "101 unasked", None::<std::io::Error>));
        }
        StatusCode::MOVED_PERMANENTLY
        | StatusCode::FOUND
        | StatusCode::SEE_OTHER
        | StatusCode::TEMPORARY_REDIRECT
        | StatusCode::PERMANENT_REDIRECT => {
            if let Some(location) = headers.get(header::LOCATION) {
                return redirect(request.url, key, location);
            }
        }
        _ => {}
    }
    let content_type = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    if request.accepted.accepts(content_type) {
        return Ok(Outcome::Page);
    }
    let content_type = String::from_utf8_lossy(content_type.unwrap_or_default()).into_owned();
    Ok(Outcome::SkippedType { content_type })
}

fn redirect(from: &Url, key: &Key, location: &HeaderValue) -> Result<Outcome, FetchError> {
    let location = String::from_utf8_lossy(location.as_bytes());
    match from.join(location.trim()) {
        Ok(to) if Key::of(&to).is_some() => Ok(Outcome::Redirect { to }),
        _ => Err(FetchError::BadRedirect {
            host: key.host.to_string(),
            location: location.chars().take(256).collect(),
        }),
    }
}

/// Returns the error of an answer that breaks the protocol.
pub(super) fn protocol<E>(key: &Key, what: &'static str, source: Option<E>) -> FetchError
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    FetchError::Protocol {
        host: key.host.to_string(),
        what,
        source: source.map(Into::into),
    }
}

pub(super) fn version_of(version: Version) -> HttpVersion {
    match version {
        Version::HTTP_2 => HttpVersion::Http2,
        Version::HTTP_11 => HttpVersion::Http11,
        _ => HttpVersion::Http10,
    }
}

/// Writes a head of HTTP/2 as one of HTTP/1.1.
pub(super) fn written_head(first: &str, host: Option<&str>, headers: &HeaderMap) -> Vec<u8> {
    let mut head = first.as_bytes().to_vec();
    if let Some(host) = host {
        head.extend_from_slice(format!("host: {host}\r\n").as_bytes());
    }
    for (name, value) in headers {
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    head
}
