//! Indexing of a corpus with SeekStorm: one shard, without its index of word pairs.
//!
//! SeekStorm chooses the number of threads itself; `--threads`, `--ram-mb` and `--force-merge` have no
//! effect.

use crate::protocol::{self, IndexArguments, Indexed, Result};
use crate::words;
use seekstorm::commit::Commit;
use seekstorm::index::{
    AccessType, Close, Clustering, Document, DocumentCompression, FileType, FrequentwordType,
    IndexDocument, IndexMetaObject, LexicalSimilarity, NgramSet, StemmerType, StopwordType,
    TokenizerType, create_index,
};
use seekstorm::vector::Inference;
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::time::Instant;

const SCHEMA: &str = r#"[
    {"field": "url", "field_type": "Text", "store": true, "index_lexical": false},
    {"field": "body", "field_type": "Text", "store": false, "index_lexical": true}
]"#;

#[derive(serde::Deserialize)]
struct Record<'a> {
    #[serde(borrow)]
    url: Cow<'a, str>,
    #[serde(borrow, default)]
    title: Cow<'a, str>,
    #[serde(borrow, default)]
    body: Cow<'a, str>,
}

pub async fn index(arguments: &IndexArguments) -> Result<Indexed> {
    let directory = &arguments.directory;
    if directory.exists() {
        std::fs::remove_dir_all(directory)?;
    }
    let started = Instant::now();
    let shards = 1;
    let schema = serde_json::from_str(SCHEMA)?;
    let index = create_index(directory, meta(), &schema, &Vec::new(), true, Some(shards)).await?;
    let mut corpus = BufReader::with_capacity(1 << 20, File::open(&arguments.corpus)?);
    let mut line = String::new();
    let mut documents = 0;
    while corpus.read_line(&mut line)? > 0 {
        let record: Record = serde_json::from_str(line.trim_end())?;
        let body = words(&[&record.title, &record.body], true);
        let mut document = Document::default();
        document.insert("url".into(), record.url.into_owned().into());
        document.insert("body".into(), body.into());
        index.index_document(document, FileType::None).await;
        documents += 1;
        line.clear();
    }
    index.commit().await;
    index.close().await;
    Ok(Indexed {
        version: seekstorm::index::version().to_string(),
        documents,
        wall_s: started.elapsed().as_secs_f64(),
        segments: shards,
        index_bytes: protocol::directory_bytes(directory)?,
        store_bytes: 0,
    })
}

fn meta() -> IndexMetaObject {
    IndexMetaObject {
        id: 0,
        name: "peer".into(),
        lexical_similarity: LexicalSimilarity::Bm25f,
        tokenizer: TokenizerType::Whitespace,
        stemmer: StemmerType::None,
        stop_words: StopwordType::None,
        frequent_words: FrequentwordType::None,
        ngram_indexing: NgramSet::SingleTerm as u8,
        document_compression: DocumentCompression::Lz4,
        access_type: AccessType::Mmap,
        spelling_correction: None,
        query_completion: None,
        clustering: Clustering::None,
        inference: Inference::None,
        segment_number_bits: 11,
    }
}
