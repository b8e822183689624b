//! Ranking as a value: a model and its parameters.

use serde::{Deserialize, Serialize};

/// A ranking model with its parameters. Serialized as text: `"bm25:k1=0.9,b=0.4"`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
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
