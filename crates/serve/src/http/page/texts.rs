//! Texts of documents as the page shows them: of limited length, without hidden characters.

use engine::details::TITLE_CHARS_MAX;

/// Upper limit on the characters of a text on the page of a document; longer texts are cut.
pub(super) const BODY_CHARS_MAX: usize = 500_000;

/// Returns the title to show: never empty, and of limited length.
pub(super) fn title(title: &str, url: &str) -> String {
    let title = visible(title);
    match title.trim() {
        "" => cut(&visible(url), TITLE_CHARS_MAX),
        title => cut(title, TITLE_CHARS_MAX),
    }
}

/// Returns whether a title is neither cut nor cleaned.
pub(super) fn is_shown_as_stored(title: &str) -> bool {
    title.len() <= TITLE_CHARS_MAX && !title.contains(|c: char| c.is_control() || is_hidden(c))
}

/// Returns the prefix of a text with up to `BODY_CHARS_MAX` characters.
pub(super) fn cut_bytes(text: &str) -> &str {
    let mut end = text.len().min(4 * (BODY_CHARS_MAX + 1));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

pub(super) fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the text with each hidden character replaced by a visible one.
pub(super) fn visible(text: &str) -> String {
    text.replace(is_hidden, "\u{fffd}")
}

/// Returns whether `c` is a control character, which HTML cannot hold, or one that changes the text
/// direction, which can make one address look like another.
pub(super) fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' | '\r' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        c => c.is_control(),
    }
}
