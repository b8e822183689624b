//! Figures of each index of a server of many.

use super::change::Change;
use super::phase::{PhaseView, phase_view};
use serde::Serialize;

const LABEL: &str = "index";

/// Figures of one index.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct IndexView {
    pub(crate) index: String,
    pub(crate) documents: Option<f64>,
    pub(crate) generation: Option<f64>,
    pub(crate) queries_per_s: Option<f64>,
    pub(crate) errors_per_s: Option<f64>,
    /// Times of whole searches; `None` before the second reading.
    pub(crate) total: Option<PhaseView>,
}

impl Change<'_> {
    /// Returns the open indexes, the one with the most searches first.
    pub(super) fn indexes(&mut self) -> Vec<IndexView> {
        let generations = self.now.by("shorttail_generation", LABEL);
        let documents = self.now.by("shorttail_documents", LABEL);
        let queries = self.rates("shorttail_queries_total", LABEL);
        let errors = self.rates("shorttail_errors_total", LABEL);
        let times = self.histograms("shorttail_search_seconds");
        let time_of = |name: &String| {
            let mut found = times.iter();
            let found = found.find(|(labels, _)| labels.get(LABEL) == Some(name));
            found.map(|(_, histogram)| phase_view("total", histogram))
        };
        let mut views: Vec<IndexView> = generations
            .iter()
            .map(|(name, generation)| IndexView {
                index: name.clone(),
                documents: documents.get(name).copied(),
                generation: Some(*generation),
                queries_per_s: queries.get(name).copied(),
                errors_per_s: errors.get(name).copied(),
                total: time_of(name),
            })
            .collect();
        let rate = |view: &IndexView| view.queries_per_s.unwrap_or(0.0);
        // Stable: those without searches stay in the order of their names.
        views.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
        views
    }
}
