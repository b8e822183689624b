//! Assembly of the hits of an answer from details and summaries.

use crate::api::messages::{HitDetails, TextSummary};
use crate::front_end::query_phase::Found;
use crate::front_end::{fetch_phase::Shown, fetch_proof::MadeSummary};
use engine::details::shown as shown_details;
use engine::lacks::as_typed;
use engine::site_limit::Candidate;
use engine::sort_json;
use std::collections::HashMap;
use text::Analyzer;
use text::summary::{SummaryOptions, SummaryQuery};
use wire::Hit;

// An id that is taken today is never cut.
const _: () = assert!(engine::details::ID_BYTES_MAX >= corpus::json_line::ID_BYTES_MAX);
const _: () = assert!(engine::details::URL_BYTES_MAX >= corpus::json_line::URL_BYTES_MAX);

/// Returns the hits of the page, without those whose details are lost.
pub(crate) fn assemble(
    found: Found,
    shown: Shown,
    analyzer: Option<Analyzer>,
    warnings: &mut Vec<String>,
) -> Vec<Hit> {
    let typed = &found.query.text;
    let marks = analyzer.map(|analyzer| {
        let terms = found.summary_terms.clone();
        SummaryQuery::new(analyzer, terms, SummaryOptions::default())
    });
    let mut hits = Vec::with_capacity(shown.details.len());
    let mut sort_values = found.sort_values.into_iter();
    for ((candidate, hit), summary) in found.page.iter().zip(shown.details).zip(shown.summaries) {
        let sort = sort_json(&sort_values.next().unwrap_or_default());
        let Some(hit) = hit else { continue };
        if summary == MadeSummary::NoText {
            warnings.push(format!(
                "the document store has no text of {}; index the document again",
                hit.details.url
            ));
        }
        let lacks = match analyzer {
            Some(analyzer) => as_typed(typed, analyzer, &hit.lacks),
            None => hit.lacks.clone(),
        };
        let hit = hit_of(candidate, hit, summary, &shown.has_more);
        let title_html = marks.as_ref().and_then(|marks| marks.highlight(&hit.title));
        hits.push(Hit {
            sort,
            lacks,
            title_html: title_html.unwrap_or_default(),
            ..hit
        });
    }
    hits
}

fn hit_of(
    candidate: &Candidate,
    hit: HitDetails,
    summary: MadeSummary,
    has_more: &HashMap<u64, bool>,
) -> Hit {
    let site_hash = &candidate.hit.site_hash;
    let text = match summary {
        MadeSummary::Made(text) => text,
        MadeSummary::NoText | MadeSummary::Lost => TextSummary::default(),
    };
    let (details, mut cut) = shown_details(hit.details);
    cut.extend(text.cut);
    Hit {
        id: details.id,
        url: details.url,
        title: details.title,
        title_html: String::new(),
        site: details.site,
        score: candidate.hit.score,
        summary: text.html,
        // Fields that cannot be read are as good as none: documents are checked before they are stored.
        fields: json::parse_object(&text.fields).unwrap_or_default(),
        cut,
        lacks: Vec::new(),
        sort: Vec::new(),
        more_from_site: has_more.get(site_hash).copied().unwrap_or(false),
        explanation: hit.explanation,
    }
}
