//! Tokens of HTML: text, start tags with attributes, end tags.
//!
//! Follows the tokenizer of the HTML Standard where it matters for text and links: quotes count only in
//! attribute values, comments end at `-->`, raw text ends at its own end tag. Linear: every byte is
//! passed once, and what does not end runs to the end of the page, as in browsers.

use memchr::{memchr, memmem};

use super::tags::{Tag, tag};

/// Attributes kept of one tag; more are skipped.
const ATTRIBUTES_MAX: usize = 48;

/// Bytes of the longest name of a raw-text element and of its end.
const RAW_NAME_BYTES_MAX: usize = 12;

/// Token of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Text between tags, entities not decoded.
    Text(&'a str),
    /// Start tag; `attributes` of the tokenizer are its own.
    Start(Tag),
    /// End tag.
    End(Tag),
    /// Content of the raw-text element that began last, up to its end tag, which is consumed.
    Raw(Tag, &'a str),
}

/// Tokenizer over one page.
pub(super) struct Tokens<'a> {
    html: &'a str,
    at: usize,
    raw: Option<Tag>,
    attributes: Vec<(&'a str, &'a str)>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(html: &'a str) -> Self {
        Self {
            html,
            at: 0,
            raw: None,
            attributes: Vec::new(),
        }
    }

    /// Names and raw values of the start tag returned last.
    pub(super) fn attributes(&self) -> &[(&'a str, &'a str)] {
        &self.attributes
    }

    /// Returns the raw value of an attribute of the start tag returned last.
    pub(super) fn attribute(&self, name: &str) -> Option<&'a str> {
        self.attributes
            .iter()
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|&(_, value)| value)
    }

    /// Returns the next token; `None` at the end of the page.
    pub(super) fn next(&mut self) -> Option<Token<'a>> {
        if let Some(tag) = self.raw.take() {
            return Some(Token::Raw(tag, self.raw_text(tag)));
        }
        loop {
            let rest = &self.html[self.at..];
            let bytes = rest.as_bytes();
            if bytes.is_empty() {
                return None;
            }
            if bytes[0] != b'<' || !opens(bytes) {
                let text = &rest[..text_bytes(bytes)];
                self.at += text.len();
                return Some(Token::Text(text));
            }
            match bytes[1] {
                b'!' | b'?' => self.skip_declaration(bytes),
                b'/' if bytes.get(2).is_some_and(u8::is_ascii_alphabetic) => {
                    self.at += 2;
                    let found = self.name();
                    self.read_attributes();
                    return Some(Token::End(found));
                }
                // `</` and no letter is a comment up to `>`.
                b'/' => self.at += memchr(b'>', bytes).map_or(bytes.len(), |end| end + 1),
                _ => {
                    self.at += 1;
                    let found = self.name();
                    self.read_attributes();
                    self.raw = found.is_raw_text().then_some(found);
                    return Some(Token::Start(found));
                }
            }
        }
    }

    fn skip_declaration(&mut self, bytes: &[u8]) {
        self.at += if let Some(comment) = bytes.strip_prefix(b"<!--") {
            if comment.starts_with(b">") {
                5
            } else {
                memmem::find(&bytes[2..], b"-->").map_or(bytes.len(), |end| end + 5)
            }
        } else if bytes.starts_with(b"<![CDATA[") {
            9
        } else {
            memchr(b'>', bytes).map_or(bytes.len(), |end| end + 1)
        };
    }

    fn name(&mut self) -> Tag {
        let rest = &self.html.as_bytes()[self.at..];
        let end = rest
            .iter()
            .position(|&b| is_space(b) || b == b'/' || b == b'>')
            .unwrap_or(rest.len());
        self.at += end;
        tag(&rest[..end])
    }

    /// Reads attributes up to and including the `>`.
    fn read_attributes(&mut self) {
        self.attributes.clear();
        let bytes = self.html.as_bytes();
        let skip = |mut at: usize, skipped: fn(u8) -> bool| {
            while at < bytes.len() && skipped(bytes[at]) {
                at += 1;
            }
            at
        };
        loop {
            self.at = skip(self.at, |b| is_space(b) || b == b'/');
            match bytes.get(self.at) {
                None => return,
                Some(b'>') => {
                    self.at += 1;
                    return;
                }
                Some(_) => {}
            }
            let start = self.at;
            // A leading `=` is part of the name, as in browsers.
            self.at = skip(start + 1, |b| {
                !is_space(b) && !matches!(b, b'=' | b'/' | b'>')
            });
            // A name begins after ASCII and ends before it, so both are boundaries of characters.
            while !self.html.is_char_boundary(self.at) {
                self.at += 1;
            }
            let name = &self.html[start..self.at];
            let after = skip(self.at, is_space);
            let mut value = "";
            if bytes.get(after) == Some(&b'=') {
                let from = skip(after + 1, is_space);
                match bytes.get(from) {
                    Some(&quote @ (b'"' | b'\'')) => {
                        let end = memchr(quote, &bytes[from + 1..])
                            .map_or(bytes.len(), |end| from + 1 + end);
                        value = &self.html[from + 1..end];
                        self.at = (end + 1).min(bytes.len());
                    }
                    _ => {
                        self.at = skip(from, |b| !is_space(b) && b != b'>');
                        value = &self.html[from..self.at];
                    }
                }
            }
            if self.attributes.len() < ATTRIBUTES_MAX {
                self.attributes.push((name, value));
            }
        }
    }

    /// Returns the text up to the end tag of `tag`, and consumes that tag.
    fn raw_text(&mut self, tag: Tag) -> &'a str {
        let start = self.at;
        let bytes = self.html.as_bytes();
        let mut from = start;
        while let Some(found) = memmem::find(&bytes[from..], b"</") {
            let end = from + found;
            from = end + 2;
            // A bounded look: a name that never ends must not be read again from each `</`.
            let front = &bytes[from..bytes.len().min(from + RAW_NAME_BYTES_MAX)];
            let name = front
                .iter()
                .position(|&b| is_space(b) || b == b'/' || b == b'>');
            if name.is_some_and(|name| self::tag(&front[..name]) == tag) {
                self.at = from;
                self.name();
                self.read_attributes();
                return &self.html[start..end];
            }
        }
        self.at = bytes.len();
        &self.html[start..]
    }
}

/// Returns whether `<` at the front begins markup.
fn opens(bytes: &[u8]) -> bool {
    bytes
        .get(1)
        .is_some_and(|&b| b.is_ascii_alphabetic() || matches!(b, b'!' | b'/' | b'?'))
}

/// Returns the number of bytes before the next markup, at least 1.
fn text_bytes(bytes: &[u8]) -> usize {
    let mut at = usize::from(bytes[0] == b'<');
    while let Some(found) = memchr(b'<', &bytes[at..]) {
        at += found;
        if opens(&bytes[at..]) {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

/// Returns whether the byte is white space of HTML.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}
