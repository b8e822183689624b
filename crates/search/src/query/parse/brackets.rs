//! Ranges in brackets, as Lucene writes them.
//!
//! ```text
//! [10 TO 20]   both ends included
//! {10 TO 20}   neither; `[10 TO 20}` and `{10 TO 20]` one of them
//! [10 TO *]    without an upper end
//! ["a b" TO "*"]   ends with blanks, and a `*` that is meant
//! ```

/// Longest text between brackets that is read as a range, in bytes: each bracket costs a bounded look ahead.
const RANGE_BYTES_MAX: usize = 4096;

/// Range in brackets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Brackets<'a> {
    pub(super) low: End<'a>,
    pub(super) high: End<'a>,
    /// Text with the brackets.
    pub(super) typed: &'a str,
}

/// End of a range in brackets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct End<'a> {
    pub(super) text: &'a str,
    pub(super) inclusive: bool,
    pub(super) is_quoted: bool,
}

/// Returns the range at the start of a text; `None` where it has none.
pub(super) fn brackets(text: &str) -> Option<Brackets<'_>> {
    let low_inclusive = match text.as_bytes().first()? {
        b'[' => true,
        b'{' => false,
        _ => return None,
    };
    let (low, rest) = end(text[1..].trim_start(), low_inclusive)?;
    let rest = after_blanks(rest)?.strip_prefix("TO")?;
    let (high, rest) = end(after_blanks(rest)?, true)?;
    let rest = rest.trim_start();
    let inclusive = match rest.as_bytes().first()? {
        b']' => true,
        b'}' => false,
        _ => return None,
    };
    let typed = &text[..text.len() - rest.len() + 1];
    (typed.len() <= RANGE_BYTES_MAX).then_some(Brackets {
        low,
        high: End { inclusive, ..high },
        typed,
    })
}

/// Returns the number of bytes up to and including a closing bracket; `None` where the next `RANGE_BYTES_MAX` bytes
/// have none.
pub(super) fn closed_bytes(text: &str) -> Option<usize> {
    let near = text.bytes().take(RANGE_BYTES_MAX);
    let at = near
        .enumerate()
        .find(|(_, byte)| matches!(byte, b']' | b'}'));
    at.map(|(at, _)| at + 1)
}

/// Reads one end, in quotation marks or up to a blank or closing bracket.
fn end(text: &str, inclusive: bool) -> Option<(End<'_>, &str)> {
    let near = || text.char_indices().take(RANGE_BYTES_MAX);
    if let Some(quoted) = text.strip_prefix('"') {
        let (close, _) = near().skip(1).find(|&(_, character)| character == '"')?;
        let end = End {
            text: &quoted[..close - 1],
            inclusive,
            is_quoted: true,
        };
        return Some((end, &text[close + 1..]));
    }
    let ends = |character: char| character.is_whitespace() || matches!(character, ']' | '}');
    let (bytes, _) = near().find(|&(_, character)| ends(character))?;
    let end = End {
        text: &text[..bytes],
        inclusive,
        is_quoted: false,
    };
    (bytes > 0).then_some((end, &text[bytes..]))
}

/// Drops one blank or more; `None` where there is none.
fn after_blanks(text: &str) -> Option<&str> {
    let trimmed = text.trim_start();
    (trimmed.len() < text.len()).then_some(trimmed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Option<String> {
        let found = brackets(text)?;
        let end = |end: End<'_>| {
            let quote = if end.is_quoted { "\"" } else { "" };
            format!(
                "{quote}{}{quote}{}",
                end.text,
                if end.inclusive { "=" } else { "" }
            )
        };
        Some(format!(
            "{}..{} of {}",
            end(found.low),
            end(found.high),
            found.typed
        ))
    }

    #[test]
    fn ends_and_brackets() {
        for (text, expected) in [
            ("[1 TO 2] x", Some("1=..2= of [1 TO 2]")),
            ("{1 TO 2]", Some("1..2= of {1 TO 2]")),
            ("[1  TO\t2}^3", Some("1=..2 of [1  TO\t2}")),
            ("[ 1 TO * ]", Some("1=..*= of [ 1 TO * ]")),
            (
                "[\"a b\" TO \"*\"]",
                Some("\"a b\"=..\"*\"= of [\"a b\" TO \"*\"]"),
            ),
            ("[TO TO TO]", Some("TO=..TO= of [TO TO TO]")),
            ("[é TO ü]", Some("é=..ü= of [é TO ü]")),
            ("[1 to 2]", None),
            ("[1 TO 2", None),
            ("[1 TO ]", None),
            ("[ TO 2]", None),
            ("[1TO2]", None),
            ("[\"a TO b]", None),
            ("1 TO 2]", None),
            ("[", None),
            ("", None),
        ] {
            assert_eq!(read(text).as_deref(), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in r#"[\[{][]a"é {}TO*]{0,20}"#) {
            if let Some(found) = brackets(&text) {
                prop_assert!(text.starts_with(found.typed));
            }
            closed_bytes(&text);
        }
    }
}
