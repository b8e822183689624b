//! Assembly of the hits of an answer: numbers alone, or details and summaries.

use crate::calls::TextSummary;
use crate::coordinator::prepared::PreparedQuery;
use crate::coordinator::proof::MadeSummary;
use crate::coordinator::ranking::Found;
use crate::coordinator::shown::Shown;
use crate::details::{HitDetails, shown as shown_details};
use crate::missing_terms::as_typed;
use crate::returned::HitContents;
use crate::site_limit::Candidate;
use fields::Value;
use std::collections::HashMap;
use text::summary::{SummaryOptions, SummaryQuery};
use wire::{Hit, HitNumbers};

/// Returns the numbers of the hits of the page.
pub(crate) fn numbers(found: &Found) -> Vec<HitNumbers> {
    let of = |candidate: &Candidate| HitNumbers {
        score: score_of(candidate),
        segment: candidate.hit.segment,
        document: candidate.hit.doc.0,
        url_hash: candidate.hit.url_hash,
        site_hash: candidate.hit.site_hash,
    };
    found.page.iter().map(of).collect()
}

/// Returns the hits of the page, without those whose details are lost.
pub(crate) fn hits(
    found: Found,
    shown: Shown,
    prepared: &PreparedQuery,
    warnings: &mut Vec<String>,
) -> Vec<Hit> {
    let typed = &prepared.query.text;
    let contents = prepared.options.returned.hits;
    let ids_alone = contents <= HitContents::Ids;
    let marked = prepared.analyzer.filter(|_| !ids_alone);
    let marks = marked.map(|analyzer| {
        let terms = found.summary_terms.clone();
        SummaryQuery::new(analyzer, terms, SummaryOptions::default())
    });
    let mut hits = Vec::with_capacity(shown.details.len());
    let mut sort_values = found.sort_values.into_iter();
    let mut hidden = shown.hidden.into_iter();
    for ((candidate, hit), summary) in found.page.iter().zip(shown.details).zip(shown.summaries) {
        let sort = sort_json(&sort_values.next().unwrap_or_default());
        let hidden = hidden.next().unwrap_or(0);
        let Some(mut hit) = hit else { continue };
        if ids_alone {
            hit.details.title.clear();
            hit.details.site.clear();
        }
        if summary == MadeSummary::NoText {
            warnings.push(format!(
                "the document store has no text of {}; index the document again",
                hit.details.url
            ));
        }
        let lacks = match prepared.analyzer {
            Some(analyzer) => as_typed(typed, analyzer, &hit.lacks),
            None => hit.lacks.clone(),
        };
        let mut hit = hit_of(candidate, hit, summary, &shown.has_more);
        if !contents.has_summaries() {
            // It came with the fields.
            hit.summary.clear();
        }
        let title_html = marks.as_ref().and_then(|marks| marks.highlight(&hit.title));
        hits.push(Hit {
            sort,
            hidden,
            lacks,
            title_html: title_html.unwrap_or_default(),
            ..hit
        });
    }
    hits
}

/// Returns the score of a hit; 0 where it stands for a place.
fn score_of(candidate: &Candidate) -> f32 {
    match candidate.hit.is_pinned() {
        true => 0.0,
        false => candidate.hit.score,
    }
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
        score: score_of(candidate),
        pinned: candidate.hit.is_pinned(),
        summary: text.html,
        // Fields that cannot be read are as good as none: documents are checked before they are stored.
        fields: json::parse_object(&text.fields).unwrap_or_default(),
        cut,
        lacks: Vec::new(),
        sort: Vec::new(),
        held_back: candidate.is_held_back,
        hidden: 0,
        more_from_site: has_more.get(site_hash).copied().unwrap_or(false),
        explanation: hit.explanation,
    }
}

/// Returns the values by which a hit is sorted as JSON, null where it has none.
fn sort_json(values: &[Option<Value>]) -> Vec<serde_json::Value> {
    let json = |value: &Option<Value>| value.as_ref().map(Value::to_json).unwrap_or_default();
    values.iter().map(json).collect()
}
