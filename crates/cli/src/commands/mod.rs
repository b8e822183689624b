//! The subcommands, one file each.

mod admin;
mod bench;
mod check;
mod connections;
mod demo;
mod document_server;
mod front_end;
mod index;
mod index_server;
#[cfg(feature = "lab")]
mod lab;
#[cfg(feature = "lab")]
mod load;
mod model;
mod optimize;
mod plan;
mod search;
mod serve;
mod serving;
mod top;
mod topics;

use crate::failure::note;
use crate::figures;
use crate::meter::Meter;
use ::index::{Details, Index, IndexError, PreloadParts, Segment};
use ::search::ScoredHit;
use anyhow::bail;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use vfs::{Preload, PreloadOptions, RealStorage, SharedStorage};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Index(index::IndexArguments),
    Optimize(optimize::OptimizeArguments),
    Search(search::SearchArguments),
    Serve(serve::ServeArguments),
    IndexServer(index_server::IndexServerArguments),
    DocumentServer(document_server::DocumentServerArguments),
    FrontEnd(front_end::FrontEndCommandArguments),
    Top(top::TopArguments),
    #[cfg(feature = "lab")]
    Load(load::LoadArguments),
    #[cfg(feature = "lab")]
    Lab(lab::LabArguments),
    Bench(bench::BenchArguments),
    Check(check::CheckArguments),
    Model(model::ModelArguments),
    Plan(plan::PlanArguments),
    Demo(demo::DemoArguments),
}

impl Command {
    /// Runs it to its end.
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Command::Index(arguments) => index::run(arguments),
            Command::Optimize(arguments) => optimize::run(arguments),
            Command::Search(arguments) => search::run(arguments),
            Command::Serve(arguments) => serve::run(arguments),
            Command::IndexServer(arguments) => index_server::run(arguments),
            Command::DocumentServer(arguments) => document_server::run(arguments),
            Command::FrontEnd(arguments) => front_end::run(arguments),
            Command::Top(arguments) => top::run(arguments),
            #[cfg(feature = "lab")]
            Command::Load(arguments) => load::run(arguments),
            #[cfg(feature = "lab")]
            Command::Lab(arguments) => lab::run(arguments),
            Command::Bench(arguments) => bench::run(arguments),
            Command::Check(arguments) => check::run(arguments),
            Command::Model(arguments) => model::run(arguments),
            Command::Plan(arguments) => plan::run(arguments),
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

/// Opens an index that must be there already, to be read through servers: they examine what they read.
fn open_index(directory: &Path) -> anyhow::Result<Arc<Index>> {
    let index = Index::open(existing_directory(directory)?)?;
    warn_of_unfinished(&index);
    Ok(Arc::new(index))
}

/// Opens an index that must be there already and verifies all of it, for commands that read it directly.
fn open_verified(directory: &Path) -> anyhow::Result<Arc<Index>> {
    let index = open_index(directory)?;
    index.verify_whole()?;
    Ok(index)
}

/// Says that a newer generation has files and no manifest, where it is so.
fn warn_of_unfinished(index: &Index) {
    if let Some(unfinished) = index.unfinished() {
        note(&format!("warning: {unfinished}"));
    }
}

/// Opens an index with its files loaded into memory first, texts left out, and verifies all of it; says how far it is,
/// and what was really done.
fn open_preloaded(directory: &Path, preload: Preload) -> anyhow::Result<Arc<Index>> {
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
    /// BM25 (see --k1 and --b)
    Bm25,
    /// Classic tf·idf
    Tfidf,
}

/// How documents are scored.
#[derive(Debug, Clone, clap::Args)]
struct RankingArguments {
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
    fn ranking(&self) -> ::search::Ranking {
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
