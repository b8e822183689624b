//! Test bench: a pool of children, and what it finds in bytes.

use corpus::{Extract, Extracted};
use extract::{Launch, Limits, Pool};
use std::io::Cursor;

/// Limits that are small enough to reach in a test.
pub(crate) const SMALL: Limits = Limits {
    memory_bytes: 256 << 20,
    document_s: 3,
};

/// Returns the command of the child of this crate.
pub(crate) fn launch() -> Launch {
    Launch {
        program: env!("CARGO_BIN_EXE_extract-child").into(),
        arguments: Vec::new(),
    }
}

pub(crate) fn pool() -> Pool {
    Pool::new(launch(), SMALL)
}

/// Returns all results of a file.
pub(crate) fn results(pool: &Pool, name: &str, bytes: &[u8]) -> Vec<Extracted> {
    let bytes = Box::new(Cursor::new(bytes.to_vec()));
    pool.start(name, bytes).collect()
}

/// A document in short: path, title, body.
pub(crate) type Short = (String, String, String);

/// Returns the documents of a file that is whole.
#[track_caller]
pub(crate) fn documents(name: &str, bytes: &[u8]) -> Vec<Short> {
    let results = results(&pool(), name, bytes);
    let documents = results.into_iter().filter_map(|result| match result {
        Extracted::Document {
            path, title, body, ..
        } => Some((path, title, body)),
        Extracted::Bad { path, reason } => panic!("{name} {path}: {reason}"),
        Extracted::LeftOut { .. } => None,
    });
    documents.collect()
}

/// Returns title and body of a file that is one document.
#[track_caller]
pub(crate) fn document(name: &str, bytes: &[u8]) -> (String, String) {
    let mut documents = documents(name, bytes);
    assert_eq!(documents.len(), 1, "{name}: {documents:?}");
    let (path, title, body) = documents.remove(0);
    assert_eq!(path, "");
    (title, body)
}

/// Returns paths and reasons of what is bad in a file.
pub(crate) fn bad(pool: &Pool, name: &str, bytes: &[u8]) -> Vec<(String, String)> {
    let results = results(pool, name, bytes).into_iter();
    let bad = results.filter_map(|result| match result {
        Extracted::Bad { path, reason } => Some((path, reason)),
        _ => None,
    });
    bad.collect()
}
