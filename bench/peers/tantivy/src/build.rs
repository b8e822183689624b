//! Indexing of a corpus with Tantivy.

use crate::protocol::{self, IndexArguments, Indexed, Result};
use crate::{BODY, TOKENIZER, URL, analyzer};
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::time::Instant;
use tantivy::merge_policy::NoMergePolicy;
use tantivy::schema::{IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions};
use tantivy::{Index, IndexWriter, TantivyDocument};

#[derive(serde::Deserialize)]
struct Record<'a> {
    #[serde(borrow)]
    url: Cow<'a, str>,
    #[serde(borrow, default)]
    title: Cow<'a, str>,
    #[serde(borrow, default)]
    body: Cow<'a, str>,
}

pub fn index(arguments: &IndexArguments) -> Result<Indexed> {
    let directory = &arguments.directory;
    if directory.exists() {
        std::fs::remove_dir_all(directory)?;
    }
    std::fs::create_dir_all(directory)?;
    let started = Instant::now();
    let index = Index::create_in_dir(directory, schema())?;
    index.tokenizers().register(TOKENIZER, analyzer());
    let documents = add_all(&index, arguments)?;
    if arguments.force_merge {
        merge_all(&index, arguments.ram_mb)?;
    }
    Ok(Indexed {
        version: tantivy::version_string().into(),
        documents,
        wall_s: started.elapsed().as_secs_f64(),
        segments: index.searchable_segment_ids()?.len(),
        index_bytes: protocol::directory_bytes(directory)?,
        store_bytes: 0,
    })
}

fn schema() -> Schema {
    let mut schema = Schema::builder();
    schema.add_text_field(URL, STORED);
    let words = TextFieldIndexing::default()
        .set_tokenizer(TOKENIZER)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    schema.add_text_field(BODY, TextOptions::default().set_indexing_options(words));
    schema.build()
}

fn add_all(index: &Index, arguments: &IndexArguments) -> Result<u64> {
    let schema = index.schema();
    let (url, body) = (schema.get_field(URL)?, schema.get_field(BODY)?);
    let budget_bytes = (arguments.threads * arguments.ram_mb) << 20;
    let mut writer: IndexWriter = index.writer_with_num_threads(arguments.threads, budget_bytes)?;
    let mut corpus = BufReader::with_capacity(1 << 20, File::open(&arguments.corpus)?);
    let mut line = String::new();
    let mut documents = 0;
    while corpus.read_line(&mut line)? > 0 {
        let record: Record = serde_json::from_str(line.trim_end())?;
        let mut document = TantivyDocument::default();
        document.add_text(url, &*record.url);
        document.add_text(body, format!("{}\n{}", record.title, record.body));
        writer.add_document(document)?;
        documents += 1;
        line.clear();
    }
    writer.commit()?;
    writer.wait_merging_threads()?;
    Ok(documents)
}

fn merge_all(index: &Index, ram_mb: usize) -> Result<()> {
    let segments = index.searchable_segment_ids()?;
    if segments.len() > 1 {
        // Tantivy refuses less than 15 MB.
        let mut writer: IndexWriter = index.writer_with_num_threads(1, ram_mb.max(16) << 20)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        writer.merge(&segments).wait()?;
        writer.garbage_collect_files().wait()?;
        writer.wait_merging_threads()?;
    }
    Ok(())
}
