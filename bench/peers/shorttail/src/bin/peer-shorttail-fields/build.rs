//! Indexing of a corpus with typed fields: one chunk, hence one segment, from one commit on one thread.
//!
//! The title precedes the body, because the other engines have no searched field of titles. The texts are stored, because
//! columns are derived from what is stored; the others store URL and title alone.

use crate::Result;
use corpus::{ReadOptions, Reader, Source};
use document::Document;
use fields::facet::SITE;
use index::{BuildOptions, Texts, Writer};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use text::Analyzer;
use vfs::{RealStorage, SharedStorage};

/// Indexes a corpus; prints a line of JSON about it.
pub(crate) fn index(corpus: &Path, directory: &Path, ram_mb: u64) -> Result<()> {
    let started = Instant::now();
    let reading = ReadOptions {
        strict: true,
        ..ReadOptions::default()
    };
    let mut reader = Reader::open(vec![Source::JsonLines(corpus.to_owned())], reading)?;
    let (_, mut writer) = new_index(directory, ram_mb << 20)?;
    while let Some(document) = reader.next_document()? {
        writer.add(in_one_field(document))?;
    }
    let added_s = started.elapsed().as_secs_f64();
    let summary = writer.commit()?;
    let wall_s = started.elapsed().as_secs_f64();
    if summary.documents_replaced > 0 || !summary.misfits.is_empty() {
        let (replaced, misfits) = (summary.documents_replaced, summary.misfits);
        return Err(format!("{replaced} URLs occur twice, misfits: {misfits:?}").into());
    }
    println!(
        "{{\"peer\":\"shorttail\",\"version\":{:?},\"docs\":{},\"bytes\":{},\"wall_s\":{wall_s:.2},\"add_s\":{added_s:.2},\
         \"merge_s\":{:.2},\"index_bytes\":{},\"store_bytes\":{}}}",
        env!("CARGO_PKG_VERSION"),
        summary.documents_count,
        std::fs::metadata(corpus)?.len(),
        wall_s - added_s,
        summary.index_bytes,
        summary.store_bytes
    );
    Ok(())
}

/// Returns the storage and the writer of a new index, in place of what is in the directory.
pub(crate) fn new_index(directory: &Path, memory_bytes: u64) -> Result<(SharedStorage, Writer)> {
    if directory.exists() {
        std::fs::remove_dir_all(directory)?;
    }
    std::fs::create_dir_all(directory)?;
    let storage: SharedStorage = Arc::new(RealStorage::create_directory(directory)?);
    let options = BuildOptions {
        chunks: Some(1),
        threads: 1,
        memory_bytes,
        analyzer: Some(Analyzer::Plain),
        texts: Some(Texts::Stored),
        ..BuildOptions::default()
    };
    let writer = Writer::open(storage.clone(), options)?;
    Ok((storage, writer))
}

/// Returns the document with its title as the first line of its body, and without the site, which is known from its URL.
pub(crate) fn in_one_field(mut document: Document) -> Document {
    document.title.push('\n');
    document.title.push_str(&document.body);
    document.body = std::mem::take(&mut document.title);
    document.fields.remove(SITE);
    document
}
