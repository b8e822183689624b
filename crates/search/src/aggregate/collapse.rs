//! Groups of documents with one value of a field, or of one text, of which an answer that collapses them shows the best.
//!
//! A document is in the group of its value, of several in that of the least. One without a value is in no group, and hides
//! no other. [`TEXT`] stands for the texts, title and body, of which the index has hashes; these are values like integers.

use super::sites::Codes;
use super::sorted::unknown_field;
use crate::collect::topk::hit::ScoredHit;
use crate::context::cancel::{self, Stop, StopRef};
use crate::exhaustive::cursor::any::Cursor;
use crate::exhaustive::cursor::walk::DocCursor;
use crate::plan::planner::Plan;
use fields::facet::{CodedValues, SITE};
use fields::{BadTest, Schema, Value};
use index::{DocId, IndexError, Segment};
use std::sync::Arc;

/// Name that stands for title and body in place of a field.
pub const TEXT: &str = "text";

/// What hits can be collapsed by beside fields.
const OTHERS: [&str; 2] = [SITE, TEXT];

/// Checks that hits can be collapsed by a field: one of `schema` that has values in columns, the site, or the text.
///
/// # Errors
/// Any other name, with those that there are.
pub fn check_collapse(field: &str, schema: &Schema) -> Result<(), BadTest> {
    let is_known =
        OTHERS.contains(&field) || schema.get(field).is_some_and(|kind| kind.is_columnar());
    match is_known {
        true => Ok(()),
        false => Err(unknown_field(field, "collapsed by", schema, &OTHERS)),
    }
}

/// Returns the group of each hit, in their order; `segment` finds the segment of an id.
///
/// # Errors
/// Damage of a column, and a column that cannot be read.
pub fn groups_of<'a>(
    field: &str,
    hits: &[ScoredHit],
    segment: impl Fn(u32) -> Option<&'a Arc<Segment>>,
) -> Result<Vec<Option<Value>>, IndexError> {
    let mut groups = vec![None; hits.len()];
    // A segment's codes are opened once.
    let mut order: Vec<usize> = (0..hits.len()).collect();
    order.sort_unstable_by_key(|&at| (hits[at].segment, hits[at].doc));
    for same in order.chunk_by(|&a, &b| hits[a].segment == hits[b].segment) {
        let Some(segment) = segment(hits[same[0]].segment) else {
            continue;
        };
        let Some(keys) = Keys::open(segment, field)? else {
            continue;
        };
        for &at in same {
            let key = keys.key(hits[at].doc);
            groups[at] = key.and_then(|key| keys.value(key));
        }
    }
    Ok(groups)
}

/// Counts the matches of a segment in each of some groups, added to `counts`. Lower bounds where `stop` is cancelled.
///
/// # Errors
/// Damage of a list or a column, and files that cannot be read.
pub fn count_groups<'a>(
    plan: &'a Plan,
    segment: &'a Segment,
    field: &str,
    groups: &[Value],
    counts: &mut [u64],
    stop: &'a Stop<'a>,
) -> Result<(), IndexError> {
    let Some(keys) = Keys::open(segment, field)? else {
        return Ok(());
    };
    let found = groups.iter().enumerate();
    let found = found.filter_map(|(at, group)| Some((keys.find(group)?, at)));
    let mut wanted: Vec<(u64, usize)> = found.collect();
    wanted.sort_unstable();
    if wanted.is_empty() {
        return Ok(());
    }
    let stop = StopRef::new(stop);
    let mut matching = Cursor::open(plan, &plan.root, segment, stop)?;
    let mut doc = DocId(0);
    while doc.0 < segment.documents_count() && !stop.aborts(cancel::DOCUMENT) {
        let group = keys.key(doc);
        let group = group.and_then(|key| wanted.binary_search_by_key(&key, |&(key, _)| key).ok());
        let Some(group) = group else {
            doc.0 += 1;
            continue;
        };
        let reached = matching.seek(doc);
        if reached == DocId::END || stop.is_aborted() {
            break;
        }
        if reached == doc && !segment.is_deleted(doc) {
            counts[wanted[group].1] += 1;
        }
        doc = reached.max(DocId(doc.0 + 1));
    }
    match matching.take_error() {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Keys of the groups of a segment's documents: codes of values, or hashes of texts.
enum Keys<'a> {
    Codes(Codes<'a>),
    Texts(&'a Segment),
}

impl<'a> Keys<'a> {
    /// Opens the keys; `None` where no document is in a group.
    fn open(segment: &'a Segment, field: &str) -> Result<Option<Keys<'a>>, IndexError> {
        match field {
            TEXT => Ok(Some(Keys::Texts(segment))),
            field => Ok(Codes::open(segment, field)?.map(Keys::Codes)),
        }
    }

    /// Returns the key of a document; `None` where it is in no group.
    #[inline]
    fn key(&self, doc: DocId) -> Option<u64> {
        match self {
            Keys::Codes(codes) => codes.ends(doc).map(|(least, _)| least),
            Keys::Texts(segment) => segment.text_hash(doc),
        }
    }

    fn value(&self, key: u64) -> Option<Value> {
        match self {
            Keys::Codes(codes) => codes.value(key),
            // The same bits.
            Keys::Texts(_) => Some(Value::Integer(key as i64)),
        }
    }

    fn find(&self, value: &Value) -> Option<u64> {
        match (self, value) {
            (Keys::Codes(codes), value) => codes.find(value),
            (Keys::Texts(_), Value::Integer(hash)) => Some(*hash as u64),
            (Keys::Texts(_), _) => None,
        }
    }
}
