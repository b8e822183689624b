//! Window borders: extension of a window to readable starts and ends around the words it must show.
//!
//! Lengths are visible bytes: a run of white space counts as one space, as shown. A window starts at a sentence or a
//! word and ends at a word's end; only a word longer than the window is cut.
use super::shown::{Shown, shown};
use crate::analyzer::word_end;

/// Returns the best start before `from`, at most `visible_bytes_max` earlier and not before `low`. The start of the
/// sentence is best. Where it is too far, it is the start of a word within a third of the bytes, because the text after
/// the words tells more than the text before them.
pub(super) fn start_before(text: &str, low: usize, from: usize, visible_bytes_max: usize) -> usize {
    let mut start = from;
    let mut length = Length::default();
    let mut at = from;
    let mut after = text[from..].chars().next();
    while let Some(before) = text[low..at].chars().next_back() {
        if is_start(before, after) {
            if is_sentence_start(text, low, at) {
                return at;
            }
            if length.bytes <= visible_bytes_max / 3 {
                start = at;
            }
        }
        length.add(before);
        if length.bytes > visible_bytes_max {
            return start;
        }
        after = Some(before);
        at -= before.len_utf8();
    }
    low
}

/// Returns the earliest word start before `from`, at most `visible_bytes_max` earlier and not before `low`.
pub(super) fn word_start_before(
    text: &str,
    low: usize,
    from: usize,
    visible_bytes_max: usize,
) -> usize {
    let mut start = from;
    let mut length = Length::default();
    let mut at = from;
    let mut after = text[from..].chars().next();
    while let Some(before) = text[low..at].chars().next_back() {
        if is_start(before, after) {
            start = at;
        }
        length.add(before);
        if length.bytes > visible_bytes_max {
            return start;
        }
        after = Some(before);
        at -= before.len_utf8();
    }
    low
}

/// Returns the last word end at most `visible_bytes_max` after `from` and not after `high`. `from` is a word end
/// itself.
pub(super) fn end_after(text: &str, from: usize, high: usize, visible_bytes_max: usize) -> usize {
    let mut end = from;
    let mut length = Length::default();
    let mut before = text[..from].chars().next_back();
    for (at, after) in text[from..high].char_indices() {
        let is_end = match before {
            Some(before) if after.is_whitespace() => !before.is_whitespace(),
            Some(before) => before.is_alphanumeric() && !after.is_alphanumeric(),
            None => false,
        };
        if is_end {
            end = from + at;
        }
        length.add(after);
        if length.bytes > visible_bytes_max {
            return end;
        }
        before = Some(after);
    }
    high
}

/// Returns the offset at which a word that begins at `from` is cut, so that at most `visible_bytes_max` bytes show.
pub(super) fn cut_after(text: &str, from: usize, high: usize, visible_bytes_max: usize) -> usize {
    let mut length = Length::default();
    for (at, character) in text[from..high].char_indices() {
        length.add(character);
        // At least one character is shown, so a window is never empty.
        if length.bytes > visible_bytes_max && at > 0 {
            return from + at;
        }
    }
    high
}

/// Returns the number of visible bytes of `text`.
pub(super) fn visible_bytes(text: &str) -> usize {
    let mut length = Length::default();
    text.chars().for_each(|character| length.add(character));
    length.bytes
}

/// Returns whether a sentence starts at `at` or a few words before it. `at` is the start of a word.
pub(super) fn is_near_sentence_start(text: &str, at: usize) -> bool {
    const NEAR_BYTES: usize = 30;
    let start = start_before(text, 0, at, NEAR_BYTES);
    is_sentence_start(text, 0, start)
}

/// Returns the end of the word that continues at `at`, or `at` where none does.
pub(super) fn behind_word(text: &str, at: usize) -> usize {
    word_end(text, at)
}

#[derive(Default)]
struct Length {
    bytes: usize,
    in_space: bool,
}

impl Length {
    fn add(&mut self, character: char) {
        match shown(character) {
            Shown::Itself => {
                self.bytes += character.len_utf8();
                self.in_space = false;
            }
            Shown::Space if !self.in_space => {
                self.bytes += 1;
                self.in_space = true;
            }
            _ => {}
        }
    }
}

/// Returns whether a window may start between two characters.
fn is_start(before: char, after: Option<char>) -> bool {
    match after {
        Some(after) if before.is_whitespace() => !after.is_whitespace(),
        Some(after) => after.is_alphanumeric() && !before.is_alphanumeric(),
        None => false,
    }
}

/// Returns whether a sentence ends before `at`: with a stop and white space, or with an empty line.
fn is_sentence_start(text: &str, low: usize, at: usize) -> bool {
    const LOOKED_AT_MAX: usize = 32;
    let mut newlines = 0;
    let mut spaced = false;
    let mut left = text[low..at].chars().rev();
    for character in left.by_ref().take(LOOKED_AT_MAX) {
        match character {
            '\n' => {
                newlines += 1;
                spaced = true;
                if newlines == 2 {
                    return true;
                }
            }
            '。' | '！' | '？' => return true,
            '.' | '!' | '?' | '…' => return spaced,
            '"' | '\'' | '”' | '’' | ')' | ']' if spaced => {}
            _ if character.is_whitespace() => spaced = true,
            _ => return false,
        }
    }
    low == 0 && left.next().is_none()
}
