//! Text of pages: character references decoded, white space collapsed.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use super::tokens::is_space;

/// Bytes of the longest character reference, `&CounterClockwiseContourIntegral;`.
const REFERENCE_BYTES_MAX: usize = 34;

/// Decodes character references that end with `;`; anything else stays as it is. Linear.
pub(super) fn decoded(raw: &str) -> Cow<'_, str> {
    let Some(first) = memchr(b'&', raw.as_bytes()) else {
        return Cow::Borrowed(raw);
    };
    let mut out = String::with_capacity(raw.len());
    let (mut copied, mut at) = (0, first);
    loop {
        let window = &raw.as_bytes()[at..raw.len().min(at + REFERENCE_BYTES_MAX)];
        // Another `&` before the `;` means that this one stands for itself.
        if let Some(end) = memchr2(b';', b'&', &window[1..]).filter(|&end| window[end + 1] == b';')
        {
            let reference = &raw[at..at + end + 2];
            out.push_str(&raw[copied..at]);
            match reference {
                "&nbsp;" | "&#160;" | "&#xa0;" | "&#xA0;" => out.push(' '),
                _ => out.push_str(&html_escape::decode_html_entities(reference)),
            }
            copied = at + reference.len();
        }
        match memchr(b'&', &raw.as_bytes()[at + 1..]) {
            Some(next) => at += 1 + next,
            None => break,
        }
    }
    out.push_str(&raw[copied..]);
    Cow::Owned(out)
}

/// Appends `text` to `out`, each run of white space as one space, none at the front of `out[from..]`.
pub(super) fn push_collapsed(out: &mut String, from: usize, text: &str) {
    let (bytes, mut at) = (text.as_bytes(), 0);
    while at < bytes.len() {
        if is_space(bytes[at]) {
            at += 1;
            while at < bytes.len() && is_space(bytes[at]) {
                at += 1;
            }
            if out.len() > from && !out.ends_with([' ', '\n']) {
                out.push(' ');
            }
            continue;
        }
        // Words with one space between them are copied together.
        let start = at;
        while at < bytes.len() && (!is_space(bytes[at]) || is_only_space(bytes, at)) {
            at += 1;
        }
        out.push_str(&text[start..at]);
    }
}

/// Returns whether a white space character is a space between two others that are none.
fn is_only_space(bytes: &[u8], at: usize) -> bool {
    bytes[at] == b' ' && bytes.get(at + 1).is_some_and(|&next| !is_space(next))
}

/// Returns `raw` decoded, collapsed and trimmed, at most `chars_max` characters.
pub(super) fn clean(raw: &str, chars_max: usize) -> String {
    // No reference is longer than its text by more than this factor.
    let raw = truncated(raw, chars_max.saturating_mul(8));
    let mut out = String::new();
    push_collapsed(&mut out, 0, &decoded(raw));
    out.truncate(out.trim_end().len());
    if let Some((end, _)) = out.char_indices().nth(chars_max) {
        out.truncate(end);
    }
    out
}

/// Returns the front of `text`, at most `chars_max` characters of at most 4 bytes.
fn truncated(text: &str, chars_max: usize) -> &str {
    let mut end = text.len().min(chars_max.saturating_mul(4));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
