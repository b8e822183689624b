//! Parser of HTTP/1.1 responses: bytes in, responses out, no sockets.
//!
//! Only the parts that a load generator needs: status, `Retry-After`, `Connection`, and a body framed
//! by length, by chunks or by the end of the connection. Untrusted bytes never panic: any other input
//! is [`Broken`].
use httparse::{EMPTY_HEADER, Header, Status, parse_chunk_size};

const HEADERS_MAX: usize = 64;
const HEAD_BYTES_MAX: usize = 64 << 10;
const BODY_BYTES_MAX: u64 = 256 << 20;

/// A complete response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) retry_after_s: Option<u32>,
    /// Whether the connection can carry another request.
    pub(crate) keep_alive: bool,
    pub(crate) body: Vec<u8>,
}

/// Error for bytes that are not a response, or for an incomplete response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Broken;

/// Incremental parser of the responses of one connection.
#[derive(Debug, Default)]
pub(crate) struct ResponseReader {
    /// Received bytes that have not been consumed.
    bytes: Vec<u8>,
    head: Option<Head>,
    /// Body bytes of the chunks so far.
    unchunked: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct Head {
    status: u16,
    retry_after_s: Option<u32>,
    keep_alive: bool,
    framing: Framing,
}

#[derive(Debug, Clone, Copy)]
enum Framing {
    Length(u64),
    Chunked,
    UntilClose,
}

impl ResponseReader {
    /// Adds received bytes; returns the response once its last byte has arrived.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Option<Response>, Broken> {
        self.bytes.extend_from_slice(bytes);
        let head = loop {
            if let Some(head) = self.head {
                break head;
            }
            if !self.read_head()? {
                return Ok(None);
            }
        };
        match head.framing {
            Framing::Length(length) if (self.bytes.len() as u64) < length => Ok(None),
            Framing::Length(length) => {
                let rest = self.bytes.split_off(length as usize);
                let body = std::mem::replace(&mut self.bytes, rest);
                self.whole(head, body).map(Some)
            }
            Framing::Chunked => {
                if !self.read_chunks()? {
                    return Ok(None);
                }
                let body = std::mem::take(&mut self.unchunked);
                self.whole(head, body).map(Some)
            }
            Framing::UntilClose if self.bytes.len() as u64 > BODY_BYTES_MAX => Err(Broken),
            Framing::UntilClose => Ok(None),
        }
    }

    /// Handles the end of the connection, which completes a response framed by it.
    pub(crate) fn end(&mut self) -> Result<Option<Response>, Broken> {
        match self.head {
            Some(head) if matches!(head.framing, Framing::UntilClose) => {
                let body = std::mem::take(&mut self.bytes);
                self.whole(head, body).map(Some)
            }
            None if self.bytes.is_empty() => Ok(None),
            _ => Err(Broken),
        }
    }

    fn whole(&mut self, head: Head, body: Vec<u8>) -> Result<Response, Broken> {
        // Surplus bytes: they cannot be assigned to a request.
        if !self.bytes.is_empty() {
            return Err(Broken);
        }
        self.head = None;
        Ok(Response {
            status: head.status,
            retry_after_s: head.retry_after_s,
            keep_alive: head.keep_alive,
            body,
        })
    }

    /// Returns whether the head is complete, and removes it from the bytes. Skips interim responses
    /// (1xx).
    fn read_head(&mut self) -> Result<bool, Broken> {
        let mut headers = [EMPTY_HEADER; HEADERS_MAX];
        let mut response = httparse::Response::new(&mut headers);
        let length = match response.parse(&self.bytes) {
            Ok(Status::Complete(length)) => length,
            Ok(Status::Partial) if self.bytes.len() <= HEAD_BYTES_MAX => return Ok(false),
            _ => return Err(Broken),
        };
        let status = response.code.ok_or(Broken)?;
        let version = response.version.ok_or(Broken)?;
        let head = read_fields(status, version, response.headers)?;
        self.bytes.drain(..length);
        if !(100..200).contains(&status) {
            self.head = Some(head);
        }
        Ok(true)
    }

