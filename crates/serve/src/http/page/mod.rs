//! Search page as HTML, with the same answer as the API.
//!
//! The page works without JavaScript and loads nothing from other servers. All text from documents and
//! queries is untrusted: templates escape it, except for summaries, which `text::summary` has escaped
//! already.

mod url;

pub(super) mod assets;
mod choices;
mod crawl;
mod document;
mod facets;
mod gantt;
mod home;
mod indexes;
mod missing;
mod paging;
mod settings;
mod texts;
mod times;

use crate::addresses::Addresses;
use crate::api::options::DEPTH_MAX;
use crate::api::options::SearchOptions;
use crate::http::page::settings::{api_pairs, pairs, settings};
use crate::http::page::url::{breadcrumb, local, web_address};
use askama::Template;
use assets::Files;
pub(crate) use crawl::crawl_status;
pub(crate) use document::{Marking, document};
use engine::details::TITLE_CHARS_MAX;
pub(crate) use facets::default_facets;
use facets::{Refining, refining, shown};
use gantt::{Gantt, gantt};
pub(crate) use home::home;
pub(crate) use indexes::{ListedIndex, indexes};
use missing::{Missing, missing};
use paging::{Pages, pages};
use search::Operator;
use std::time::Instant;
use texts::{cut, is_hidden, is_shown_as_stored, title, visible};
use times::{PhaseView, duration, phases, thousands};
use wire::{Hit, SearchAnswer};

#[derive(Template)]
#[template(path = "results.html")]
struct Results<'a> {
    files: Files,
    query: &'a str,
    hidden: &'a [(&'static str, String)],
    total: String,
    total_is_one: bool,
    total_is_exact: bool,
    /// Whether hits with some of the words are on the page.
    has_some: bool,
    none: bool,
    first: String,
    last: String,
    time: String,
    warnings: &'a [String],
    missing: Option<Missing>,
    all_words: Option<String>,
    hits_html: &'a str,
    refining: Refining,
    /// The query whose hits these are, and the link to the one typed.
    instead: Option<(&'a str, String)>,
    did_you_mean: Option<Corrected<'a>>,
    suggestions: Vec<(&'static str, String)>,
    start_over: Option<String>,
    previous: Option<String>,
    next: Option<String>,
    pages: Pages,
    /// Whether the times of the phases are shown at once.
    /// Whether documents with texts of those above are left out.
    hides_equal: bool,
    /// Link to the list with the hits of equal texts, where some are hidden.
    with_hidden: Option<String>,
    is_timed: bool,
    phases: Vec<PhaseView>,
    /// Link to the chart, on the page without it.
    timeline: Option<String>,
    gantt: Option<Gantt>,
    json: String,
}

/// A corrected query, beside one that finds nothing.
struct Corrected<'a> {
    query: &'a str,
    link: String,
    /// Number of documents that it finds.
    documents: String,
}

#[derive(Template)]
#[template(path = "hits.html")]
struct Hits<'a> {
    groups: Vec<Group<'a>>,
}

/// Hits one after another that stand under one heading.
struct Group<'a> {
    /// Rank of the first, from 1.
    first: usize,
    heading: Option<&'static str>,
    hits: Vec<HitView<'a>>,
}

struct HitView<'a> {
    title: String,
    /// The title with marks, where it is shown whole.
    title_html: Option<&'a str>,
    href: String,
    is_opened: bool,
    crumbs: Vec<String>,
    /// Values by which the hit was sorted.
    sorted_by: Vec<String>,
    /// Whether a rule has put it before all others.
    pinned: bool,
    summary: &'a str,
    /// Words of the query that the document lacks.
    lacks: Vec<String>,
    site: String,
    more: Option<String>,
    /// Number of matches that the hit hides, and the link to a list with them.
    hidden: Option<(u64, String)>,
    text: String,
    why: Vec<WhyView>,
}

struct WhyView {
    depth: usize,
    value: String,
    /// Name of the clause; empty without one.
    name: String,
    description: String,
}

#[derive(Template)]
#[template(path = "refusal.html")]
struct Refusal<'a> {
    files: Files,
    query: &'a str,
    heading: &'a str,
    reason: &'a str,
}

