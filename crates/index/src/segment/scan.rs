//! Comparison of a pattern with sorted keys, which passes over those that cannot match.

use crate::Field;
use crate::terms;
use text::{Pattern, PatternMatcher, Verdict};

/// Keys passed over one by one before the dictionary is searched for the next that can match.
const PASSED_MAX: u32 = 16;
/// Keys read for each call without a match.
const KEYS_A_CALL: u32 = 64;

/// Comparison of a pattern with the keys of a dictionary, in order.
pub(super) struct Scan {
    /// Beginning of all keys that can match.
    pub(super) literal: Vec<u8>,
    pub(super) is_prefix: bool,
    pub(super) is_near: bool,
    matcher: PatternMatcher,
    /// Beginning of keys of which none matches, and the number of them passed over.
    dead: Vec<u8>,
    passed: u32,
    read: u32,
}

/// What follows from the comparison with a key.
pub(super) enum Step<'k> {
    /// No later key matches.
    End,
    /// The word matches.
    Match(&'k str),
    Miss,
    /// Keys before this one do not match.
    Jump(Vec<u8>),
}

impl Scan {
    /// Returns the comparison with the keys of a field.
    pub(super) fn of_field(field: Field, pattern: &Pattern) -> Scan {
        let literal = terms::with_key(field, pattern.literal(), |key| key.bytes.to_vec());
        Scan::new(literal, pattern)
    }

    /// Returns the comparison of the keys that begin with `literal`: a byte, and the literal of the pattern.
    pub(super) fn new(literal: Vec<u8>, pattern: &Pattern) -> Scan {
        Scan {
            literal,
            is_prefix: matches!(
                pattern,
                Pattern::Prefix(_) | Pattern::NearStart { edits: 0, .. }
            ),
            is_near: matches!(pattern, Pattern::Near { .. } | Pattern::NearStart { .. }),
            matcher: PatternMatcher::new(pattern),
            dead: Vec::new(),
            passed: 0,
            read: 0,
        }
    }

    /// Compares the pattern with the next key, whose word begins after its field.
    pub(super) fn judge<'k>(&mut self, key: &[u8], word: &'k [u8]) -> Step<'k> {
        if !key.starts_with(&self.literal) {
            return Step::End;
        }
        self.read += 1;
        if !self.dead.is_empty() && key.starts_with(&self.dead) {
            self.passed += 1;
            return match self.passed > PASSED_MAX {
                true => successor(&self.dead).map_or(Step::End, Step::Jump),
                false => Step::Miss,
            };
        }
        let Ok(word) = std::str::from_utf8(word) else {
            return Step::Miss;
        };
        if self.is_prefix {
            return Step::Match(word);
        }
        match self.matcher.judge(word) {
            Verdict::Match => Step::Match(word),
            Verdict::Miss => Step::Miss,
            Verdict::Dead(bytes) => {
                self.dead.clear();
                self.dead.extend_from_slice(&key[..=bytes]);
                self.passed = 0;
                Step::Miss
            }
        }
    }

    pub(super) fn is_call_due(&self) -> bool {
        self.read.is_multiple_of(KEYS_A_CALL)
    }
}

/// Returns the least key that is greater than all that begin with `prefix`.
pub(super) fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let kept = prefix.iter().rposition(|&byte| byte < u8::MAX)?;
    let mut next = prefix[..=kept].to_vec();
    next[kept] += 1;
    Some(next)
}
