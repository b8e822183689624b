//! Limits of a query, which keep its evaluation bounded.

/// Upper limit on a query, in bytes; the rest is cut off.
pub const QUERY_BYTES_MAX: usize = 16 << 10;
/// Upper limit on the nesting of parentheses; deeper ones are ignored.
pub const DEPTH_MAX: usize = 32;
/// Upper limit on clauses within each other in a tree: one level of parentheses can make three and a weight, and a word
/// within it two more.
pub(crate) const NESTED_MAX: usize = 5 * DEPTH_MAX;
/// Upper limit on words, including those of phrases; further ones are ignored.
pub const CLAUSES_MAX: usize = 1024;
/// Upper limit on the words of a phrase; further ones are ignored.
pub const PHRASE_WORDS_MAX: usize = 64;
/// Upper limit on the other ways in which phrases are looked for, beside those as typed; further ones are ignored.
pub const WAYS_MAX: usize = 1024;
/// Upper limit on different prefixes, since each stands for thousands of words; further ones are
/// ignored.
pub const PATTERNS_MAX: usize = 16;
/// Upper limit on slop; a greater one is lowered to it.
pub const SLOP_MAX: u32 = 64;
/// Lowest boost of a clause.
pub const BOOST_MIN: f32 = 1e-6;
/// Highest boost of a clause: weights stay numbers, and their sums exact, in every combination within the limits.
pub const BOOST_MAX: f32 = 1e6;
/// Longest name of a clause, in bytes.
pub const NAME_BYTES_MAX: usize = 256;
/// Upper limit on named clauses.
pub const NAMES_MAX: usize = 64;
/// Upper limit on warnings.
pub const WARNINGS_MAX: usize = 16;
/// Upper limit on the URLs of one clause, so also on those that rules pin and hide for one query.
pub const URLS_MAX: usize = 1_000;
