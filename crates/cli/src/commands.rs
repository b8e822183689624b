//! The subcommands, one file each.

mod bench;
mod check;
mod demo;
mod index;
mod search;
mod serve;
mod topics;

use ::index::{Details, Index, IndexError, Segment};
use ::search::ScoredHit;
use anyhow::bail;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use vfs::{RealStorage, SharedStorage};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Index(index::IndexArguments),
    Search(search::SearchArguments),
    Serve(serve::ServeArguments),
    Bench(bench::BenchArguments),
    Check(check::CheckArguments),
    Demo(demo::DemoArguments),
}

impl Command {
    /// Runs it to its end.
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Command::Index(arguments) => index::run(arguments),
            Command::Search(arguments) => search::run(arguments),
            Command::Serve(arguments) => serve::run(arguments),
            Command::Bench(arguments) => bench::run(arguments),
            Command::Check(arguments) => check::run(arguments),
            Command::Demo(arguments) => demo::run(arguments),
        }
    }
}

/// The directory of an index that must be there already.
fn existing_directory(directory: &Path) -> anyhow::Result<SharedStorage> {
    if !directory.exists() {
        bail!(
            "{}: no such directory; build an index with `shorttail index SOURCE --into DIR`",
            directory.display()
        );
    }
    Ok(Arc::new(RealStorage::open(directory)?))
}

/// Opens an index that must be there already, every checksum verified.
fn open_index(directory: &Path) -> anyhow::Result<Arc<Index>> {
    let index: Result<Index, IndexError> = Index::open(existing_directory(directory)?);
    Ok(Arc::new(index?))
}

/// The segments of all chunks.
fn all_segments(index: &Index) -> Vec<Arc<Segment>> {
    index.segments(0..index.chunks_count()).cloned().collect()
}

/// What a hit shows of its document.
fn details_of(segments: &[Arc<Segment>], hit: &ScoredHit) -> Result<Details, IndexError> {
    let segment = segments.iter().find(|segment| segment.id() == hit.segment);
    // A hit names a segment of the very list that was searched.
    segment
        .expect("a hit of a searched segment")
        .details(hit.doc)
}

/// The cores that this process may use.
fn cores_count() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// How documents are scored, as options name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum RankingName {
    /// BM25 with k1 1.2 and b 0.75
    Bm25,
    /// Classic tf·idf
    Tfidf,
}

impl RankingName {
    fn ranking(self) -> ::search::Ranking {
        match self {
            RankingName::Bm25 => ::search::Ranking::default(),
            RankingName::Tfidf => ::search::Ranking::TfIdf,
        }
    }
}
