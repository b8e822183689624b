//! Derivation of columns from the stored documents of segments.
//!
//! A commit derives the columns of its new segments. The types of new fields come from the values of all documents that
//! a commit adds, so neither the order of documents nor the layout decides. Segments written before their index had
//! fields get their columns with the first commit that brings a field.

mod summary;

pub use summary::FieldSummary;

use crate::columns::{Values, write_columns};
use crate::manifest::{FileEntry, Manifest};
use crate::names::columns_name;
use crate::opener::open_store;
use crate::sealed::{Identity, Kind, SealedWriter};
use crate::store::StorePart;
use crate::{IndexError, Segment, Texts};
use fields::{Observed, Schema, each_leaf};
use json::{Map, Value};
use std::collections::BTreeMap;
use vfs::SharedStorage;

/// Fields seen while documents were added.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) observed: Observed,
}

/// Values that did not fit the type of their field, by field.
pub(crate) type Misfits = BTreeMap<String, u64>;

/// Writes the columns of every segment with an id of at least `first`, and of older ones that lack them, and adds their
/// files to `manifest`. `segments` are those of the manifest, in its order. `gathered` has what is known of the new
/// segments; without it, their documents are read for that. Returns the number of values that fit no type.
pub(crate) fn write_missing(
    storage: &SharedStorage,
    manifest: &mut Manifest,
    segments: &[Segment],
    first: u32,
    gathered: Option<&Gathered>,
) -> Result<Misfits, IndexError> {
    let mut misfits = Misfits::new();
    let is_new = |segment: u32| segment >= first;
    // Without texts there is nothing to derive columns from.
    if manifest.texts == Texts::None {
        return Ok(misfits);
    }
    let nothing_new = gathered.is_some_and(|gathered| gathered.observed.is_empty());
    if nothing_new && manifest.fields.is_empty() {
        return Ok(misfits);
    }
    let missing: Vec<usize> = (0..manifest.segments.len())
        .filter(|&number| manifest.segments[number].columns.is_none())
        .collect();
    let mut observed = Observed::default();
    let mut parts = Vec::new();
    for &number in &missing {
        let entry = &manifest.segments[number];
        let Some(part) = open_store(storage, manifest, entry)? else {
            continue;
        };
        if gathered.is_none() || !is_new(entry.segment) {
            part.each_fields(|_, fields| observed.add(&parsed(fields)))?;
        }
        parts.push((number, part));
    }
    let mut schema = manifest.fields.clone();
    if let Some(gathered) = gathered {
        observed.join(&gathered.observed);
    }
    observed.extend(&mut schema);
    if schema.is_empty() {
        return Ok(misfits);
    }
    for (number, part) in parts {
        let file = write(
            storage,
            manifest,
            &schema,
            &segments[number],
            &part,
            &mut misfits,
        )?;
        manifest.segments[number].columns = Some(file);
    }
    manifest.fields = schema;
    Ok(misfits)
}

/// Writes the columns of one segment.
fn write(
    storage: &SharedStorage,
    manifest: &Manifest,
    schema: &Schema,
    segment: &Segment,
    part: &StorePart,
    misfits: &mut Misfits,
) -> Result<FileEntry, IndexError> {
    let mut columns: BTreeMap<&str, Values> = BTreeMap::new();
    for (name, kind) in schema.columnar() {
        columns.insert(name, Values::new(kind));
    }
    each_value(part, segment, |doc, name, json| {
        if let Some(values) = columns.get_mut(name)
            && !values.push_leaf(doc, json)
        {
            *misfits.entry(name.to_owned()).or_default() += 1;
        }
    })?;
    let name = columns_name(segment.id());
    let identity = Identity {
        kind: Kind::Columns,
        index_id: manifest.index_id(),
        number: segment.id().into(),
    };
    let mut out = SealedWriter::create(storage, &name, identity)?;
    write_columns(columns, segment.documents_count(), &mut out)?;
    Ok(FileEntry {
        name,
        number: identity.number,
        seal: out.finish()?,
    })
}

/// Calls `each` with the document, the field and the value of every leaf of a segment's documents.
pub(crate) fn each_value(
    part: &StorePart,
    segment: &Segment,
    mut each: impl FnMut(u32, &str, &Value),
) -> Result<(), IndexError> {
    let by_rank = segment.docs_by_hash();
    part.each_fields(|rank, fields| {
        let Some(&doc) = by_rank.get(rank as usize) else {
            return;
        };
        each_leaf(&parsed(fields), &mut |name, json| each(doc, name, json));
    })
}

/// Reads the fields of a stored document. They were written by this program, so they are JSON.
fn parsed(fields: &str) -> Map {
    match fields.is_empty() {
        true => Map::new(),
        false => json::parse_object(fields).unwrap_or_default(),
    }
}
