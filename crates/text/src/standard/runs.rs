//! Segmentation of a text into runs: what stands together without a separator.
//!
//! ```text
//! text     := { run | separator }
//! run      := word | compound | letters | emoji
//! word     := letters of one case form, or digits                              Snow  DOCS  café  2026
//! compound := [.] element { [joiner] element } [++ | #]                        e-mail  FooBar  5kg  v1.2  C++  .NET
//! element  := letters | number
//! number   := digits { (. | , | ' | U+202F) digits }                           1,000  3.14  1.2.3
//! letters  := Han, kana and Hangul, or Thai, Lao, Khmer and Burmese            東京都  สวัสดี
//! ```
//!
//! Words are those of Unicode (UAX #29) but for what compounds tie and pairs of letters cut. A character of class
//! `Extend` belongs to the one before it. Offsets are those of the original text. Each character is visited a bounded
//! number of times.

use super::class::{ASCII, Class, class_of, digit_of};
use super::rules::Edition;
use smallvec::SmallVec;

/// Upper limit on the elements of a compound. What follows begins another.
pub(super) const ELEMENTS_MAX: usize = 16;

/// Tie of an element of a compound to the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// Letters follow digits, or digits letters.
    Adjacent,
    /// A hyphen or an underscore.
    Hyphen,
    Apostrophe,
    Dot,
    Ampersand,
    At,
}

/// Letters or a number within a compound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_number: bool,
    pub(super) link: Link,
}

pub(super) type Elements = SmallVec<[Element; ELEMENTS_MAX]>;

/// A run of a text.
#[derive(Debug)]
pub(super) enum Run<'a> {
    /// ASCII letters in lower case, perhaps after one or all in upper case, or ASCII digits.
    Word { start: usize, end: usize },
    /// Anything else that is matched as a whole.
    Compound {
        start: usize,
        end: usize,
        elements: &'a [Element],
    },
    /// Letters that are indexed by pairs.
    Letters { start: usize, end: usize },
    /// One emoji, with all that modifies it.
    Emoji { start: usize, end: usize },
}

/// Calls `each` for every run of `text`, in order.
#[inline]
pub(super) fn each_run(edition: Edition, text: &str, mut each: impl FnMut(Run<'_>)) {
    let bytes = text.as_bytes();
    let mut elements = Elements::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte < 0x80 {
            if !ASCII[byte as usize].is_wordly() {
                at = match byte == b'.' && starts_dotted(bytes, at) {
                    true => compound(edition, text, at, &mut elements, &mut each),
                    false => at + 1,
                };
                continue;
            }
            let end = ascii_word_end(bytes, at);
            if is_end(edition, text, end, byte.is_ascii_digit()) {
                each(Run::Word { start: at, end });
                at = end;
            } else {
                at = compound(edition, text, at, &mut elements, &mut each);
            }
            continue;
        }
        let Some((class, next)) = class_at(edition, text, at) else {
            break;
        };
        at = match class {
            class if class.is_wordly() => compound(edition, text, at, &mut elements, &mut each),
            class if class.is_paired() => {
                let end = letters_end(edition, text, at);
                each(Run::Letters { start: at, end });
                end
            }
            Class::Emoji | Class::Regional => {
                let end = emoji_end(edition, text, at);
                each(Run::Emoji { start: at, end });
                end
            }
            _ => next,
        };
    }
}

/// Returns the class of the character at `at` and the offset after it.
#[inline]
fn class_at(edition: Edition, text: &str, at: usize) -> Option<(Class, usize)> {
    let byte = *text.as_bytes().get(at)?;
    if byte < 0x80 {
        return Some((ASCII[byte as usize], at + 1));
    }
    let character = text[at..].chars().next()?;
    Some((class_of(edition, character), at + character.len_utf8()))
}

