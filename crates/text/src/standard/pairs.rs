//! Pairs of letters of scripts without blanks: a term for each letter with the next one, and for the last letter alone.
//!
//! Two letters or more are found as a phrase of their pairs, which is exactly where they stand; one letter is a prefix.

use super::fold::fold_bare_into;
use super::runs::{after_line_break, letter_end};

/// Byte ranges of the letters of the run `start..end`.
pub(super) fn letters(
    text: &str,
    [start, end]: [usize; 2],
) -> impl Iterator<Item = [usize; 2]> + '_ {
    let mut at = start;
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let from = after_line_break(text, at).unwrap_or(at);
        at = letter_end(text, from).max(from + 1);
        Some([from, at])
    })
}

/// Calls `each` with the term and range of every letter, together with the next.
pub(super) fn each_pair(
    text: &str,
    range: [usize; 2],
    buffer: &mut String,
    mut each: impl FnMut(&str, [usize; 2]),
) {
    let mut letters = letters(text, range).peekable();
    while let Some([start, end]) = letters.next() {
        buffer.clear();
        fold_bare_into(&text[start..end], buffer);
        let mut last = end;
        if let Some(&[next_start, next_end]) = letters.peek() {
            fold_bare_into(&text[next_start..next_end], buffer);
            last = next_end;
        }
        each(buffer, [start, last]);
    }
}
