//! Ranking functions: BM25 and classic tf·idf.

/// How documents are scored.
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
}

impl Default for Ranking {
    fn default() -> Self {
        Ranking::Bm25 { k1: 1.2, b: 0.75 }
    }
}
