//! Heads of HTTP messages inside WARC records, read as browsers read them: leniently.

/// Upper limit on the bytes of a head.
const HEAD_BYTES_MAX: usize = 256 << 10;

/// Upper limit on the number of header fields; further ones are dropped.
const FIELDS_MAX: usize = 1_000;

/// Head of an HTTP message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpHead {
    /// First line.
    pub first_line: String,
    /// Status of an answer; `None` for requests and for damaged status lines.
    pub status: Option<u16>,
    /// Header fields in order. Bytes that are not UTF-8 are taken as Latin-1.
    pub headers: Vec<(String, String)>,
    /// Place in the block at which the body begins.
    pub body_at: usize,
}

impl HttpHead {
    /// Parses the head at the beginning of a block; `None` where the first line is none of HTTP.
    pub fn parse(block: &[u8]) -> Option<HttpHead> {
        let bounded = &block[..block.len().min(HEAD_BYTES_MAX)];
        let mut lines = Lines {
            bytes: bounded,
            at: 0,
        };
        let first_line = text(lines.next()?);
        let mut words = first_line.split_ascii_whitespace();
        let is_answer = first_line.starts_with("HTTP/");
        let is_request = words
            .next_back()
            .is_some_and(|last| last.starts_with("HTTP/"));
        if !is_answer && !is_request {
            return None;
        }
        let status = match is_answer {
            true => first_line.split_ascii_whitespace().nth(1),
            false => None,
        };
        let status = status.and_then(|status| status.parse().ok());
        let mut headers: Vec<(String, String)> = Vec::new();
        loop {
            match lines.next() {
                // The end of the block ends a head too.
                None | Some([]) => break,
                Some(line) => push_field(&mut headers, line, FIELDS_MAX),
            }
        }
        Some(HttpHead {
            first_line,
            status,
            headers,
            body_at: lines.at,
        })
    }

    /// Returns the first header field of this name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// Returns the media type in lower case, without parameters; empty where there is none.
    pub fn media_type(&self) -> String {
        let value = self.header("content-type").unwrap_or("");
        let media_type = value.split(';').next().unwrap_or("");
        media_type.trim().to_ascii_lowercase()
    }
}

/// Returns the first field of this name, in any case.
pub(crate) fn find<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    fields
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_str())
}

/// Adds the field of a line, or the line to the field before where it begins with white space.
pub(crate) fn push_field(fields: &mut Vec<(String, String)>, line: &[u8], fields_max: usize) {
    let is_continued = line
        .first()
        .is_some_and(|byte| matches!(byte, b' ' | b'\t'));
    let line = text(line);
    if is_continued {
        if let Some((_, value)) = fields.last_mut() {
            value.push(' ');
            value.push_str(line.trim());
        }
    } else if let Some((name, value)) = line.split_once(':')
        && fields.len() < fields_max
    {
        fields.push((name.trim().to_owned(), value.trim().to_owned()));
    }
}

/// Decodes UTF-8, else Latin-1, which accepts any byte.
pub(crate) fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// Lines that end in LF or CRLF, without their ends.
pub(crate) struct Lines<'a> {
    pub(crate) bytes: &'a [u8],
    /// Place behind the line given last.
    pub(crate) at: usize,
}

impl<'a> Lines<'a> {
    pub(crate) fn next(&mut self) -> Option<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        if rest.is_empty() {
            return None;
        }
        let (line, taken) = match memchr::memchr(b'\n', rest) {
            Some(end) => (&rest[..end], end + 1),
            None => (rest, rest.len()),
        };
        self.at += taken;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads() {
        let head = HttpHead::parse(
            b"HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=x\r\nX: a\r\n b\r\n\r\nbody",
        )
        .unwrap();
        assert_eq!((head.status, &*head.media_type()), (Some(200), "text/html"));
        assert_eq!(head.header("x"), Some("a b"));
        let head = HttpHead::parse(b"HTTP/1.0 404\nA:1\n\nbody").unwrap();
        assert_eq!((head.status, head.body_at), (Some(404), 18));
        let head = HttpHead::parse(b"GET / HTTP/1.1\r\nHost: a").unwrap();
        assert_eq!((head.status, head.body_at), (None, 23));
        assert!(HttpHead::parse(b"").is_none());
        assert!(HttpHead::parse(b"<html>").is_none());
    }
}
