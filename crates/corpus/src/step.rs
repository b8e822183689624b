//! Steps of a stream of documents: what every source reports to the reader of all of them.

use crate::FileLimits;
use crate::extraction::Extractor;
use crate::passed_over::PassedOver;
use document::Document;
use document::{FieldNames, Origin};
use std::path::PathBuf;

/// Options of reading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Makes the first bad document an error.
    pub strict: bool,
    /// Follows links that leave a folder.
    pub follow_links: bool,
    /// Limits for each file.
    pub limits: FileLimits,
    /// Names of the fields of records.
    pub names: FieldNames,
    /// Reader of archives, mail, office documents and PDF. `None`: these files are left out.
    pub extractor: Option<Extractor>,
}

/// Error of a source that cannot be read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReaderError {
    /// The argument is not a source.
    #[error("{path}: {reason}", path = path.display())]
    Source {
        /// The argument.
        path: PathBuf,
        /// The problem and its remedy.
        reason: String,
    },
    /// Reading failed.
    #[error("{path}: cannot read: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Error of the system.
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
    /// Line number, from 1; 0 where the file is the document.
    pub line: u64,
    /// The problem.
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

/// Current place of a reader.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The file; `-` for standard input.
    pub file: String,
    /// Line number, from 1; 0 where the file is the document.
    pub line: u64,
    /// Decoded bytes of the file so far; 0 where the file is the document.
    pub decoded_bytes: u64,
    /// URL of the file, below which its records are addressed where it is one of a folder.
    pub(crate) url: Option<String>,
}

impl Place {
    /// Returns the place as the origin of the record that was read there.
    pub(crate) fn origin(&self) -> Origin<'_> {
        let line = self.line;
        match &self.url {
            Some(url) => Origin::OfFolder { url, line },
            None => Origin::Line {
                file: &self.file,
                line,
            },
        }
    }
}

/// One step of a stream of documents.
pub(crate) enum Step {
    /// A document.
    Good { document: Document, text_bytes: u64 },
    /// A bad document.
    Bad { bad: BadDocument, text_bytes: u64 },
    /// A path that is not read.
    PassedOver(PassedOver),
    /// A member of an archive whose name is not that of a document.
    LeftOut(String),
    /// A part of a file that holds no document, such as a picture that a crawler kept.
    NotRead { kind: String },
    /// No document yet.
    Meanwhile,
    /// The end of the stream.
    End,
}
