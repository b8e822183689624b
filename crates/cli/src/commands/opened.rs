//! Indexes opened for a command, and the arguments that choose a ranking.

use crate::failure::note;
use crate::figures;
use crate::meter::Meter;
use ::index::{Details, Index, IndexError, PreloadParts, Segment};
use ::search::ScoredHit;
use anyhow::bail;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use vfs::{Preload, PreloadOptions, RealStorage, SharedStorage};

/// The directory of an index that must be there already.
pub(super) fn existing_directory(directory: &Path) -> anyhow::Result<SharedStorage> {
    if !directory.exists() {
        bail!(
            "{}: no such directory; build an index with `shorttail index SOURCE --into DIR`",
            directory.display()
        );
    }
    Ok(Arc::new(RealStorage::open(directory)?))
}

/// Opens an index that must exist, to be read through servers or the engine: they examine what they read.
pub(super) fn open_index(directory: &Path) -> anyhow::Result<Arc<Index>> {
    let index = Index::open(existing_directory(directory)?)?;
    warn_of_unfinished(&index);
    Ok(Arc::new(index))
}

/// Opens an index that must exist and verifies all of it, for commands that read it directly.
pub(super) fn open_verified(directory: &Path) -> anyhow::Result<Arc<Index>> {
    let index = open_index(directory)?;
    index.verify_whole()?;
    Ok(index)
}

/// Warns of a newer generation that has files and no manifest.
pub(super) fn warn_of_unfinished(index: &Index) {
    if let Some(unfinished) = index.unfinished() {
        note(&format!("warning: {unfinished}"));
    }
}

/// Opens an index with its files loaded into memory first, without texts, and verifies all of it. Reports progress, and
/// how the memory was obtained.
pub(super) fn open_preloaded(directory: &Path, preload: Preload) -> anyhow::Result<Arc<Index>> {
    if preload == Preload::None {
        return open_verified(directory);
    }
    let parts = PreloadParts {
        index: true,
        texts: false,
    };
    let options = PreloadOptions::new(preload);
    let mut meter = Meter::start("loading", None);
    let storage = existing_directory(directory)?;
    let preloaded = ::index::preload(storage, 0..u32::MAX, parts, &options, &mut |at| {
        meter.update_of("loading", at.bytes_done, at.bytes_total, |_| {
            figures::bytes(at.bytes_done)
        });
        ControlFlow::Continue(())
    })?;
    drop(meter);
    let preloaded = Arc::new(preloaded);
    let index = Index::open(preloaded.clone())?;
    index.verify_whole()?;
    warn_of_unfinished(&index);
    note(&preloaded.report().to_string());
    Ok(Arc::new(index))
}

/// The segments of all chunks.
pub(super) fn all_segments(index: &Index) -> Vec<Arc<Segment>> {
    index.segments(0..index.chunks_count()).cloned().collect()
}

/// What a hit shows of its document.
pub(super) fn details_of(
    segments: &[Arc<Segment>],
    hit: &ScoredHit,
) -> Result<Details, IndexError> {
    let segment = segments.iter().find(|segment| segment.id() == hit.segment);
    // A hit names a segment of the very list that was searched.
    segment
        .expect("a hit of a searched segment")
        .details(hit.doc)
}

/// The cores that this process may use.
pub(super) fn cores_count() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// How documents are scored, as options name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum RankingName {
    /// BM25 (see --k1 and --b)
    Bm25,
    /// Classic tf·idf
    Tfidf,
}

/// How documents are scored.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct RankingArguments {
    /// How documents are scored
    #[arg(long, default_value = "bm25")]
    ranking: RankingName,
    /// BM25: how soon more occurrences stop counting; 0 counts none beyond the first
    #[arg(long, value_name = "K1", default_value = "1.2", value_parser = parse_k1)]
    k1: f32,
    /// BM25: how much long documents are held back, 0 (not at all) to 1
    #[arg(long, value_name = "B", default_value = "0.75", value_parser = parse_b)]
    b: f32,
}

impl RankingArguments {
    pub(super) fn ranking(&self) -> ::search::Ranking {
        match self.ranking {
            RankingName::Bm25 => ::search::Ranking::Bm25 {
                k1: self.k1,
                b: self.b,
            },
            RankingName::Tfidf => ::search::Ranking::TfIdf,
        }
    }
}

fn parse_k1(text: &str) -> Result<f32, String> {
    parse_within(text, 0.0..=1000.0)
}

fn parse_b(text: &str) -> Result<f32, String> {
    parse_within(text, 0.0..=1.0)
}

fn parse_within(text: &str, range: std::ops::RangeInclusive<f32>) -> Result<f32, String> {
    match text.parse() {
        Ok(value) if range.contains(&value) => Ok(value),
        _ => Err(format!(
            "give a number from {} to {}",
            range.start(),
            range.end()
        )),
    }
}
