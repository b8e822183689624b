//! What became of each hit: its details, its summary and whether its site has more, put together.

use crate::admission::Candidate;
use crate::fan_out::Found;
use crate::transport::HitDetails;
use std::collections::HashMap;
use wire::Hit;

/// What became of the summary of a hit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum MadeSummary {
    Html(String),
    /// The document store has no text of it.
    NoText,
    /// Its server gave none.
    Lost,
}

/// The hits of the page; those whose details are lost are left out.
pub(crate) fn assemble(
    found: Found,
    details: Vec<Option<HitDetails>>,
    summaries: Vec<MadeSummary>,
    has_more: &HashMap<u64, bool>,
    warnings: &mut Vec<String>,
) -> Vec<Hit> {
    let mut hits = Vec::with_capacity(details.len());
    for ((candidate, hit), summary) in found.page.iter().zip(details).zip(summaries) {
        let Some(hit) = hit else { continue };
        if summary == MadeSummary::NoText {
            warnings.push(format!(
                "the document store has no text of {}; index the document again",
                hit.details.url
            ));
        }
        hits.push(shown(candidate, hit, summary, has_more));
    }
    hits
}

fn shown(
    candidate: &Candidate,
    hit: HitDetails,
    summary: MadeSummary,
    has_more: &HashMap<u64, bool>,
) -> Hit {
    let site_hash = &candidate.hit.site_hash;
    Hit {
        id: hit.details.id,
        url: hit.details.url,
        title: hit.details.title,
        site: hit.details.site,
        score: candidate.hit.score,
        summary: match summary {
            MadeSummary::Html(html) => html,
            MadeSummary::NoText | MadeSummary::Lost => String::new(),
        },
        more_from_site: has_more.get(site_hash).copied().unwrap_or(false),
        explanation: hit.explanation,
    }
}
