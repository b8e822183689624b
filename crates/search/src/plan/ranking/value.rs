//! Ranking as a value: a model and its parameters.

/// A ranking model with its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ranking {
    /// BM25 (Robertson & Zaragoza 2009), without the constant factor k1 + 1.
    Bm25 {
        /// Saturation of the term frequency.
        k1: f32,
        /// Strength of length normalisation.
        b: f32,
    },
    /// Classic tf·idf: √tf · idf² / √length.
    TfIdf,
    /// Query likelihood with Dirichlet smoothing (Zhai & Lafferty 2001), never below 0.
    Dirichlet {
        /// Weight of the collection, in words.
        mu: f32,
    },
}
