//! Limits of patterns.

/// Upper limit on the characters of a pattern; a longer one is cut by [`Pattern::of_wildcard`](super::Pattern::of_wildcard) and [`Pattern::near`](super::Pattern::near).
pub const PATTERN_CHARACTERS_MAX: usize = 128;
/// Upper limit on the edits of [`Pattern::Near`](super::Pattern::Near).
pub const EDITS_MAX: u8 = 2;
