//! Texts that a hit shows of its stored document: the summary, and further fields.

use fields::TextFields;
use index::{Index, IndexError, TextKey, Texts};
use text::summary::{PieceMatches, SummaryQuery};

/// Returns the summary of a document, and its further fields where wanted; `None` where the store has no text of it.
pub(crate) fn shown_text(
    index: &Index,
    key: TextKey<'_>,
    query: &SummaryQuery,
    buffer: &mut Vec<u8>,
    wants_fields: bool,
) -> Result<Option<(String, Fields)>, IndexError> {
    if index.documents().texts() == Texts::None {
        return Ok(Some(Default::default()));
    }
    let mut text = None;
    let documents = index.documents();
    documents.with_text(key, buffer, |_, body, fields| {
        let summary = summary_of(query, body, fields, index.statistics().text_fields());
        let fields = wants_fields.then(|| serde_json::from_str(fields));
        let fields = fields.and_then(Result::ok).unwrap_or_default();
        text = Some((summary, fields));
    })?;
    Ok(text)
}

/// Returns the summary of a body; where it has no match, that of the first further field, in JSON, that has one.
pub fn summary_of(
    query: &SummaryQuery,
    body: &str,
    fields: &str,
    text_fields: &TextFields,
) -> String {
    if text_fields.is_empty() || fields.is_empty() {
        return query.summarize(body);
    }
    let of_body = query.summarize_matches(body);
    let of_field = || summary_of_field(query, fields, text_fields);
    (of_body.or_else(of_field)).unwrap_or_else(|| query.summarize(body))
}

/// Returns what [`summary_of`] does, given the matches of all pieces of the body in order.
pub fn summary_of_pieces(
    query: &SummaryQuery,
    body: &str,
    found: &[PieceMatches],
    fields: &str,
    text_fields: &TextFields,
) -> String {
    let of_body = query.summarize_pieces(body, found);
    let of_field = || summary_of_field(query, fields, text_fields);
    (of_body.or_else(of_field)).unwrap_or_else(|| query.summarize(body))
}

/// Returns the summary of the first further field that has a match.
fn summary_of_field(
    query: &SummaryQuery,
    fields: &str,
    text_fields: &TextFields,
) -> Option<String> {
    if text_fields.is_empty() || fields.is_empty() {
        return None;
    }
    let fields: Fields = serde_json::from_str(fields).unwrap_or_default();
    let mut summary = None;
    // Words that are found by the name of their field alone come last.
    for is_in_text in [true, false] {
        text_fields.each_text(&fields, |searched, text| {
            if summary.is_none() && searched.is_in_text() == is_in_text {
                summary = query.summarize_matches(text);
            }
        });
    }
    summary
}

/// Further fields of a document.
pub(crate) type Fields = serde_json::Map<String, serde_json::Value>;
