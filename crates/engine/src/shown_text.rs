//! Texts that a hit shows of its stored document: the summary, and further fields.

use crate::calls::TextSummary;
use crate::cut_values::cut_fields;
use fields::{FieldText, TextFields};
use index::{Index, IndexError, TextKey, Texts};
use text::summary::{Summary, SummaryQuery};

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

/// Returns the summary of a body as HTML, given `of_body`. Where it has no match, returns the summary of the first
/// further field, in JSON, with a match.
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
    let mut summary = None;
    // Words that are found by the name of their field alone come last.
    for is_in_text in [true, false] {
        text_fields.each_text(&fields, |field| {
            let FieldText { searched, text, .. } = field;
            // The body has no match, and the title is shown itself.
            let is_shown = field.is_part && searched.analyzer.is_none();
            if summary.is_none() && searched.is_in_text() == is_in_text && !is_shown {
                let mut of_field = query.summary(text);
                // The terms of `name:word` are those of the field's own analyzer.
                if !of_field.is_matched
                    && let Some(analyzer) = searched.analyzer
                {
                    of_field = query.analyzed_with(analyzer).summary(text);
                }
                summary = of_field.is_matched.then_some(of_field.html);
            }
        });
    }
    summary.unwrap_or(of_body.html)
}
