//! The result of one fetch.

use std::net::SocketAddr;

use bytes::Bytes;
use url::Url;

/// The version of HTTP of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpVersion {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1.
    Http11,
    /// HTTP/2. Heads are written as those of HTTP/1.1.
    Http2,
}

/// Kind of a response, by the decision of the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Response with its body, of any status without a variant of its own below.
    Page,
    /// The version known is current.
    NotModified,
    /// A redirect: the caller checks robots rules and scope before it fetches `to`.
    Redirect {
        /// The target, absolute, http or https.
        to: Url,
    },
    /// A content type that is not accepted; the body was not read.
    SkippedType {
        /// The type as received.
        content_type: String,
    },
}

/// Reason for which a body is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncated {
    /// It was longer than permitted.
    Length,
    /// The server closed, or broke the framing, in the middle of it.
    Disconnect,
    /// Its content coding is damaged from there.
    Decoding,
}

/// Durations of the phases, in µs; 0 for those a reused connection spares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Phases {
    /// Name resolution.
    pub dns_us: u64,
    /// TCP connection.
    pub connect_us: u64,
    /// TLS handshake.
    pub tls_us: u64,
    /// Time from the request to the end of the response head.
    pub first_byte_us: u64,
    /// Time from the response head to the end of the body.
    pub body_us: u64,
    /// All of it.
    pub total_us: u64,
}

/// A response within the limits.
#[derive(Debug, Clone)]
pub struct Fetched {
    /// Kind of the response.
    pub outcome: Outcome,
    /// The status.
    pub status: u16,
    /// The version of HTTP.
    pub version: HttpVersion,
    /// Header lines in the order received, names as received.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The address connected to.
    pub remote: SocketAddr,
    /// The body without transfer and content codings.
    pub body: Bytes,
    /// Reason for which the body is cut; `None` for a whole body.
    pub truncated: Option<Truncated>,
    /// Bytes of the body on the wire, with its content codings.
    pub wire_bytes: u64,
    /// Content codings that were undone, in the order applied by the server.
    pub decoded_from: Vec<&'static str>,
    /// Request head as sent, with its empty line.
    pub request_head: Vec<u8>,
    /// Response head as received, with its empty line, without interim responses.
    pub response_head: Vec<u8>,
    /// Durations.
    pub phases: Phases,
    /// Whether the connection had served an earlier fetch.
    pub reused: bool,
}

impl Fetched {
    /// Returns the first value of header `name`, in any case.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_slice())
    }

    /// Returns all values of header `name`, in any case.
    pub fn header_values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.headers
            .iter()
            .filter(move |(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_slice())
    }

    /// Returns the first value of header `name`, if it is UTF-8.
    pub fn header_text(&self, name: &str) -> Option<&str> {
        self.header(name)
            .and_then(|value| std::str::from_utf8(value).ok())
    }

    /// Returns the wait that `Retry-After` asks for at `now_ms` (Unix time), in ms. Dates in the past are 0.
    pub fn retry_after_ms(&self, now_ms: i64) -> Option<u64> {
        let value = self.header_text("retry-after")?.trim();
        if let Ok(seconds) = value.parse::<u64>() {
            return Some(seconds.saturating_mul(1_000));
        }
        let date = jiff::fmt::rfc2822::parse(value).ok()?;
        Some(u64::try_from(date.timestamp().as_millisecond() - now_ms).unwrap_or(0))
    }

    /// Returns the response head for a record that stores the decoded body: `Content-Encoding`, `Transfer-Encoding` and
    /// `Content-Length` as received get the prefix `X-Crawler-`, and the length of `body` is stated.
    pub fn archived_head(&self) -> Vec<u8> {
        let mut head = Vec::with_capacity(self.response_head.len() + 64);
        let status_line = self
            .response_head
            .split(|&byte| byte == b'\n')
            .next()
            .unwrap_or_default();
        head.extend_from_slice(status_line.strip_suffix(b"\r").unwrap_or(status_line));
        head.extend_from_slice(b"\r\n");
        for (name, value) in &self.headers {
            let framing = ["content-encoding", "transfer-encoding", "content-length"];
            if framing.iter().any(|other| name.eq_ignore_ascii_case(other)) {
                head.extend_from_slice(b"X-Crawler-");
            }
            head.extend_from_slice(name.as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value);
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(format!("Content-Length: {}\r\n\r\n", self.body.len()).as_bytes());
        head
    }
}
