//! Pieces of a run without blanks: words, and patterns of words.
//!
//! ```text
//! tuft*            a beginning
//! t?ft  t*t  *uft  `?` one character, `*` any number; a `?` at the end is that of a question
//! tuft~  tuft~1    a word that differs in a few letters
//! ```

/// Piece of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    /// Text to analyse.
    Words(&'t str),
    /// Beginning of a word.
    Prefix(&'t str),
    /// Word with `?` and `*` in it.
    Wildcard(&'t str),
    /// Word that may differ in as many letters as the digits say.
    Near { word: &'t str, digits: &'t str },
    /// `*` without a character of a word.
    Star,
}

/// Divides a run into pieces, in order.
pub(super) fn pieces(run: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    match run.rsplit_once('~') {
        Some((before, digits))
            if before.ends_with(char::is_alphanumeric)
                && digits.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            let start = before
                .char_indices()
                .rev()
                .take_while(|(_, character)| character.is_alphanumeric())
                .last()
                .map_or(before.len(), |(start, _)| start);
            let (before, word) = before.split_at(start);
            push_starred(before, &mut pieces);
            pieces.push(Piece::Near { word, digits });
        }
        _ => push_starred(run, &mut pieces),
    }
    pieces
}

/// Adds the pieces of a text without a `~` that counts.
fn push_starred<'t>(text: &'t str, pieces: &mut Vec<Piece<'t>>) {
    // The `?` of an address begins its parameters.
    let is_address = text.contains(['/', '=', '&']);
    let is_sign = |character: char| character == '*' || character == '?' && !is_address;
    let is_of_word = |character: char| character.is_alphanumeric() || is_sign(character);
    let (mut taken, mut at) = (0, 0);
    let words = |pieces: &mut Vec<Piece<'t>>, from: usize, to: usize| {
        if from < to {
            pieces.push(Piece::Words(&text[from..to]));
        }
    };
    while let Some(start) = text[at..].find(is_of_word).map(|found| at + found) {
        let rest = &text[start..];
        let end = start + rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
        at = end;
        let word = text[start..end].trim_end_matches('?');
        if !word.contains(is_sign) {
            continue;
        }
        words(pieces, taken, start);
        taken = end;
        let prefix = word.trim_end_matches('*');
        if !word.contains(char::is_alphanumeric) {
            pieces.push(Piece::Star);
        } else if prefix.contains(is_sign) {
            pieces.push(Piece::Wildcard(word));
        } else {
            pieces.push(Piece::Prefix(prefix));
        }
    }
    words(pieces, taken, text.len());
}

#[cfg(test)]
mod tests {
    use super::Piece::{Near, Prefix, Star, Wildcard, Words};
    use super::*;

    #[test]
    fn runs_in_pieces() {
        let near = |word, digits| Near { word, digits };
        for (run, expected) in [
            ("word", vec![Words("word")]),
            ("why?", vec![Words("why?")]),
            ("wor*", vec![Prefix("wor")]),
            ("wor*?", vec![Prefix("wor")]),
            ("w?rd", vec![Wildcard("w?rd")]),
            ("*rd", vec![Wildcard("*rd")]),
            ("w*d-x?", vec![Wildcard("w*d"), Words("-x?")]),
            ("foo-bar*", vec![Words("foo-"), Prefix("bar")]),
            ("foo-bar~", vec![Words("foo-"), near("bar", "")]),
            ("größe~2", vec![near("größe", "2")]),
            ("*", vec![Star]),
            ("~user", vec![Words("~user")]),
            ("a~b", vec![Words("a~b")]),
            ("a.php?id=3", vec![Words("a.php?id=3")]),
            ("", vec![]),
        ] {
            assert_eq!(pieces(run), expected, "{run}");
        }
    }
}