/// Returns the end of the ASCII letters of one case form, or of the digits, that begin at `at`.
#[inline]
pub(super) fn ascii_word_end(bytes: &[u8], at: usize) -> usize {
    let while_is = |mut at: usize, is: fn(&u8) -> bool| {
        while bytes.get(at).is_some_and(is) {
            at += 1;
        }
        at
    };
    if bytes[at].is_ascii_digit() {
        return while_is(at, u8::is_ascii_digit);
    }
    let after = at + 1;
    match bytes[at].is_ascii_uppercase() && bytes.get(after).is_some_and(u8::is_ascii_uppercase) {
        true => while_is(after, u8::is_ascii_uppercase),
        false => while_is(after, u8::is_ascii_lowercase),
    }
}

/// Returns whether a simple word that ends at `end` is not the beginning of a compound.
#[inline]
fn is_end(edition: Edition, text: &str, end: usize, is_number: bool) -> bool {
    let bytes = text.as_bytes();
    let Some(&byte) = bytes.get(end) else {
        return true;
    };
    if matches!(byte, b' ' | b'\n') {
        return true;
    }
    let follows =
        |at: usize| class_at(edition, text, at).is_some_and(|(class, _)| class.is_wordly());
    match class_at(edition, text, end) {
        Some((class, _)) if class.is_wordly() || class == Class::Extend => false,
        Some((Class::Joiner, after)) => !follows(after),
        Some((_, after)) if is_number && separates_groups(edition, text, end) => {
            !matches!(class_at(edition, text, after), Some((Class::Digit, _)))
        }
        _ => suffix_end(text, end) == end,
    }
}

/// Returns whether a comma or a narrow space is at `at`, which may stand between groups of digits.
fn separates_groups(edition: Edition, text: &str, at: usize) -> bool {
    let rest = &text[at..];
    rest.starts_with([',', '\u{202F}'])
        || edition == Edition::Second && rest.starts_with(['\u{66B}', '\u{66C}', '\u{FF0C}'])
}

/// Returns whether the dot at `at` begins a name such as `.NET`.
pub(super) fn starts_dotted(bytes: &[u8], at: usize) -> bool {
    let is_free = |byte: u8| byte.is_ascii_whitespace() || b"([{\"'`/".contains(&byte);
    bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic)
        && at
            .checked_sub(1)
            .is_none_or(|before| is_free(bytes[before]))
}

/// Returns the end of `++` or `#` at `at`, which belongs to the name before it, as in `C++` and `F#`; or `at`.
fn suffix_end(text: &str, at: usize) -> usize {
    let rest = &text.as_bytes()[at..];
    let bytes = match rest {
        [b'+', b'+', ..] => 2,
        [b'#', ..] => 1,
        _ => return at,
    };
    let is_free =
        |&byte: &u8| byte < 0x80 && !byte.is_ascii_alphanumeric() && !b"+#".contains(&byte);
    match rest.get(bytes).is_none_or(is_free) {
        true => at + bytes,
        false => at,
    }
}