    /// Returns whether the last chunk has arrived; moves each complete chunk to `unchunked`.
    fn read_chunks(&mut self) -> Result<bool, Broken> {
        let mut used = 0;
        let done = loop {
            let rest = &self.bytes[used..];
            let (line_bytes, size) = match parse_chunk_size(rest) {
                Ok(Status::Complete(found)) => found,
                Ok(Status::Partial) => break false,
                Err(_) => return Err(Broken),
            };
            if size > BODY_BYTES_MAX - self.unchunked.len() as u64 {
                return Err(Broken);
            }
            if size == 0 {
                let Some(trailer_bytes) = trailer_bytes(&rest[line_bytes..])? else {
                    break false;
                };
                used += line_bytes + trailer_bytes;
                break true;
            }
            let end = line_bytes + size as usize;
            let Some(close) = rest.get(end..end + 2) else {
                break false;
            };
            if close != b"\r\n" {
                return Err(Broken);
            }
            self.unchunked.extend_from_slice(&rest[line_bytes..end]);
            used += end + 2;
        };
        self.bytes.drain(..used);
        Ok(done)
    }
}

/// Returns the length of the trailers and the empty line after the last chunk, once they are complete.
fn trailer_bytes(bytes: &[u8]) -> Result<Option<usize>, Broken> {
    let mut headers = [EMPTY_HEADER; HEADERS_MAX];
    match httparse::parse_headers(bytes, &mut headers) {
        Ok(Status::Complete((length, _))) => Ok(Some(length)),
        Ok(Status::Partial) if bytes.len() <= HEAD_BYTES_MAX => Ok(None),
        _ => Err(Broken),
    }
}

