//! Pairs of letters of scripts without blanks: a term for each letter with the next one, and for the last letter alone.
//!
//! Two letters or more are found as a phrase of their pairs, which is exactly where they stand; one letter is a prefix.

use super::fold::fold_bare_into;
use super::rules::Edition;
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
        // Both editions have the same letters here.
        let from = after_line_break(Edition::First, text, at).unwrap_or(at);
        at = letter_end(Edition::First, text, from).max(from + 1);
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
    let with_form = |[start, end]: [usize; 2]| ([start, end], is_folded(&text[start..end]));
    let mut letters = letters(text, range).map(with_form).peekable();
    while let Some(([start, end], folded)) = letters.next() {
        let next = letters.peek().copied();
        let last = next.map_or(end, |([_, next_end], _)| next_end);
        let are_together = next.is_none_or(|([next_start, _], folded)| folded && next_start == end);
        if folded && are_together {
            each(&text[start..last], [start, last]);
            continue;
        }
        buffer.clear();
        fold_bare_into(&text[start..end], buffer);
        if let Some(([next_start, next_end], _)) = next {
            fold_bare_into(&text[next_start..next_end], buffer);
        }
        each(buffer, [start, last]);
    }
}

/// Returns whether a letter with its marks is certainly its own folded form: most are.
fn is_folded(letter: &str) -> bool {
    let mut characters = letter.chars();
    let is_base = matches!(
        characters.next(),
        Some(
            '\u{3041}'..='\u{3096}'
            | '\u{30A1}'..='\u{30FA}'
            | '\u{30FC}'
            | '\u{3400}'..='\u{4DBF}'
            | '\u{4E00}'..='\u{9FFF}'
            | '\u{AC00}'..='\u{D7A3}'
            | '\u{E01}'..='\u{E30}'
            | '\u{E40}'..='\u{E45}'
            | '\u{1780}'..='\u{17B3}',
        )
    );
    // Two marks may be in another order.
    let is_mark = |mark| matches!(mark, '\u{E31}' | '\u{E34}'..='\u{E3A}' | '\u{E47}'..='\u{E4D}' | '\u{17B6}'..='\u{17C8}');
    is_base
        && match (characters.next(), characters.next()) {
            (None, _) => true,
            (Some(mark), None) => is_mark(mark),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn what_is_folded_stays_as_it_is(letter in "[\u{E00}-\u{E7F}\u{1780}-\u{17FF}\u{3040}-\u{30FF}\u{3400}-\u{9FFF}\u{AC00}-\u{D7AF}]{1,2}") {
            let mut folded = String::new();
            fold_bare_into(&letter, &mut folded);
            prop_assert!(!is_folded(&letter) || folded == letter, "{:?} {:?}", letter, folded);
        }

        #[test]
        fn pairs_are_those_of_folding_each(text in "[あがカｶﾞー東京한국กำสวัดี\u{E38}\u{E49}\u{301}\n]{1,12}") {
            let start = text.len() - text.trim_start().len();
            let mut fast = Vec::new();
            each_pair(&text, [start, text.len()], &mut String::new(), |term, _| fast.push(term.to_owned()));
            let folded: Vec<String> = letters(&text, [start, text.len()]).map(|[start, end]| {
                let mut folded = String::new();
                fold_bare_into(&text[start..end], &mut folded);
                folded
            }).collect();
            let next = folded.iter().skip(1).map(String::as_str).chain([""]);
            let slow: Vec<String> = folded.iter().zip(next).map(|(one, next)| format!("{one}{next}")).collect();
            prop_assert_eq!(fast, slow);
        }
    }
}
