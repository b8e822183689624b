//! Statistics of a merge that runs beside commits.
//!
//! The merge begins at a generation, and commits go on. Its statistics replace those of that generation; files of terms
//! deleted since stay as they are, because the lists of merged segments count the documents deleted since. So:
//!
//! ```text
//! base, where it counts no merged segment:  stays
//!       otherwise, or where one is due:     written anew, with the merged segments in place of their sources
//! deleted until the generation:             one file, without the documents that merged segments dropped; none after a new base
//! deleted since:                            unchanged
//! ```

use super::steps::TermSteps;
use super::write::{BaseDue, add_uncounted, base_due, write_base};
use super::{Deleted, Statistics};
use crate::manifest::{Manifest, StatisticsLayers};
use crate::names::FileName;
use crate::{IndexError, Segment};
use std::sync::Arc;
use vfs::SharedStorage;

/// Segments that a merge replaced by others.
pub(crate) struct Replaced<'a> {
    pub(crate) sources: &'a [&'a Segment],
    pub(crate) merged: &'a [&'a Segment],
}

/// Writes the statistics after a merge as the file `file`, and returns its layers. `before` are the statistics of the
/// generation that it began with, `manifest` and `segments` those with the merged segments in place of their sources.
/// Calls `step` often; its error ends the work.
pub(crate) fn write_replaced(
    storage: &SharedStorage,
    manifest: &Manifest,
    before: &Statistics,
    replaced: &Replaced<'_>,
    segments: &[Arc<Segment>],
    file: FileName,
    step: &dyn Fn() -> Result<(), IndexError>,
) -> Result<StatisticsLayers, IndexError> {
    let Replaced { sources, merged } = replaced;
    let mut layers = before.layers().clone();
    let mut deleted = Deleted::default();
    let mut steps = TermSteps::new(step);
    let is_source = |segment: &u32| sources.iter().any(|source| source.id() == *segment);
    let has_changed = layers.counted.iter().any(is_source);
    if has_changed || base_due(before, segments, &deleted, 0) != BaseDue::No {
        add_uncounted(&mut deleted, before, &mut steps)?;
        deleted.drop_merged(sources, merged, &mut steps)?;
        layers.counted = segments.iter().map(|segment| segment.id()).collect();
        layers.deleted.clear();
        // A segment without deleted documents is its own base.
        layers.base = match segments.len() == 1 && deleted.terms.is_empty() {
            true => None,
            false => Some(write_base(
                storage, manifest, segments, &deleted, file, &mut steps,
            )?),
        };
        return Ok(layers);
    }
    deleted.add_files(before.deleted(), &mut steps)?;
    deleted.drop_merged(sources, merged, &mut steps)?;
    layers.deleted.clear();
    if !deleted.terms.is_empty() {
        let file = deleted.write(storage, manifest.index_id(), file)?;
        layers.deleted.push(file);
    }
    Ok(layers)
}
