//! Check of a whole index: checksums, structure, cross references.
//!
//! Reading verifies the checksums of what is read, which finds damage by disks. A check verifies all checksums, decodes
//! every list and text, and compares redundant data, which finds damage by faulty programs.

mod bounded;
mod columns;
mod counts;
mod older;
mod pairs;
mod report;
mod segment;
mod written;

pub use report::CheckReport;

use crate::leftovers;
use crate::log;
use crate::manifest::{self, Manifest};
use crate::names::LOCK_NAME;
use crate::opener::{open_store, open_verified_segment};
use crate::{IndexError, Segment};
use counts::{check_counts, open_statistics};
use report::{Damages, missing_is_damage};
use std::sync::Arc;
use vfs::SharedStorage;

/// Checks the newest generation, and the seals of files that only the generation before it has. Returns a report and up
/// to `damages_max` damages, after which it ends. `Err` means that the check itself could not continue.
pub fn check(
    storage: SharedStorage,
    damages_max: usize,
) -> Result<(CheckReport, Vec<IndexError>), IndexError> {
    let mut report = CheckReport::default();
    let mut damages = Damages {
        found: Vec::new(),
        max: damages_max,
    };
    let manifest = match manifest::read_newest(&storage) {
        Ok(Some(manifest)) => manifest,
        Ok(None) => {
            return Err(IndexError::NoIndex {
                path: storage.location(),
            });
        }
        Err(damage @ IndexError::Damaged { .. }) => {
            damages.add(damage);
            older::check(&storage, None, &mut report, &mut damages)?;
            return Ok((report, damages.found));
        }
        Err(error) => return Err(error),
    };
    report.generation = manifest.generation;
    let layout = manifest.layout();
    report.chunks = layout.chunks.into();
    report.partitions = layout.partitions.into();
    report.files = 1 + manifest.files_count() as u64;
    report.bytes = manifest.bytes();
    report.documents = manifest.documents_count;
    let segments = check_segments(&storage, &manifest, &mut report, &mut damages)?;
    if segments.len() == manifest.segments.len() && damages.found.is_empty() {
        if let Err(damage) = check_counts(&storage, &manifest, segments) {
            damages.add(missing_is_damage(damage)?);
        }
    } else if let Err(damage) = open_statistics(&storage, &manifest, Vec::new()) {
        damages.add(missing_is_damage(damage)?);
    }
    check_logs(&storage, &manifest, &mut report, &mut damages)?;
    let before = older::check(&storage, Some(&manifest), &mut report, &mut damages)?;
    report.unfinished = leftovers::unfinished(&storage, &manifest)?;
    let kept: Vec<Manifest> = [manifest].into_iter().chain(before).collect();
    report.strays = leftovers::strays(&storage, &kept)?;
    Ok((report, damages.found))
}

/// Reads the logs after the generation, unless a writer is active, which is writing them.
fn check_logs(
    storage: &SharedStorage,
    manifest: &Manifest,
    report: &mut CheckReport,
    damages: &mut Damages,
) -> Result<(), IndexError> {
    if storage.is_locked(LOCK_NAME)? {
        return Ok(());
    }
    let logged = log::read_after(storage, manifest)?;
    report.logged_changes = logged.records;
    for loss in logged.losses {
        let loss = Box::new(loss);
        damages.add(IndexError::LogLost { loss });
    }
    Ok(())
}

/// Checks every segment with its texts; returns the segments that could be opened.
fn check_segments(
    storage: &SharedStorage,
    manifest: &Manifest,
    report: &mut CheckReport,
    damages: &mut Damages,
) -> Result<Vec<Arc<Segment>>, IndexError> {
    let mut segments = Vec::new();
    for entry in &manifest.segments {
        if damages.is_full() {
            break;
        }
        report.segments += 1;
        report.segments_by_order[entry.order as usize] += 1;
        let segment = open_verified_segment(storage, manifest, entry);
        let store = open_store(storage, manifest, entry).and_then(|part| {
            part.as_ref()
                .map_or(Ok(()), |part| part.file().verify_whole())?;
            Ok(part)
        });
        let outcome = match (segment, store) {
            (Ok(opened), Ok(store)) => {
                let outcome = segment::check(&opened, manifest, store.as_deref(), report);
                segments.push(Arc::new(opened));
                outcome
            }
            (segment, store) => {
                for error in [segment.err(), store.err()].into_iter().flatten() {
                    damages.add(missing_is_damage(error)?);
                }
                Ok(())
            }
        };
        if let Err(damage) = outcome {
            damages.add(missing_is_damage(damage)?);
        }
    }
    Ok(segments)
}
