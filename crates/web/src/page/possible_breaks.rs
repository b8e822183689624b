//! Zero-width spaces (U+200B) within words: places where a line may break, as `wbr` is one.
//!
//! Scripts that write no spaces divide words by them (Thai, Khmer, Burmese), so only those within a word of a script with
//! spaces are left out.

use std::borrow::Cow;

const ZERO_WIDTH_SPACE: char = '\u{200b}';

/// Characters below are of scripts with spaces: Latin, Greek, Cyrillic, Armenian.
const SCRIPTS_WITH_SPACES_END: char = '\u{590}';

/// Returns a text without the zero-width spaces that stand between two letters or digits of scripts with spaces. Linear.
pub fn without_possible_breaks(text: &str) -> Cow<'_, str> {
    if memchr::memmem::find(text.as_bytes(), "\u{200b}".as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let is_spaced = |c: char| c.is_alphanumeric() && c < SCRIPTS_WITH_SPACES_END;
    let mut out = String::with_capacity(text.len());
    let mut pieces = text.split(ZERO_WIDTH_SPACE);
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        if !(out.ends_with(is_spaced) && piece.starts_with(is_spaced)) {
            out.push(ZERO_WIDTH_SPACE);
        }
        out.push_str(piece);
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_scripts_with_spaces_are_joined_and_others_stay() {
        for (text, expected) in [
            ("wa\u{200b}ter", "water"),
            ("a\u{200b}é\u{200b}1", "aé1"),
            ("вода\u{200b}пад", "водапад"),
            ("ภาษา\u{200b}ไทย", "ภาษา\u{200b}ไทย"),
            (
                "end.\u{200b}Next \u{200b}x\u{200b}",
                "end.\u{200b}Next \u{200b}x\u{200b}",
            ),
            ("a\u{200b}\u{200b}b", "a\u{200b}\u{200b}b"),
            ("plain", "plain"),
        ] {
            assert_eq!(without_possible_breaks(text), expected, "{text:?}");
        }
    }
}
