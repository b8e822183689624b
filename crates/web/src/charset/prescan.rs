//! Prescan of a byte stream for a declared encoding, after the HTML Standard.
//!
//! Reads `meta` elements with `charset` or with `http-equiv` and `content`, skips comments, other
//! tags and their attributes, and takes the XML declaration when no `meta` answers.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// Bytes in which a declaration counts.
const PRESCAN_BYTES: usize = 1024;

/// Returns the encoding declared in the first 1,024 bytes; cost linear in these.
pub fn prescan(bytes: &[u8]) -> Option<&'static Encoding> {
    let bytes = &bytes[..bytes.len().min(PRESCAN_BYTES)];
    if bytes.starts_with(b"<\0?\0x\0") {
        return Some(UTF_16LE);
    }
    if bytes.starts_with(b"\0<\0?\0x") {
        return Some(UTF_16BE);
    }
    metas(bytes).or_else(|| xml_declaration(bytes))
}

/// Returns the encoding of the first `meta` element that declares one.
fn metas(bytes: &[u8]) -> Option<&'static Encoding> {
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(b"<!--") {
            // `<!-->` is a whole comment: its dashes serve both ends.
            at += 4 + memchr::memmem::find(&rest[2..], b"-->")? + 1;
        } else if is_meta(rest) {
            let mut attributes = Attributes { bytes, at: at + 5 };
            if let Some(found) = declared(&mut attributes) {
                return Some(found);
            }
            at = attributes.at + 1;
        } else if rest.len() > 1
            && rest[0] == b'<'
            && (rest[1].is_ascii_alphabetic() || is_end_tag(rest))
        {
            let name = rest.iter().position(|&b| is_space(b) || b == b'>')?;
            let mut attributes = Attributes {
                bytes,
                at: at + name,
            };
            while attributes.next().is_some() {}
            at = attributes.at + 1;
        } else if rest.starts_with(b"<!") || rest.starts_with(b"</") || rest.starts_with(b"<?") {
            at += memchr::memchr(b'>', rest)? + 1;
        } else {
            at += 1;
        }
    }
    None
}

fn is_end_tag(rest: &[u8]) -> bool {
    rest.len() > 2 && rest[1] == b'/' && rest[2].is_ascii_alphabetic()
}

fn is_meta(rest: &[u8]) -> bool {
    rest.len() > 5
        && rest[..5].eq_ignore_ascii_case(b"<meta")
        && (is_space(rest[5]) || rest[5] == b'/')
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}

/// Returns the encoding that the attributes of one `meta` element declare.
fn declared(attributes: &mut Attributes<'_>) -> Option<&'static Encoding> {
    let (mut seen, mut pragma, mut needs_pragma) = (Vec::new(), false, None);
    let mut charset: Option<&'static Encoding> = None;
    while let Some((name, value)) = attributes.next() {
        if seen.contains(&name) {
            continue;
        }
        match name.as_slice() {
            b"http-equiv" => pragma |= value == b"content-type",
            b"content" if charset.is_none() => {
                if let Some(found) = from_content(&value) {
                    (charset, needs_pragma) = (Some(found), Some(true));
                }
            }
            b"charset" => (charset, needs_pragma) = (Encoding::for_label(&value), Some(false)),
            _ => {}
        }
        seen.push(name);
    }
    if needs_pragma? && !pragma {
        return None;
    }
    charset.map(substituted)
}

/// A page whose `meta` was read byte by byte is not UTF-16, whatever it says.
fn substituted(encoding: &'static Encoding) -> &'static Encoding {
    if encoding == UTF_16LE || encoding == UTF_16BE {
        UTF_8
    } else if encoding == X_USER_DEFINED {
        WINDOWS_1252
    } else {
        encoding
    }
}

/// Extracts an encoding from a `content` value such as `text/html; charset=utf-8`, in lower case.
fn from_content(content: &[u8]) -> Option<&'static Encoding> {
    let mut rest = content;
    loop {
        let at = memchr::memmem::find(rest, b"charset")?;
        rest = rest[at + 7..].trim_ascii_start();
        if let Some(value) = rest.strip_prefix(b"=") {
            let value = value.trim_ascii_start();
            let label = match value.first()? {
                quote @ (b'"' | b'\'') => {
                    let end = memchr::memchr(*quote, &value[1..])?;
                    &value[1..=end]
                }
                _ => {
                    let end = value.iter().position(|&b| is_space(b) || b == b';');
                    &value[..end.unwrap_or(value.len())]
                }
            };
            return Encoding::for_label(label);
        }
    }
}

/// Attributes of one tag, from `at` to its `>` or to the end of the bytes.
struct Attributes<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Attributes<'_> {
    /// Returns the next name and value, in lower case; `None` at `>` or where the bytes end within.
    fn next(&mut self) -> Option<(Vec<u8>, Vec<u8>)> {
        self.skip(|b| is_space(b) || b == b'/');
        if self.peek()? == b'>' {
            return None;
        }
        let mut name = Vec::new();
        loop {
            let byte = self.peek()?;
            match byte {
                b'=' if !name.is_empty() => break,
                b'/' | b'>' => return Some((name, Vec::new())),
                _ if is_space(byte) => {
                    self.skip(is_space);
                    if self.peek()? != b'=' {
                        return Some((name, Vec::new()));
                    }
                    break;
                }
                _ => name.push(byte.to_ascii_lowercase()),
            }
            self.at += 1;
        }
        self.at += 1;
        self.skip(is_space);
        let value = self.value()?;
        Some((name, value))
    }

    fn value(&mut self) -> Option<Vec<u8>> {
        let first = self.peek()?;
        if first == b'"' || first == b'\'' {
            let start = self.at + 1;
            let end = memchr::memchr(first, &self.bytes[start..]);
            // An end of the bytes within a value ends the prescan.
            self.at = end.map_or(self.bytes.len(), |end| start + end + 1);
            return Some(self.bytes[start..start + end?].to_ascii_lowercase());
        }
        let start = self.at;
        self.skip(|b| !is_space(b) && b != b'>');
        self.peek()?;
        Some(self.bytes[start..self.at].to_ascii_lowercase())
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip(&mut self, skipped: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&skipped) {
            self.at += 1;
        }
    }
}

/// Returns the `encoding` of an XML declaration at the very front.
fn xml_declaration(bytes: &[u8]) -> Option<&'static Encoding> {
    if !bytes.starts_with(b"<?xml") {
        return None;
    }
    let declaration = &bytes[..memchr::memchr(b'>', bytes)?];
    let at = memchr::memmem::find(declaration, b"encoding")?;
    let value = declaration[at + 8..]
        .trim_ascii_start()
        .strip_prefix(b"=")?
        .trim_ascii_start();
    let quote = *value
        .first()
        .filter(|quote| matches!(quote, b'"' | b'\''))?;
    let end = memchr::memchr(quote, &value[1..])?;
    let label = &value[1..=end];
    if label.iter().any(|&b| b <= b' ') {
        return None;
    }
    Encoding::for_label(label).map(substituted)
}
