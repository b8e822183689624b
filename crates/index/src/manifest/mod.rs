//! Manifest: the file that lists the parts of an index at one generation.
//!
//! `MANIFEST-<generation>` holds JSON in a sealed envelope: options of the index, counts, and every live file with its
//! length and checksum. A generation exists from the moment that its manifest has its final name.

mod contents;
mod files;
mod plausible;

pub(crate) use contents::{FileEntry, Manifest, SegmentEntry, StatisticsEntry, StatisticsLayers};
pub(crate) use files::{commit, generations, newest, read, read_newest};
