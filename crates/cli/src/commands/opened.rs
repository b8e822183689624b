//! Opening of indexes for a command, and the arguments of the ranking.

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

/// Opens the directory of an index, which must exist.
pub(super) fn existing_directory(directory: &Path) -> anyhow::Result<SharedStorage> {
    if !directory.exists() {
        bail!(
            "{}: no such directory; build an index with `shorttail index SOURCE --into DIR`",
            directory.display()
        );
    }
    Ok(Arc::new(RealStorage::open(directory)?))
}

/// Opens the directory of an index to change, which must have a generation.
pub(super) fn existing_index(directory: &Path) -> anyhow::Result<SharedStorage> {
    let storage = existing_directory(directory)?;
    match Index::newest_generation(&storage)? {
        Some(_) => Ok(storage),
        None => bail!(
            "{}: no index here; build one with `shorttail index SOURCE --into DIR`",
            directory.display()
        ),
    }
}

/// Opens an index that must exist, for servers and the engine, which verify the blocks that they read.
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

/// Loads the files of an index, without texts, into memory, opens it and verifies all of it. Reports the progress and
/// the kind of memory obtained.
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

/// Returns the segments of all chunks.
pub(super) fn all_segments(index: &Index) -> Vec<Arc<Segment>> {
    index.segments(0..index.chunks_count()).cloned().collect()
}

/// Reads the URL, title and id of the documents of hits. Documents are read in the order of the index, where neighbours
/// cost little.
pub(super) fn details_of(
    segments: &[Arc<Segment>],
    hits: &[ScoredHit],
) -> Result<Vec<Details>, IndexError> {
    let mut order: Vec<usize> = (0..hits.len()).collect();
    order.sort_unstable_by_key(|&at| (hits[at].segment, hits[at].doc));
    let mut details = Vec::with_capacity(hits.len());
    for same in order.chunk_by(|&a, &b| hits[a].segment == hits[b].segment) {
        let id = hits[same[0]].segment;
        let segment = segments.iter().find(|segment| segment.id() == id);
        // A hit names a segment of the very list that was searched.
        let mut reader = segment
            .expect("a hit of a searched segment")
            .details_reader();
        for &at in same {
            details.push((at, reader.read(hits[at].doc)?));
        }
    }
    details.sort_unstable_by_key(|&(at, _)| at);
    Ok(details.into_iter().map(|(_, details)| details).collect())
}

/// Returns the number of cores that this process may use.
pub(super) fn cores_count() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Ranking functions by the names of the option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum RankingName {
    /// BM25 (see --k1 and --b)
    Bm25,
    /// Classic tf·idf
    Tfidf,
}

/// Ranking function and its parameters.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct RankingArguments {
    /// Ranking function
    #[arg(long, default_value = "bm25")]
    ranking: RankingName,
    /// BM25 term frequency saturation, 0 to 1000; 0 counts no occurrence beyond the first
    #[arg(long, value_name = "K1", default_value = "1.2", value_parser = parse_k1,
          allow_negative_numbers = true)]
    k1: f32,
    /// BM25 length normalization, 0 (none) to 1 (full)
    #[arg(long, value_name = "B", default_value = "0.75", value_parser = parse_b,
          allow_negative_numbers = true)]
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