/// Returns the page of an answer. Sets `phases_us.render` of the answer to the time of rendering its
/// hits; the rest of the page takes constant time.
/// `suggestions` are other searches, which have hits.
pub(crate) fn results(
    answer: &mut SearchAnswer,
    options: &SearchOptions,
    suggestions: &[Suggestion],
    addresses: &Addresses,
) -> String {
    let started = Instant::now();
    let query = answer.query.clone();
    let has_some = answer.hits_with_all_words(options.start) < answer.hits.len();
    // Links from hits show the words that they have.
    let matched = answer.corrected.as_deref().unwrap_or(&query);
    let hits_html = render(&Hits {
        groups: groups(answer, matched, options, addresses),
    });
    answer.phases_us.render = started.elapsed().as_micros() as u64;
    answer.phases_us.total += answer.phases_us.render;

    let shown = answer.hits.len();
    let next_start = options.start + options.k;
    let previous_start = options.start.saturating_sub(options.k.max(1));
    let page = |start| {
        local(
            "./",
            &pairs(
                &query,
                &SearchOptions {
                    start,
                    ..options.clone()
                },
            ),
        )
    };
    whole(&Results {
        files: Files::new(),
        query: &query,
        hidden: &settings(&SearchOptions {
            start: 0,
            ..options.clone()
        }),
        total: thousands(answer.total.value),
        total_is_one: answer.total.value == 1,
        total_is_exact: answer.total.exact,
        has_some,
        none: shown == 0,
        first: thousands(options.start as u64 + 1),
        last: thousands((options.start + shown) as u64),
        time: duration(answer.phases_us.total),
        warnings: &answer.warnings,
        missing: missing(answer, options),
        all_words: (options.operator == Operator::Or).then(|| {
            local(
                "./",
                &pairs(
                    &query,
                    &SearchOptions {
                        operator: Operator::And,
                        start: 0,
                        ..options.clone()
                    },
                ),
            )
        }),
        hits_html: &hits_html,
        refining: refining(answer, options),
        instead: answer.corrected.as_deref().map(|corrected| {
            let as_typed = SearchOptions {
                correct: false,
                start: 0,
                ..options.clone()
            };
            (corrected, local("./", &pairs(&query, &as_typed)))
        }),
        did_you_mean: answer.did_you_mean.as_ref().map(|better| {
            let options = SearchOptions {
                start: 0,
                ..options.clone()
            };
            Corrected {
                query: &better.query,
                link: local("./", &pairs(&better.query, &options)),
                documents: match better.total.value {
                    0 => String::new(),
                    total => counted_documents(total),
                },
            }
        }),
        suggestions: suggestions
            .iter()
            .map(|one| (one.text, local("./", &pairs(&one.query, &one.options))))
            .collect(),
        start_over: (shown == 0 && options.start > 0 && answer.total.value > 0).then(|| page(0)),
        previous: (options.start > 0).then(|| page(previous_start)),
        next: (answer.more_hits && options.k > 0 && next_start + options.k <= DEPTH_MAX)
            .then(|| page(next_start)),
        pages: pages(answer, options),
        hides_equal: answer.hides_some,
        with_hidden: (answer.hides_some && !options.counts_hidden)
            .then(|| with_hidden(&query, options)),
        is_timed: options.trace,
        phases: phases(answer),
        timeline: (!options.trace).then(|| {
            let traced = SearchOptions {
                trace: true,
                ..options.clone()
            };
            local("./", &pairs(&query, &traced)) + "#timeline"
        }),
        gantt: gantt(answer),
        json: local("search", &api_pairs(&query, options)),
    })
}

fn counted_documents(count: u64) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} document{plural}", thousands(count))
}

/// Returns a lower bound on the bytes of an answer's page before it is written: every hit carries the query in the link to its
/// text, and in one more where its site has more matches.
pub(crate) fn bytes_min(answer: &SearchAnswer) -> usize {
    let more = answer.hits.iter().filter(|hit| hit.more_from_site).count();
    let links = answer.hits.len() + more;
    let texts = |hit: &Hit| hit.title.len().min(TITLE_CHARS_MAX) + hit.summary.len();
    links * answer.query.len() + answer.hits.iter().map(texts).sum::<usize>()
}

/// Returns the page of a request without an answer.
pub(crate) fn refusal(heading: &str, reason: &str, query: &str) -> String {
    refused(Files::new(), heading, reason, query)
}

/// Returns the page for a path without one.
pub(crate) fn nothing_at(path: &str) -> String {
    let reason = "There is no page at this address.";
    refused(Files::for_page_at(path), "Nothing is here", reason, "")
}

fn refused(files: Files, heading: &str, reason: &str, query: &str) -> String {
    whole(&Refusal {
        files,
        query,
        heading,
        reason: &visible(reason),
    })
}

/// Returns a whole page in its final form.
fn whole(page: &impl Template) -> String {
    let html = render(page);
    // Hidden characters may come from any value: queries, titles, summaries, warnings.
    match html.contains(is_hidden) {
        false => html,
        true => visible(&html),
    }
}

fn render(page: &impl Template) -> String {
    // Templates write values from memory to a String, which cannot fail.
    page.render().unwrap_or_default()
}

