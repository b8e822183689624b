//! Texts that a hit shows of its stored document: the summary, and further fields.

use crate::calls::TextSummary;
use crate::cut_values::cut_fields;
use fields::{FieldText, TextFields};
use index::{Index, IndexError, TextKey, Texts};
use text::Analyzer;
use text::summary::{Summary, SummaryQuery, escape_html};

/// Returns summary and fields of a document for a hit; `None` where the store has no text of it, empty in an index
/// without texts.
pub(crate) fn shown_text(
    index: &Index,
    key: TextKey<'_>,
    query: &SummaryQuery,
    buffer: &mut Vec<u8>,
    wants_fields: bool,
) -> Result<Option<TextSummary>, IndexError> {
    let documents = index.documents();
    if documents.texts() == Texts::None {
        return Ok(Some(TextSummary::default()));
    }
    let mut text = None;
    documents.with_text(key, buffer, |url, body, fields| {
        let of_body = query.summary(body);
        let html = summary_of(query, of_body, fields, index.statistics().text_fields());
        let (fields, cut) = match wants_fields {
            true => cut_fields(fields),
            false => Default::default(),
        };
        text = Some(TextSummary {
            url: url.to_owned(),
            html,
            fields,
            cut,
        });
    })?;
    Ok(text)
}

/// Longest value that is shown whole, in bytes.
const WHOLE_BYTES_MAX: usize = 256;
/// Values shown with a match.
const VALUES_MAX: usize = 3;
/// Between values.
const BETWEEN: &str = " · ";

/// Returns the summary of a body as HTML, given `of_body`. Where it has no match, returns the summary of the first
/// text among the further fields, in JSON, with a match; where there is none, the values with a match, each with the name
/// of its field.
pub fn summary_of(
    query: &SummaryQuery,
    of_body: Summary,
    fields: &str,
    text_fields: &TextFields,
) -> String {
    if of_body.is_matched || text_fields.is_empty() || fields.is_empty() {
        return of_body.html;
    }
    let fields = json::parse_object(fields).unwrap_or_default();
    let mut of_text = None;
    let mut of_values = Vec::new();
    // Words that are found by the name of their field alone come last.
    for is_in_text in [true, false] {
        text_fields.each_text(&fields, |field| {
            let belongs = field.own.is_none_or(|own| own.is_in_text()) == is_in_text;
            // The body has no match, and the title is shown itself.
            let is_shown = field.is_part && field.analyzer().is_none();
            let is_wanted = match field.is_apart {
                true => of_values.len() < VALUES_MAX,
                false => of_text.is_none(),
            };
            if !belongs || is_shown || !is_wanted {
                return;
            }
            let marked = match marked(query, &field, None) {
                // The terms of `name:word` are those of the field's own analyzer.
                None => field
                    .analyzer()
                    .and_then(|own| marked(query, &field, Some(own))),
                marked => marked,
            };
            match (marked, field.is_apart) {
                (None, _) => {}
                (Some(html), true) => {
                    let mut value = String::new();
                    escape_html(field.name, &mut value);
                    value = format!("{value}: {html}");
                    if !of_values.contains(&value) {
                        of_values.push(value);
                    }
                }
                (marked, false) => of_text = marked,
            }
        });
    }
    match (of_text, of_values.as_slice()) {
        (Some(of_text), _) => of_text,
        (None, []) => of_body.html,
        (None, values) => values.join(BETWEEN),
    }
}

/// Returns a text with its matches marked: a short value as a whole; `None` without a match.
fn marked(
    query: &SummaryQuery,
    field: &FieldText<'_>,
    analyzer: Option<Analyzer>,
) -> Option<String> {
    let own = analyzer.map(|analyzer| query.analyzed_with(analyzer));
    let query = own.as_ref().unwrap_or(query);
    if field.is_apart && field.text.len() <= WHOLE_BYTES_MAX {
        return query.highlight(field.text);
    }
    let summary = query.summary(field.text);
    summary.is_matched.then_some(summary.html)
}
