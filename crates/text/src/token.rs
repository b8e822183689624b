//! Terms of a text with their places.

/// Upper limit on the bytes of a term, in documents and queries alike. Longer terms are cut at a character boundary.
pub const TERM_BYTES_MAX: usize = 1024;

/// Error for an unknown analyzer name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no analyzer `{0}`: use `standard2`, followed by languages as in `standard2-en`, or `plain` or `english`"
)]
pub struct UnknownAnalyzer(pub String);

/// Word of a text as it is written, whose term is another, because the word was stemmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenForm<'a> {
    /// The word, folded as terms are but not stemmed. ASCII letters are in either case.
    pub written: &'a str,
    /// Its index term.
    pub term: &'a str,
    /// Offset of the start of the word or compound in the text, in bytes.
    pub start: usize,
    /// Offset of its end, in bytes.
    pub end: usize,
}

/// Returns as much of a text as a term may have, at a character boundary.
#[inline]
pub(crate) fn cut_to_term(text: &str) -> &str {
    let mut end = text.len().min(TERM_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// One term of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// The index term.
    pub term: &'a str,
    /// Ordinal of the place in the text: 0, 1, 2, … Several terms of one word share a place.
    pub position: u32,
    /// Offset of the word's start in the text, in bytes.
    pub start: usize,
    /// Offset of the word's end in the text, in bytes.
    pub end: usize,
}
