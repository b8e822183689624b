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

/// Ranking function and its parameters.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct RankingArguments {
    /// Ranking function, with parameters where others than the default are wanted, as bm25:k1=0.9,b=0.4
    #[arg(long, value_name = "NAME[:PARAMETER=N,...]", default_value = "bm25",
          value_parser = RankingParser)]
    ranking: ::search::Ranking,
    /// BM25 term frequency saturation, 0 to 1000; 0 counts no occurrence beyond the first [default: 1.2]
    #[arg(long, value_name = "K1", value_parser = parse_k1, allow_negative_numbers = true)]
    k1: Option<f32>,
    /// BM25 length normalization, 0 (none) to 1 (full) [default: 0.75]
    #[arg(long, value_name = "B", value_parser = parse_b, allow_negative_numbers = true)]
    b: Option<f32>,
}

impl RankingArguments {
    pub(super) fn ranking(&self) -> ::search::Ranking {
        let given = [("k1", self.k1), ("b", self.b)];
        let given = given
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        given.fold(self.ranking, |ranking, (name, value)| {
            ranking.with_parameter(name, value)
        })
    }
}

/// Parser of a ranking. Help lists the registered models.
#[derive(Debug, Clone, Copy)]
struct RankingParser;

impl clap::builder::TypedValueParser for RankingParser {
    type Value = ::search::Ranking;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<::search::Ranking, clap::Error> {
        let parse = |text: &str| {
            let parsed = text.parse::<::search::Ranking>();
            parsed.map_err(|error| format!("it is {error}"))
        };
        parse.parse_ref(command, argument, value)
    }

    fn possible_values(
        &self,
    ) -> Option<Box<dyn Iterator<Item = clap::builder::PossibleValue> + '_>> {
        let models = ::search::Ranking::MODELS.into_iter();
        let value = |model: &::search::ranking::Model| {
            clap::builder::PossibleValue::new(model.name).help(model.summary)
        };
        Some(Box::new(models.map(value)))
    }
}

fn parse_k1(text: &str) -> Result<f32, String> {
    parse_parameter("k1", text)
}

fn parse_b(text: &str) -> Result<f32, String> {
    parse_parameter("b", text)
}

/// Reads a parameter of the default model.
fn parse_parameter(name: &str, text: &str) -> Result<f32, String> {
    let known = ::search::Ranking::default().model().parameters;
    let parameter = known.iter().find(|parameter| parameter.name == name);
    let value = parameter.and_then(|one| one.read(text).ok());
    value.ok_or_else(|| match parameter {
        Some(one) => format!("give a number from {} to {}", one.least, one.greatest),
        None => format!("the default ranking has no {name}"),
    })
}
