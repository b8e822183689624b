//! Page of one document: its text as it was indexed, with the words of the query marked.

use super::assets::Files;
use super::texts::{BODY_CHARS_MAX, cut, cut_bytes, title, visible};
use super::url::web_address;
use super::whole;
use askama::Template;
use index::StoredDocument;
use search::Query;
use text::Analyzer;
use text::summary::{SummaryOptions, SummaryQuery, SummaryTerm, escape_html};

#[derive(Template)]
#[template(path = "document.html")]
struct DocumentPage<'a> {
    files: Files,
    query: &'a str,
    title: String,
    url: String,
    web: Option<String>,
    body_html: String,
    /// Number of marked words, where a query was given.
    marked_count: Option<usize>,
    author: Option<String>,
    date: Option<String>,
}

/// Words of a query, which the page marks.
pub(crate) struct Marking<'a> {
    pub(crate) typed: &'a str,
    pub(crate) analyzer: Analyzer,
    pub(crate) query: Query,
}

/// Returns the page of a document as stored; `opened` is the path of its file, where that is sent.
pub(crate) fn document(
    document: &StoredDocument,
    marking: Option<&Marking<'_>>,
    opened: Option<String>,
) -> String {
    let body = cut(cut_bytes(&document.body), BODY_CHARS_MAX);
    let (body_html, marked_count) = match marking {
        Some(marking) => {
            let (html, count) = marked(&body, marking);
            (html, Some(count))
        }
        None => (escaped(&body), None),
    };
    let field = |name: &str| {
        let value = document.fields.get(name).and_then(|value| value.as_str());
        value
            .filter(|value| !value.is_empty())
            .map(|value| cut(&visible(value), 200))
    };
    whole(&DocumentPage {
        files: Files::new(),
        query: marking.map_or("", |marking| marking.typed),
        title: title(&document.title, &document.url),
        url: visible(&document.url),
        web: web_address(&document.url).or(opened),
        body_html,
        marked_count,
        author: field("author"),
        date: field("date"),
    })
}

/// Returns a text as HTML with the words of a query inside `<mark>`, and their number. White space stays.
fn marked(text: &str, marking: &Marking<'_>) -> (String, usize) {
    let terms = marking.query.marked_words().into_iter();
    let terms = terms
        .map(|marked| SummaryTerm {
            marked,
            weight: 1.0,
        })
        .collect();
    let words = SummaryQuery::new(marking.analyzer, terms, SummaryOptions::default());
    let ranges = words.matched_ranges(text);
    let mut html = String::with_capacity(text.len() + ranges.len() * "<mark></mark>".len());
    let mut from = 0;
    for range in &ranges {
        escape_html(&visible(&text[from..range.start]), &mut html);
        html.push_str("<mark>");
        escape_html(&visible(&text[range.clone()]), &mut html);
        html.push_str("</mark>");
        from = range.end;
    }
    escape_html(&visible(&text[from..]), &mut html);
    (html, ranges.len())
}

fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    escape_html(&visible(text), &mut html);
    html
}
