//! Character encoding of a page or another text: declared, recognised or guessed.
//!
//! Order: byte-order mark, HTTP header, `meta` declaration in the first 1,024 bytes, valid UTF-8, and
//! last a guess from the frequencies of letters (chardetng). The first that answers wins; labels that
//! the web platform does not know are ignored. Malformed sequences become U+FFFD and are reported.
//!
//! Why UTF-8 before the guess: text in another encoding is hardly ever valid UTF-8 by chance.
//! See <https://encoding.spec.whatwg.org/> and <https://html.spec.whatwg.org/#prescan-a-byte-stream-to-determine-its-encoding>.

mod prescan;
mod stream;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

pub use prescan::prescan;
pub use stream::{Encodings, Utf8Reader};

/// Bytes at the front of a page that guessing reads: enough for any script, and a bound on its time.
const GUESSED_BYTES_MAX: usize = 256 << 10;

/// Decoded text with its encoding and the reason for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// Text without byte-order mark; borrowed where the bytes are UTF-8 already.
    pub text: Cow<'a, str>,
    /// Name of the encoding as the Encoding Standard writes it, for example `UTF-8` or `windows-1252`.
    pub encoding: &'static str,
    /// Source of the decision.
    pub how: How,
    /// Whether sequences were malformed and replaced by U+FFFD.
    pub malformed: bool,
}

/// Source of the decision on an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum How {
    /// Byte-order mark.
    Bom,
    /// `charset` of the `Content-Type` header.
    Http,
    /// `meta` element or XML declaration in the first 1,024 bytes.
    Meta,
    /// Nothing is declared, and the bytes are valid UTF-8.
    Utf8,
    /// Nothing is declared: the most probable encoding by its letters.
    Guess,
}

/// Decodes a text that is no page: as [`decode`] does, but for declarations within it, which are words of a text about pages.
pub fn decode_text<'a>(bytes: &'a [u8], label: Option<&str>) -> Decoded<'a> {
    decoded(bytes, decide_text(bytes, label))
}

/// Decodes `bytes`; `content_type_charset` is the label in the `Content-Type` header, quotes allowed.
pub fn decode<'a>(bytes: &'a [u8], content_type_charset: Option<&str>) -> Decoded<'a> {
    decoded(bytes, decide(bytes, content_type_charset))
}

fn decoded<'a>(bytes: &'a [u8], (encoding, how): (&'static Encoding, How)) -> Decoded<'a> {
    let (text, encoding, malformed) = match how {
        How::Bom => encoding.decode(bytes),
        _ => {
            let (text, malformed) = encoding.decode_without_bom_handling(bytes);
            (text, encoding, malformed)
        }
    };
    Decoded {
        text,
        encoding: encoding.name(),
        how,
        malformed,
    }
}

/// Decides on the encoding of a page.
fn decide(bytes: &[u8], content_type_charset: Option<&str>) -> (&'static Encoding, How) {
    if let Some(named) = named(bytes, content_type_charset) {
        return named;
    }
    match prescan(bytes) {
        Some(encoding) => (encoding, How::Meta),
        None => undeclared(bytes),
    }
}

/// Decides on the encoding of a text.
fn decide_text(bytes: &[u8], label: Option<&str>) -> (&'static Encoding, How) {
    named(bytes, label).unwrap_or_else(|| undeclared(bytes))
}

/// Returns the encoding that the byte-order mark or the label names.
fn named(bytes: &[u8], label: Option<&str>) -> Option<(&'static Encoding, How)> {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return Some((encoding, How::Bom));
    }
    let label = label.map(|label| label.trim().trim_matches(['"', '\'']));
    let encoding = label.and_then(|label| Encoding::for_label(label.as_bytes()))?;
    Some((encoding, How::Http))
}

/// Decides on the encoding of bytes of which nothing says it.
fn undeclared(bytes: &[u8]) -> (&'static Encoding, How) {
    if let Some(encoding) = wide(bytes) {
        return (encoding, How::Guess);
    }
    // Escape sequences of ISO-2022-JP are ASCII bytes, so they would pass as UTF-8.
    let escapes = memchr::memchr(0x1b, bytes).is_some();
    if !escapes && std::str::from_utf8(bytes).is_ok() {
        return (UTF_8, How::Utf8);
    }
    guess(bytes)
}

/// Returns the form of UTF-16 in which ASCII letters leave NUL bytes on one side, and hardly any on the other: characters such
/// as U+0100 have one there.
fn wide(bytes: &[u8]) -> Option<&'static Encoding> {
    let front = &bytes[..bytes.len().min(1024)];
    let nuls = |side: usize| {
        front
            .iter()
            .skip(side)
            .step_by(2)
            .filter(|&&byte| byte == 0)
            .count()
    };
    let (even, odd) = (nuls(0), nuls(1));
    // A single NUL is no letter of a text.
    let enough = (front.len() / 6 + 1).max(2);
    match (even >= enough, odd >= enough) {
        (true, false) if 8 * odd <= even => Some(UTF_16BE),
        (false, true) if 8 * even <= odd => Some(UTF_16LE),
        _ => None,
    }
}

/// Returns the most probable encoding by its letters; UTF-8 where the bytes are valid as such.
fn guess(bytes: &[u8]) -> (&'static Encoding, How) {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&bytes[..bytes.len().min(GUESSED_BYTES_MAX)], true);
    let guessed = detector.guess(None, Utf8Detection::Deny);
    if guessed != encoding_rs::ISO_2022_JP && std::str::from_utf8(bytes).is_ok() {
        return (UTF_8, How::Utf8);
    }
    (guessed, How::Guess)
}
