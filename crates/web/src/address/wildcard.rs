//! Patterns with `*` for any bytes and a final `$` for the end, as robots.txt has them.
//!
//! pattern := literal {"*" literal} ["$"]
//!
//! A pattern matches a prefix of the text, or all of it with `$`. Without backtracking: the first literal must begin
//! the text, each further one is taken at its first place after the one before, and with `$` the last must end the
//! text. The first place is enough, since whatever follows a later place also follows the first. Cost: O(text +
//! pattern), by the two-way search of `memchr`.

use memchr::memmem;

/// Returns whether `pattern` matches `text`.
pub fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (pattern, anchored) = match pattern.split_last() {
        Some((b'$', rest)) => (rest, true),
        _ => (pattern, false),
    };
    let Some(star) = memchr::memchr(b'*', pattern) else {
        return if anchored {
            text == pattern
        } else {
            text.starts_with(pattern)
        };
    };
    let Some(mut rest) = text.strip_prefix(&pattern[..star]) else {
        return false;
    };
    let mut pattern = &pattern[star + 1..];
    while let Some(star) = memchr::memchr(b'*', pattern) {
        let literal = &pattern[..star];
        let Some(at) = memmem::find(rest, literal) else {
            return false;
        };
        rest = &rest[at + literal.len()..];
        pattern = &pattern[star + 1..];
    }
    if anchored {
        rest.ends_with(pattern)
    } else {
        memmem::find(rest, pattern).is_some()
    }
}

/// Returns the slow twin of [`matches`]: keeps the set of all places that the pattern may have reached. O(text ×
/// pattern).
pub fn matches_slowly(pattern: &[u8], text: &[u8]) -> bool {
    let mut places = vec![false; text.len() + 1];
    places[0] = true;
    for (idx, &byte) in pattern.iter().enumerate() {
        if byte == b'$' && idx + 1 == pattern.len() {
            return places[text.len()];
        }
        let mut next = vec![false; text.len() + 1];
        let mut reached = false;
        for at in 0..=text.len() {
            if byte == b'*' {
                reached |= places[at];
                next[at] = reached;
            } else if at > 0 {
                next[at] = places[at - 1] && text[at - 1] == byte;
            }
        }
        places = next;
    }
    places.contains(&true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(pattern: &str, text: &str, expected: bool) {
        assert_eq!(
            matches(pattern.as_bytes(), text.as_bytes()),
            expected,
            "{pattern} {text}"
        );
        assert_eq!(
            matches_slowly(pattern.as_bytes(), text.as_bytes()),
            expected,
            "slow {pattern} {text}"
        );
    }

    #[test]
    fn stars_and_ends() {
        check("", "", true);
        check("$", "", true);
        check("$", "a", false);
        check("/a", "/ab", true);
        check("/a$", "/ab", false);
        check("*a*$", "bab", true);
        check("/*.gif$", "/x.gif.gif", true);
        check("/*.gif$", "/x.gif?1", false);
        check("a*a$", "a", false);
        check("/a$b", "/a$b", true);
        check("/a$b", "/a", false);
        check("$$", "$", true);
    }

    proptest! {
        #[test]
        fn both_matchers_agree(pattern in "[ab*$]{0,12}", text in "[ab$*]{0,16}") {
            prop_assert_eq!(
                matches(pattern.as_bytes(), text.as_bytes()), matches_slowly(pattern.as_bytes(), text.as_bytes())
            );
        }
    }
}