fn read_fields(status: u16, version: u8, headers: &[Header<'_>]) -> Result<Head, Broken> {
    let mut head = Head {
        status,
        retry_after_s: None,
        keep_alive: version == 1,
        framing: match status {
            204 | 304 | 100..200 => Framing::Length(0),
            _ => Framing::UntilClose,
        },
    };
    let bodiless = matches!(head.framing, Framing::Length(_));
    let mut length_seen = None;
    let mut chunked = false;
    for header in headers {
        let value = std::str::from_utf8(header.value).unwrap_or_default().trim();
        if header.name.eq_ignore_ascii_case("content-length") {
            let length: u64 = value.parse().map_err(|_| Broken)?;
            if length > BODY_BYTES_MAX || length_seen.is_some_and(|seen| seen != length) {
                return Err(Broken);
            }
            length_seen = Some(length);
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            chunked = value.eq_ignore_ascii_case("chunked");
            if !chunked {
                return Err(Broken);
            }
        } else if header.name.eq_ignore_ascii_case("connection") {
            if value.eq_ignore_ascii_case("close") {
                head.keep_alive = false;
            } else if value.eq_ignore_ascii_case("keep-alive") {
                head.keep_alive = true;
            }
        } else if header.name.eq_ignore_ascii_case("retry-after") {
            // The other form is a date; servers that shed load do not use it.
            head.retry_after_s = value.parse().ok();
        }
    }
    if !bodiless {
        head.framing = match (chunked, length_seen) {
            (true, _) => Framing::Chunked,
            (false, Some(length)) => Framing::Length(length),
            (false, None) => Framing::UntilClose,
        };
    }
    if matches!(head.framing, Framing::UntilClose) {
        head.keep_alive = false;
    }
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Feeds the bytes in pieces of every size and checks that each gives the expected response.
    fn check(bytes: &str, expected: Result<Option<(u16, &str, bool)>, Broken>) {
        for piece in [1, 2, 3, 7, usize::MAX] {
            let mut reader = ResponseReader::default();
            let mut found = Ok(None);
            for part in bytes.as_bytes().chunks(piece.min(bytes.len())) {
                found = reader.feed(part);
                if found.is_err() {
                    break;
                }
            }
            let found = found.map(|response| {
                response.map(|r| (r.status, String::from_utf8(r.body).unwrap(), r.keep_alive))
            });
            let expected = expected.map(|e| e.map(|(s, body, k)| (s, body.to_owned(), k)));
            assert_eq!(found, expected, "{bytes:?} in pieces of {piece}");
        }
    }

    #[test]
    fn responses_end_where_they_say() {
        let ok = "HTTP/1.1 200 OK\r\n";
        check(
            &format!("{ok}Content-Length: 3\r\n\r\nabc"),
            Ok(Some((200, "abc", true))),
        );
        check(&format!("{ok}content-length: 4\r\n\r\nabc"), Ok(None));
        check(
            &format!("{ok}Content-Length: 0\r\nConnection: close\r\n\r\n"),
            Ok(Some((200, "", false))),
        );
        let chunks = "2\r\nab\r\n1;x=y\r\nc\r\n0\r\nTrailer: 1\r\n\r\n";
        check(
            &format!("{ok}Transfer-Encoding: chunked\r\n\r\n{chunks}"),
            Ok(Some((200, "abc", true))),
        );
        check(
            &format!("HTTP/1.1 100 Continue\r\n\r\n{ok}Content-Length: 1\r\n\r\nx"),
            Ok(Some((200, "x", true))),
        );
        check("HTTP/1.0 204 Empty\r\n\r\n", Ok(Some((204, "", false))));
        check(
            "HTTP/1.1 304 Same\r\nContent-Length: 10\r\n\r\n",
            Ok(Some((304, "", true))),
        );
    }

    #[test]
    fn what_is_no_response_is_broken() {
        let ok = "HTTP/1.1 200 OK\r\n";
        check("SSH-2.0-OpenSSH_9.2\r\n", Err(Broken));
        check(&format!("{ok}Content-Length: -1\r\n\r\n"), Err(Broken));
        check(
            &format!("{ok}Content-Length: 1\r\nContent-Length: 2\r\n\r\n"),
            Err(Broken),
        );
        check(
            &format!("{ok}Content-Length: 99999999999999\r\n\r\n"),
            Err(Broken),
        );
        check(&format!("{ok}Transfer-Encoding: gzip\r\n\r\n"), Err(Broken));
        check(
            &format!("{ok}Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
            Err(Broken),
        );
        check(
            &format!("{ok}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"),
            Err(Broken),
        );
        let mut reader = ResponseReader::default();
        let surplus = format!("{ok}Content-Length: 1\r\n\r\nxy");
        assert_eq!(reader.feed(surplus.as_bytes()), Err(Broken));
    }

    #[test]
    fn the_end_of_a_connection_ends_a_response_or_breaks_it() {
        let mut reader = ResponseReader::default();
        assert_eq!(reader.end(), Ok(None));
        assert_eq!(reader.feed(b"HTTP/1.1 200 OK\r\n\r\nall "), Ok(None));
        assert_eq!(reader.feed(b"of it"), Ok(None));
        let response = reader.end().unwrap().unwrap();
        assert_eq!(
            (response.body.as_slice(), response.keep_alive),
            (&b"all of it"[..], false)
        );
        assert_eq!(reader.feed(b"HTTP/1.1 200 OK\r\nContent-Le"), Ok(None));
        assert_eq!(reader.end(), Err(Broken));
    }

    #[test]
    fn shedding_is_read() {
        let mut reader = ResponseReader::default();
        let shed = b"HTTP/1.1 429 Too Many\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n";
        assert_eq!(reader.feed(shed).unwrap().unwrap().retry_after_s, Some(7));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(
            pieces in proptest::collection::vec(
                prop_oneof![
                    Just(b"HTTP/1.1 200 OK\r\n".to_vec()),
                    Just(b"Content-Length: 5\r\n".to_vec()),
                    Just(b"Transfer-Encoding: chunked\r\n".to_vec()),
                    Just(b"\r\n".to_vec()),
                    Just(b"5\r\nabcde\r\n".to_vec()),
                    proptest::collection::vec(any::<u8>(), 0..20),
                ],
                0..10,
            )
        ) {
            let mut reader = ResponseReader::default();
            for piece in pieces {
                if reader.feed(&piece).is_err() {
                    return Ok(());
                }
            }
            let _ = reader.end();
        }
    }
}
