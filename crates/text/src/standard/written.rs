//! Writing of numbers and letters in the second edition, before they are folded: digits of any script, fractions, signs made
//! of letters.

use super::class::{digit_of, is_fraction, is_squared};
use super::rules::Edition;
use super::runs::sign_of_number;
use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;

/// Returns the numbers above and below the bar of a fraction of one character; none below the bar of `⅟`.
pub(super) fn fraction(written: &str) -> Option<(String, String)> {
    let first = written.chars().next().filter(|&first| is_fraction(first))?;
    let folded: String = std::iter::once(first).nfkc().collect();
    let (above, below) = folded.split_once('\u{2044}')?;
    Some((above.to_owned(), below.to_owned()))
}

/// Returns a number of any script in digits of ASCII.
pub(super) fn folded_number(written: &str) -> Cow<'_, str> {
    if written.is_ascii() {
        return written.into();
    }
    if let Some((above, below)) = fraction(written) {
        return format!("{above}-{below}")
            .trim_end_matches('-')
            .to_owned()
            .into();
    }
    let signs = written
        .chars()
        .map(|sign| sign_of_number(Edition::Second, sign));
    let folded = signs.flat_map(|character| std::iter::once(character).nfkc());
    let in_ascii = folded.filter_map(|character| match digit_of(character) {
        Some(value) => char::from_digit(value, 10),
        None => Some(character).filter(|&c| {
            c.is_alphanumeric() || matches!(c, '.' | ',' | '\'' | '\u{2019}' | '\u{202F}')
        }),
    });
    let in_ascii: String = in_ascii.collect();
    // The dot of `⒈`.
    in_ascii.trim_end_matches('.').to_owned().into()
}

/// Returns letters without the apostrophes that their folding would bring, and with the letters of signs such as `㎏`.
pub(super) fn folded_letters(written: &str) -> Cow<'_, str> {
    let is_other = |character: char| matches!(character, 'ŉ' | 'ẚ') || is_squared(character);
    if written.is_ascii() || !written.contains(is_other) {
        return written.into();
    }
    let mut folded = String::with_capacity(written.len());
    for character in written.chars() {
        match character {
            'ŉ' => folded.push('n'),
            'ẚ' => folded.push('a'),
            _ if is_squared(character) => folded.extend(std::iter::once(character).nfkc()),
            _ => folded.push(character),
        }
    }
    folded.into()
}