/// Returns the hits in groups, by what they have of the words and whether the limit of hits per site held them back.
fn groups<'a>(
    answer: &'a SearchAnswer,
    query: &str,
    options: &SearchOptions,
    addresses: &Addresses,
) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for (at, hit) in answer.hits.iter().enumerate() {
        let heading = answer.heading(at, options.start);
        if groups.last().is_none_or(|last| last.heading != heading) {
            groups.push(Group {
                first: options.start + at + 1,
                heading,
                hits: Vec::new(),
            });
        }
        if let Some(group) = groups.last_mut() {
            let opened = web_address(&hit.url).or_else(|| addresses.original(&hit.url));
            group.hits.push(view(hit, query, options, opened));
        }
    }
    groups
}

/// Returns a hit for the page; `opened` is the address of the document itself, where it has one.
fn view<'a>(
    hit: &'a Hit,
    query: &str,
    options: &SearchOptions,
    opened: Option<String>,
) -> HitView<'a> {
    let text = local("document", &[("url", &*hit.url), ("q", query)]);
    let mut why = Vec::new();
    if let Some(explanation) = &hit.explanation {
        explain(explanation, 0, &mut why);
    }
    HitView {
        title: title(&hit.title, &hit.url),
        title_html: (!hit.title_html.is_empty() && is_shown_as_stored(&hit.title))
            .then_some(hit.title_html.as_str()),
        is_opened: opened.is_some(),
        href: opened.unwrap_or_else(|| text.clone()),
        crumbs: breadcrumb(&hit.url),
        sorted_by: hit
            .sort
            .iter()
            .filter(|value| !value.is_null())
            .map(shown)
            .collect(),
        pinned: hit.pinned,
        summary: &hit.summary,
        lacks: hit
            .lacks
            .iter()
            .map(|word| cut(&visible(word), 60))
            .collect(),
        site: cut(&visible(&hit.site), 60),
        more: within_site(query, &hit.site)
            .filter(|_| hit.more_from_site)
            .map(|query| {
                let all = SearchOptions {
                    per_site: 0,
                    start: 0,
                    ..options.clone()
                };
                local("./", &pairs(&query, &all))
            }),
        // The others come where hits are not collapsed.
        hidden: (hit.hidden > 0).then(|| (hit.hidden, with_hidden(query, options))),
        text,
        why,
    }
}

/// Returns the link to the list in which no hits are collapsed.
fn with_hidden(query: &str, options: &SearchOptions) -> String {
    let all = SearchOptions {
        collapse: String::new(),
        start: 0,
        ..options.clone()
    };
    local("./", &pairs(query, &all))
}

/// Returns the query for all matches of one site. The site comes first, so that an unclosed quotation
/// mark or an OR in the query cannot absorb it.
fn within_site(query: &str, site: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    if site.is_empty() || site.contains('"') {
        // The syntax cannot express such a name.
        return None;
    }
    Some(match site.chars().all(is_plain) {
        true => format!("site:{site} {query}"),
        false => format!("site:\"{site}\" {query}"),
    })
}

/// Another search, for a page without hits.
pub(crate) struct Suggestion {
    text: &'static str,
    pub(crate) query: String,
    pub(crate) options: SearchOptions,
}

/// Returns other searches to try when there are no hits. They may have none either, which is to be found out.
pub(crate) fn suggestions(query: &str, options: &SearchOptions) -> Vec<Suggestion> {
    let mut suggestions = Vec::new();
    let first_page = SearchOptions {
        start: 0,
        ..options.clone()
    };
    if query.contains('"') {
        let words = query.replace('"', " ");
        suggestions.push(Suggestion {
            text: "the words without quotation marks",
            query: words.split_whitespace().collect::<Vec<_>>().join(" "),
            options: first_page.clone(),
        });
    }
    let is_strict = matches!(options.operator, Operator::And | Operator::Most(_));
    if is_strict && query.split_whitespace().nth(1).is_some() {
        suggestions.push(Suggestion {
            text: "documents with any of the words",
            query: query.to_owned(),
            options: SearchOptions {
                operator: Operator::Or,
                ..first_page
            },
        });
    }
    suggestions
}

fn explain(why: &serde_json::Value, depth: usize, into: &mut Vec<WhyView>) {
    // Explanations are as deep as queries, which the parser limits; the page shows fewer levels.
    const DEPTH_SHOWN_MAX: usize = 6;
    into.push(WhyView {
        depth,
        value: why["value"]
            .as_f64()
            .map(|value| format!("{value:.4}"))
            .unwrap_or_default(),
        name: why["name"].as_str().unwrap_or_default().to_owned(),
        description: why["description"].as_str().unwrap_or_default().to_owned(),
    });
    if depth < DEPTH_SHOWN_MAX {
        for part in why["details"].as_array().into_iter().flatten() {
            explain(part, depth + 1, into);
        }
    }
}

#[cfg(test)]
mod tests;
