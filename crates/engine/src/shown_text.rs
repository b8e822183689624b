//! What a hit shows of its stored document: the summary, and further fields.

use index::{Index, IndexError, TextKey, Texts};
use text::summary::SummaryQuery;

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
        let fields = wants_fields.then(|| serde_json::from_str(fields));
        let fields = fields.and_then(Result::ok).unwrap_or_default();
        text = Some((query.summarize(body), fields));
    })?;
    Ok(text)
}

/// Further fields of a document.
pub(crate) type Fields = serde_json::Map<String, serde_json::Value>;
