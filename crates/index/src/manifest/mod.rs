//! The manifest: the one file that says what an index is made of at a generation.
//!
//! `MANIFEST-<generation>` holds JSON in a sealed envelope: options of the index, every live file with
//! its length and checksum, and counts. A generation exists from the moment its manifest has its name.

mod contents;
mod files;
mod plausible;

pub(crate) use contents::{FileEntry, Manifest, SegmentEntry, StatisticsEntry, StatisticsLayers};
pub(crate) use files::{commit, generations, newest, read, read_newest};