/// Reads the compound that begins at `start`; returns its end.
#[inline(never)]
fn compound(
    edition: Edition,
    text: &str,
    start: usize,
    elements: &mut Elements,
    each: &mut impl FnMut(Run<'_>),
) -> usize {
    elements.clear();
    let mut at = start + usize::from(text.as_bytes()[start] == b'.');
    let mut link = Link::Adjacent;
    while elements.len() < ELEMENTS_MAX {
        let Some((class, _)) = class_at(edition, text, at) else {
            break;
        };
        let is_number = !class.is_letter();
        let end = match class {
            Class::Digit => number_end(edition, text, at),
            Class::Fraction => letter_end(edition, text, at),
            _ => extent(edition, text, at, Class::is_letter),
        };
        elements.push(Element {
            start: at,
            end,
            is_number,
            link,
        });
        at = end;
        match class_at(edition, text, end) {
            Some((class, _)) if class.is_wordly() => link = Link::Adjacent,
            Some((Class::Joiner, after))
                if elements.len() < ELEMENTS_MAX
                    && class_at(edition, text, after)
                        .is_some_and(|(class, _)| class.is_wordly()) =>
            {
                link = link_of(&text[end..after]);
                at = after;
            }
            _ => break,
        }
    }
    let is_letters = elements.last().is_some_and(|last| !last.is_number);
    let end = match is_letters {
        true => suffix_end(text, at),
        false => at,
    };
    each(Run::Compound {
        start,
        end,
        elements,
    });
    end
}

fn link_of(joiner: &str) -> Link {
    match joiner {
        "." | "\u{FF0E}" => Link::Dot,
        "&" | "\u{FF06}" => Link::Ampersand,
        "@" | "\u{FF20}" => Link::At,
        "-" | "_" | "\u{2010}" | "\u{2011}" | "\u{B7}" | "\u{FF0D}" | "\u{FF3F}" | "\u{FE63}" => {
            Link::Hyphen
        }
        // What else joins is an apostrophe, or a letter that is typed as one.
        _ => Link::Apostrophe,
    }
}

/// Returns the end of the characters for which `is` holds, with the marks that extend them.
fn extent(edition: Edition, text: &str, mut at: usize, is: fn(Class) -> bool) -> usize {
    while let Some((class, next)) = class_at(edition, text, at) {
        if !is(class) && class != Class::Extend {
            break;
        }
        at = next;
    }
    at
}

/// Returns the sign of ASCII that a sign within a number stands for.
pub(super) fn sign_of_number(edition: Edition, sign: char) -> char {
    match sign {
        '\u{66B}' | '\u{FF0E}' if edition == Edition::Second => '.',
        '\u{66C}' | '\u{FF0C}' if edition == Edition::Second => ',',
        '\u{FF07}' if edition == Edition::Second => '\'',
        _ => sign,
    }
}

/// Returns the end of a number: digits, after dots too, and groups of three digits.
fn number_end(edition: Edition, text: &str, start: usize) -> usize {
    let is_digit = |class| class == Class::Digit;
    let mut end = extent(edition, text, start, is_digit);
    let mut dots_count = 0;
    while let Some(separator) = text[end..].chars().next() {
        let after = end + separator.len_utf8();
        let group_end = match class_at(edition, text, after) {
            Some((Class::Digit, _)) => extent(edition, text, after, is_digit),
            _ => break,
        };
        let is_group = match edition {
            Edition::First => group_end - after == 3,
            Edition::Second => {
                let digits = text[after..group_end].chars();
                digits.filter(|&digit| digit_of(digit).is_some()).count() == 3
            }
        };
        match sign_of_number(edition, separator) {
            '.' => dots_count += 1,
            ',' | '\'' | '\u{2019}' | '\u{202F}' if is_group => {}
            // The decimal comma of `1.234,56`.
            ',' if dots_count > 0 => return group_end,
            _ => break,
        }
        end = group_end;
    }
    end
}

/// Returns the end of a run of letters that are indexed by pairs. A line break between Han letters is not in the word.
fn letters_end(edition: Edition, text: &str, start: usize) -> usize {
    let mut end = start;
    let mut last = Class::Other;
    let mut at = start;
    while let Some((class, next)) = class_at(edition, text, at) {
        let is_same =
            (class == Class::Southeast) == (last == Class::Southeast) || last == Class::Other;
        match class {
            Class::Extend => {}
            class if class.is_paired() && is_same => last = class,
            Class::Other if last == Class::Han => match after_line_break(edition, text, at) {
                Some(after) => {
                    at = after;
                    continue;
                }
                None => break,
            },
            _ => break,
        }
        at = next;
        end = next;
    }
    end
}

/// Returns the offset after a single line break at `at` that a Han letter follows.
pub(super) fn after_line_break(edition: Edition, text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let after = match rest.as_bytes() {
        [b'\r', b'\n', ..] => at + 2,
        [b'\n', ..] => at + 1,
        _ => return None,
    };
    matches!(class_at(edition, text, after), Some((Class::Han, _))).then_some(after)
}

/// Returns the end of the letter at `at`, with the marks on it.
pub(super) fn letter_end(edition: Edition, text: &str, at: usize) -> usize {
    match class_at(edition, text, at) {
        Some((_, next)) => extent(edition, text, next, |_| false),
        None => at,
    }
}

/// Returns the end of an emoji: a flag, or a picture with its modifiers and those joined to it.
fn emoji_end(edition: Edition, text: &str, start: usize) -> usize {
    let (mut end, is_flag) = match class_at(edition, text, start) {
        Some((class, next)) => (next, class == Class::Regional),
        None => return start,
    };
    if is_flag {
        return match class_at(edition, text, end) {
            Some((Class::Regional, next)) => next,
            _ => end,
        };
    }
    while let Some(character) = text[end..].chars().next() {
        let joined = text[..end].ends_with('\u{200D}');
        let belongs = match class_of(edition, character) {
            Class::Extend => true,
            Class::Emoji => joined || super::class::is_tone(character),
            _ => false,
        };
        if !belongs {
            break;
        }
        end += character.len_utf8();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    fn runs(text: &str) -> Vec<&str> {
        runs_of(Edition::First, text)
    }

    fn runs_of(edition: Edition, text: &str) -> Vec<&str> {
        let mut runs = Vec::new();
        each_run(edition, text, |run| {
            let (Run::Word { start, end }
            | Run::Compound { start, end, .. }
            | Run::Letters { start, end }
            | Run::Emoji { start, end }) = run;
            runs.push(&text[start..end]);
        });
        runs
    }

    #[test]
    fn what_stands_together() {
        for (text, expected) in [
            ("The quick brown fox.", "The|quick|brown|fox"),
            (
                "don't “stop” 'now' rock 'n' roll",
                "don't|stop|now|rock|n|roll",
            ),
            ("C++, C# (.NET) F# a#b 5+5", "C++|C#|.NET|F#|a|b|5|5"),
            (
                "1,000 1,2,3 3.14. 1.234,56 1'000 5kg v1.2.3",
                "1,000|1|2|3|3.14|1.234,56|1'000|5kg|v1.2.3",
            ),
            ("end. Next e.g. U.S.A.", "end|Next|e.g|U.S.A"),
            ("東京都ABC한국어 สวัสดี東", "東京都|ABC|한국어|สวัสดี|東"),
            ("東\n京 東\n\n京 東 京", "東\n京|東|京|東|京"),
            (
                "👍🏽👨\u{200D}👩🇩🇪🇫🇷1\u{FE0F}\u{20E3}",
                "👍🏽|👨\u{200D}👩|🇩🇪|🇫🇷|1\u{FE0F}\u{20E3}",
            ),
            ("cafe\u{301} हिन्दी \u{301}x", "cafe\u{301}|हिन्दी|x"),
        ] {
            assert_eq!(runs(text).join("|"), expected, "{text}");
        }
    }

    #[test]
    fn compounds_are_cut() {
        let text = "a-".repeat(ELEMENTS_MAX * 2);
        assert_eq!(runs(&text).len(), 2);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn runs_are_in_order_and_hold_every_letter(text in any::<String>()) {
            let mut from = 0;
            let mut outside = String::new();
            for run in runs(&text) {
                let start = run.as_ptr() as usize - text.as_ptr() as usize;
                prop_assert!(start >= from && !run.is_empty());
                outside.push_str(&text[from..start]);
                from = start + run.len();
            }
            outside.push_str(&text[from..]);
            prop_assert!(!outside.chars().any(|c| class_of(Edition::First, c).is_wordly() || class_of(Edition::First, c).is_paired()));
        }

        /// Where nothing is tied or paired, words are those of UAX #29, without marks that stand on no letter.
        #[test]
        fn words_are_those_of_unicode(text in "([a-zA-Zéßçאבжяωά0-9हिन्दी\u{301}\u{94D}\u{5B0}\u{AD}]{1,4}|[ !?(…—\n\u{200B}])*") {
            let expected: Vec<&str> = unicode_words(&text).collect();
            prop_assert_eq!(runs(&text), expected);
        }
    }

    fn unicode_words(text: &str) -> impl Iterator<Item = &str> {
        let is_outside = |character| !class_of(Edition::First, character).is_wordly();
        let words = text.unicode_words();
        let words = words.map(move |word| word.trim_start_matches(is_outside));
        words.filter(|word| !word.is_empty())
    }
}
