//! Telling words: those of a query that decide which documents it finds.
//!
//! Words that stand nearly everywhere say nothing of a document: of `how do solar sails steer` one that holds *how* and *do*
//! is no answer, and one without them may be. So a word is telling by its inverse document frequency beside the greatest of the
//! query, whatever the language; all words add to the score.

/// Least inverse document frequency of a telling word, as a share of the greatest in the query.
pub const TELLING_SHARE: f32 = 0.2;

/// Room for the rounding of scores to their grid, as a share of a bound.
const ROUNDING: f64 = 1e-3;

/// Telling words of the clauses of a query that ask for them.
#[derive(Debug, Default)]
pub(super) struct Telling {
    /// As terms of the text, those that no document holds included.
    pub(super) words: Vec<String>,
    /// Terms of the text that are not telling.
    pub(super) others: Vec<String>,
    /// Least of the upper bounds on the scores of telling words that are all required; `None` where one of them is no single
    /// word.
    pub(super) least: Option<f64>,
}

impl Telling {
    /// Returns an upper bound on the score of a document that holds a telling word and lacks another, where all telling words
    /// are required; `most` is that on the score of any document.
    pub(super) fn incomplete_most(&self, most: f64) -> Option<f32> {
        let most = most - self.least?;
        Some((most * (1.0 + ROUNDING)) as f32)
    }
}
