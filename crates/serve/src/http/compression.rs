//! Compression of answers, for clients that ask for it by `Accept-Encoding` (RFC 9110, 12.5.3).
//!
//! An answer is whole in memory before its first byte is sent, so it is compressed at once, and limits on memory count what is
//! sent. Levels are those at which a page of ten hits takes about a tenth of a millisecond.

use crate::net::blocking::beside_io;
use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::{Response, StatusCode};
use axum::middleware::Next;
use std::io::Write;

/// Size below which answers are sent as they are, in bytes: they fit into one packet.
const BYTES_MIN: u64 = 1200;
/// Size from which the I/O thread is left to others meanwhile, in bytes.
const LARGE_BYTES: usize = 64 << 10;
const GZIP_LEVEL: u32 = 2;
const ZSTD_LEVEL: i32 = 2;
const BROTLI_QUALITY: i32 = 3;

/// A coding of contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Zstd,
    Brotli,
    Gzip,
}

impl Coding {
    /// Those with the best ratio for their time first.
    const ALL: [Coding; 3] = [Coding::Zstd, Coding::Brotli, Coding::Gzip];

    fn name(self) -> &'static str {
        match self {
            Coding::Zstd => "zstd",
            Coding::Brotli => "br",
            Coding::Gzip => "gzip",
        }
    }

    /// Returns the coding that a client likes best; `None` where it takes none of them.
    fn accepted(headers: &HeaderMap) -> Option<Coding> {
        let lists = headers.get_all(header::ACCEPT_ENCODING).iter();
        let lists: Vec<&str> = lists.filter_map(|list| list.to_str().ok()).collect();
        let weight_of = |coding: Coding| {
            let entries = lists.iter().flat_map(|list| list.split(','));
            let mut weights = entries.filter_map(|entry| {
                let (name, rest) = entry.split_once(';').unwrap_or((entry, ""));
                let is_it = name.trim().eq_ignore_ascii_case(coding.name());
                is_it.then(|| weight(rest))
            });
            weights.next().unwrap_or(0.0)
        };
        // Of equal weights the first counts.
        let mut best = (0.0, None);
        for coding in Coding::ALL {
            let weight = weight_of(coding);
            if weight > best.0 {
                best = (weight, Some(coding));
            }
        }
        best.1
    }

    fn compress(self, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut written = Vec::with_capacity(bytes.len() / 3);
        match self {
            Coding::Zstd => return zstd::bulk::compress(bytes, ZSTD_LEVEL),
            Coding::Gzip => {
                let level = flate2::Compression::new(GZIP_LEVEL);
                let mut encoder = flate2::write::GzEncoder::new(&mut written, level);
                encoder.write_all(bytes)?;
                encoder.finish()?;
            }
            Coding::Brotli => {
                let parameters = brotli::enc::BrotliEncoderParams {
                    quality: BROTLI_QUALITY,
                    size_hint: bytes.len(),
                    ..Default::default()
                };
                brotli::BrotliCompress(&mut &bytes[..], &mut written, &parameters)?;
            }
        }
        Ok(written)
    }
}

/// Returns the weight behind a `;`: 1 where there is none, 0 for what is none.
fn weight(parameters: &str) -> f32 {
    let parameters = parameters.trim();
    if parameters.is_empty() {
        return 1.0;
    }
    let number = parameters
        .strip_prefix(['q', 'Q'])
        .and_then(|rest| rest.trim_start().strip_prefix('='));
    number
        .and_then(|number| number.trim().parse().ok())
        .filter(|weight| (0.0..=1.0).contains(weight))
        .unwrap_or(0.0)
}

/// Compresses texts that are worth it.
pub(crate) async fn compressed(request: Request, next: Next) -> Response<Body> {
    let coding = Coding::accepted(request.headers());
    let mut response = next.run(request).await;
    if !is_worth_it(&response) {
        return response;
    }
    let vary = HeaderValue::from_static("accept-encoding");
    response.headers_mut().append(header::VARY, vary);
    let Some(coding) = coding else {
        return response;
    };
    let (mut head, body) = response.into_parts();
    // It is in memory already.
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        return Response::from_parts(head, Body::empty());
    };
    let written = match bytes.len() > LARGE_BYTES {
        true => beside_io(|| coding.compress(&bytes)),
        false => coding.compress(&bytes),
    };
    match written {
        Ok(written) => {
            let name = HeaderValue::from_static(coding.name());
            head.headers.insert(header::CONTENT_ENCODING, name);
            head.headers.remove(header::CONTENT_LENGTH);
            Response::from_parts(head, Body::from(written))
        }
        Err(_) => Response::from_parts(head, Body::from(bytes)),
    }
}

/// Returns whether an answer is a text of some length.
fn is_worth_it(response: &Response<Body>) -> bool {
    const TEXTS: [&[u8]; 3] = [b"text/", b"application/json", b"image/svg+xml"];
    let headers = response.headers();
    let kind = headers.get(header::CONTENT_TYPE);
    let is_text = kind.is_some_and(|kind| {
        let is_of = |start: &&[u8]| kind.as_bytes().starts_with(start);
        TEXTS.iter().any(is_of)
    });
    let length = response.body().size_hint().exact();
    is_text
        && response.status() != StatusCode::PARTIAL_CONTENT
        && !headers.contains_key(header::CONTENT_ENCODING)
        && length.is_some_and(|length| length >= BYTES_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn accepted(list: &'static str) -> Option<Coding> {
        let value = HeaderValue::from_static(list);
        Coding::accepted(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, value)]))
    }

    #[test]
    fn the_coding_is_the_one_that_a_client_likes_best() {
        for (list, coding) in [
            ("gzip, deflate, br, zstd", Some(Coding::Zstd)),
            ("gzip, deflate, br", Some(Coding::Brotli)),
            ("GZIP", Some(Coding::Gzip)),
            ("zstd;q=0.1, gzip;q=0.5", Some(Coding::Gzip)),
            ("zstd;q=0, br ; q = 0.2", Some(Coding::Brotli)),
            ("br;q=2, gzip;q=x", None),
            ("deflate, *", None),
            ("identity", None),
            ("", None),
        ] {
            assert_eq!(accepted(list), coding, "{list}");
        }
        assert_eq!(Coding::accepted(&HeaderMap::new()), None);
    }

    #[test]
    fn what_is_compressed_is_read_back() {
        let text = "a short tail, a long tail. ".repeat(500);
        for coding in Coding::ALL {
            let written = coding.compress(text.as_bytes()).unwrap();
            assert!(written.len() < text.len() / 5, "{coding:?}");
            let mut read = Vec::new();
            match coding {
                Coding::Zstd => read = zstd::bulk::decompress(&written, text.len()).unwrap(),
                Coding::Gzip => {
                    let mut decoder = flate2::read::GzDecoder::new(&written[..]);
                    decoder.read_to_end(&mut read).unwrap();
                }
                Coding::Brotli => brotli::BrotliDecompress(&mut &written[..], &mut read).unwrap(),
            }
            assert_eq!(read, text.as_bytes(), "{coding:?}");
        }
    }
}
