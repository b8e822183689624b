//! A stream of documents out of sources.
use crate::Document;
use std::path::PathBuf;

/// Where documents come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// JSON lines, possibly compressed (`.zst`, `.gz`).
    JsonLines(PathBuf),
    /// A folder of text, Markdown and HTML files (recursively).
    Folder(PathBuf),
    /// JSON lines on standard input.
    StandardInput,
    /// The documentation that is on this machine already.
    Machine,
}

impl Source {
    /// What a command-line argument names: `-`, a folder, or a file ending in `.jsonl[.zst|.gz]`.
    pub fn parse(_argument: &str) -> Result<Source, ReaderError> {
        unimplemented!()
    }
}

/// A source that cannot be read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReaderError {
    /// Not a source.
    #[error("{path}: {reason}", path = path.display())]
    Source {
        /// The argument.
        path: PathBuf,
        /// What is wrong and what to do.
        reason: String,
    },
    /// Reading failed.
    #[error("{path}: cannot read: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A bad document under `--strict`.
    #[error("{0}")]
    Strict(BadDocument),
}

/// A document that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadDocument {
    /// The file.
    pub file: String,
    /// The line, from 1; 0 where the file is the document.
    pub line: u64,
    /// What is wrong.
    pub reason: String,
}

impl std::fmt::Display for BadDocument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.line == 0 {
            write!(f, "{}: {}", self.file, self.reason)
        } else {
            write!(f, "{}:{}: {}", self.file, self.line, self.reason)
        }
    }
}

/// How far a reader has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Good documents given out.
    pub documents: u64,
    /// Bad documents left out.
    pub bad: u64,
    /// Bytes of text read (after decompression).
    pub text_bytes: u64,
    /// Bytes of source files read (before decompression), the measure of progress.
    pub source_bytes: u64,
    /// Bytes of all source files, where known (not for standard input).
    pub source_bytes_total: Option<u64>,
}

/// Reads documents one after another out of all sources, in order.
pub struct Reader {}

impl Reader {
    /// Opens the sources. `strict` makes the first bad document an error.
    pub fn open(_sources: Vec<Source>, _strict: bool) -> Result<Reader, ReaderError> {
        unimplemented!()
    }
    /// The next good document; `None` at the end.
    pub fn next_document(&mut self) -> Result<Option<Document>, ReaderError> {
        unimplemented!()
    }
    /// How far it has come.
    pub fn progress(&self) -> Progress {
        unimplemented!()
    }
    /// The first ten bad documents.
    pub fn bad_documents(&self) -> &[BadDocument] {
        unimplemented!()
    }
}
