//! Relation of a term to a pattern.

/// Relation of a term to a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The term is in the set.
    Match,
    /// It is not, but longer ones that begin with it may be.
    Miss,
    /// No term that begins with this many bytes of it is in the set.
    Dead(usize),
}
