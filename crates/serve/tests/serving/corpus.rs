//! What is in the small indexes that the tests search?
use index::{BuildOptions, Index, Writer};
use std::sync::Arc;
use vfs::MemoryStorage;

pub(crate) const WORDS: [&str; 6] = ["alpha", "beta", "gamma", "delta", "omega", "zeta"];

/// Document `n` on site `site`; the bits of `words` say which of [`WORDS`] it holds, twice at odd n.
pub(crate) fn document(n: usize, site: u8, words: u8) -> corpus::Document {
    let held = WORDS
        .iter()
        .enumerate()
        .filter(|(bit, _)| words >> bit & 1 == 1);
    let mut body: String = held.map(|(_, word)| format!("{word} ")).collect();
    if n % 2 == 1 {
        body = body.repeat(2);
    }
    corpus::Document {
        url: format!("https://site{site}.example/{n}"),
        title: format!("Title {n}"),
        body: format!("{body}in the text of {n}"),
        ..Default::default()
    }
}

/// An index of documents, in memory.
pub(crate) fn index(
    documents: impl IntoIterator<Item = corpus::Document>,
    chunks: u32,
) -> Arc<Index> {
    let storage = Arc::new(MemoryStorage::default());
    let options = BuildOptions {
        chunks: Some(chunks),
        ..Default::default()
    };
    let mut writer = Writer::open(storage.clone(), options).unwrap();
    for document in documents {
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    Arc::new(Index::open(storage).unwrap())
}
