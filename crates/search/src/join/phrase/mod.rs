//! Phrases: stored pairs of words, a conjunction of the words, and their positions.

pub(crate) mod bigrams;
pub(crate) mod pattern;
pub(crate) mod positions;
pub(crate) mod search;
mod verify;
