//! Check of the columns of a segment against its stored documents.

use crate::columns::{CodeRange, Column};
use crate::derive::each_value;
use crate::store::StorePart;
use crate::{DocId, IndexError, Segment};
use fields::{Schema, Test, Value, ValueLaw};
use std::collections::BTreeMap;

pub(super) fn check(
    segment: &Segment,
    schema: &Schema,
    store: &StorePart,
) -> Result<(), IndexError> {
    let mut expected: BTreeMap<String, BTreeMap<u32, Vec<Value>>> = BTreeMap::new();
    let mut laws: BTreeMap<String, ValueLaw> = BTreeMap::new();
    for (name, _) in schema.columnar() {
        laws.insert(name.to_owned(), segment.misfits(name)?.1);
    }
    each_value(store, segment, |doc, name, json| {
        let kind = schema.get(name).filter(|kind| kind.is_columnar());
        let law = laws.get(name).copied().unwrap_or_default();
        if let Some(value) = kind.and_then(|kind| law.value(kind, json)) {
            let column = expected.entry(name.to_owned()).or_default();
            column.entry(doc).or_default().push(value);
        }
    })?;
    let names = segment.column_bytes()?;
    let wrong = |name: &str, what: &str| {
        Err(segment.damaged_at_terms(&format!("the column {name}: {what}")))
    };
    if !names.iter().map(|(name, _)| *name).eq(expected.keys()) {
        return wrong("directory", "not the fields that its documents have");
    }
    for (name, values) in &mut expected {
        let Some(column) = segment.column(name)? else {
            return wrong(name, "missing");
        };
        for doc in 0..segment.documents_count() {
            let mut wanted = values.remove(&doc).unwrap_or_default();
            wanted.sort_by(Value::order);
            if matches!(wanted.first(), Some(Value::Keyword(_))) {
                wanted.dedup();
            }
            let mut found = Vec::new();
            column.each_code(DocId(doc), |code| found.push(column.value(code)));
            if !found.iter().map(Option::as_ref).eq(wanted.iter().map(Some)) {
                return wrong(name, &format!("other values than document {doc} has"));
            }
            if !is_inside(&column, DocId(doc)) {
                return wrong(
                    name,
                    &format!("document {doc} is outside its block's limits"),
                );
            }
        }
        if column.range(&Test::Exists).map(|range| range.high) != Some(column.codes_count()) {
            return wrong(name, "no code");
        }
    }
    Ok(())
}

/// Returns whether the values of a document are between the least and the greatest of its block.
fn is_inside(column: &Column<'_>, doc: DocId) -> bool {
    let Some((low, high)) = column.ends(doc) else {
        return true;
    };
    let inside = |ends: CodeRange| ends.contains(low) && ends.contains(high);
    column.block_ends(doc).is_some_and(inside)
}
