//! Indexing of a corpus with Shorttail: one chunk, hence one segment, from one commit.
//!
//! The content equals that of the other engines: the title precedes the body, because they have no field
//! of titles, and the texts are not stored.

use crate::protocol::{IndexArguments, Indexed, Result};
use corpus::{ReadOptions, Reader, Source};
use document::Document;
use index::{BuildOptions, Texts, Writer};
use std::sync::Arc;
use std::time::Instant;
use text::Analyzer;
use vfs::RealStorage;

/// Number of chunks without `--force-merge`: the default of `shorttail index`.
const CHUNKS_OWN: u32 = 2;

pub(crate) fn index(arguments: &IndexArguments) -> Result<Indexed> {
    if arguments.directory.exists() {
        std::fs::remove_dir_all(&arguments.directory)?;
    }
    let started = Instant::now();
    let storage = Arc::new(RealStorage::create_directory(&arguments.directory)?);
    let chunks = match arguments.force_merge {
        true => 1,
        false => CHUNKS_OWN,
    };
    let options = BuildOptions {
        chunks: Some(chunks),
        threads: arguments.threads,
        memory_bytes: (arguments.threads * arguments.ram_mb) as u64 * (1 << 20),
        codec: None,
        analyzer: Some(Analyzer::Plain),
        texts: Some(Texts::None),
        ..BuildOptions::default()
    };
    let reading = ReadOptions {
        strict: true,
        ..ReadOptions::default()
    };
    let source = Source::JsonLines(arguments.corpus.clone());
    let mut reader = Reader::open(vec![source], reading)?;
    let mut writer = Writer::open(storage, options)?;
    while let Some(document) = reader.next_document()? {
        writer.add(in_one_field(document))?;
    }
    let summary = writer.commit()?;
    let wall_s = started.elapsed().as_secs_f64();
    if summary.documents_replaced > 0 {
        // The other engines keep both, so collection statistics would differ.
        return Err(format!("{} URLs occur twice", summary.documents_replaced).into());
    }
    Ok(Indexed {
        version: env!("CARGO_PKG_VERSION").into(),
        documents: summary.documents_count,
        wall_s,
        // One commit makes one segment a chunk. Opening the index to count them would map all of it,
        // and so count as memory that indexing takes.
        segments: chunks as usize,
        index_bytes: summary.index_bytes,
        store_bytes: summary.store_bytes,
    })
}

/// Returns the document with its title as the first line of its body.
fn in_one_field(mut document: Document) -> Document {
    document.title.push('\n');
    document.title.push_str(&document.body);
    document.body = std::mem::take(&mut document.title);
    document
}
