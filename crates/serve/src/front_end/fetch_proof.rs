//! Proof that the fetch phase is complete.

use crate::api::messages::{HitDetails, TextSummary};
use crate::api::options::SearchOptions;
use engine::site_limit::Candidate;
use std::collections::HashMap;

/// Proof that every hit of a page has its details, its summary where there is a text, and its site's count. Only
/// [`certain`] makes one.
#[derive(Debug)]
pub(crate) struct CertainDetails(());

/// Returns the proof for the hits of `page`, or `None` where a hit lacks anything.
pub(super) fn certain(
    options: &SearchOptions,
    page: &[Candidate],
    details: &[Option<HitDetails>],
    summaries: &[MadeSummary],
    has_more: &HashMap<u64, bool>,
) -> Option<CertainDetails> {
    let has_details = |hit: &Option<HitDetails>| {
        let explained = |hit: &HitDetails| hit.explanation.is_some() || !options.explain;
        hit.as_ref().is_some_and(explained)
    };
    let is_whole = details.iter().all(has_details)
        && !summaries.contains(&MadeSummary::Lost)
        && page
            .iter()
            .all(|one| has_more.contains_key(&one.hit.site_hash));
    is_whole.then_some(CertainDetails(()))
}

/// Outcome of the summary of a hit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum MadeSummary {
    Made(TextSummary),
    /// The document store has no text of the hit.
    NoText,
    /// The document server gave no summary.
    Lost,
}
