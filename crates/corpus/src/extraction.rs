//! Documents inside files that are not text: the seam between the readers of sources and an extractor.
//!
//! This crate reads no archive, mail, office document or PDF itself, because their readers are large and their input is
//! hostile. An [`Extract`] given in [`crate::ReadOptions`] does, elsewhere: crate `extract` in a child process.

use crate::input::decompressed_name;
use json::{Map, Value};
use std::fmt;
use std::io::Read;
use std::sync::Arc;

/// Kind of a file whose documents an extractor finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `.zip`, `.tar` and compressed `.tar`: every member is a document.
    Archive,
    /// `.docx`, `.pptx`, `.xlsx`, `.odt`, `.odp`, `.ods`, `.epub`.
    Office,
    /// `.eml`, and `.mbox` with a document for each message.
    Mail,
    /// `.pdf`.
    Pdf,
}

/// Endings of compressed tar files beside `.tar` with an ending of compression.
const TAR_ENDINGS: [&str; 6] = [".tgz", ".txz", ".tbz", ".tbz2", ".tzst", ".tar"];

impl Kind {
    /// Returns the kind that a file's name indicates, without case.
    pub fn of(name: &str) -> Option<Kind> {
        let name = name.to_ascii_lowercase();
        let bare = decompressed_name(&name);
        if TAR_ENDINGS.iter().any(|ending| bare.ends_with(ending)) {
            return Some(Kind::Archive);
        }
        let (_, ending) = bare.rsplit_once('.')?;
        match ending {
            "zip" => Some(Kind::Archive),
            "docx" | "docm" | "pptx" | "pptm" | "xlsx" | "xlsm" | "odt" | "odp" | "ods"
            | "epub" => Some(Kind::Office),
            "eml" | "mbox" => Some(Kind::Mail),
            "pdf" => Some(Kind::Pdf),
            _ => None,
        }
    }
}

/// One result of an extraction.
#[derive(Debug, Clone, PartialEq)]
pub enum Extracted {
    /// A document.
    Document {
        /// Its path inside the file, with `!/` after each archive; empty where the file is the document.
        path: String,
        /// Its title; empty where it has none.
        title: String,
        /// Its text.
        body: String,
        /// Further fields.
        fields: Map<String, Value>,
    },
    /// A document that cannot be read.
    Bad {
        /// Its path inside the file; empty for the file itself.
        path: String,
        /// The problem.
        reason: String,
    },
    /// A member of an archive whose name is not that of a document.
    LeftOut {
        /// Its name.
        name: String,
    },
}

/// Stream of the results of one file.
pub type Extraction = Box<dyn Iterator<Item = Extracted> + Send>;

/// Finder of the documents inside files.
pub trait Extract: fmt::Debug + Send + Sync {
    /// Returns whether files of this kind are read.
    fn reads(&self, kind: Kind) -> bool;

    /// Returns the number of files that are worth starting before the first is finished, at least 1.
    fn ahead(&self) -> usize;

    /// Begins to read a file, perhaps before an earlier one is finished; results are then taken in the order of the starts.
    /// Given are its name without folders, and its bytes. An error of `bytes` is a sentence for the user.
    fn start(&self, name: &str, bytes: Box<dyn Read + Send>) -> Extraction;
}

/// Shared extractor, as an option of reading.
#[derive(Debug, Clone)]
pub struct Extractor(pub(crate) Arc<dyn Extract>);

impl Extractor {
    /// Wraps an extractor.
    pub fn new(extract: impl Extract + 'static) -> Extractor {
        Extractor(Arc::new(extract))
    }

    /// Returns the number of files to start before the first is finished.
    pub(crate) fn ahead(&self) -> usize {
        self.0.ahead().max(1)
    }

    /// Returns whether a file of this name is read.
    pub(crate) fn reads(&self, name: &str) -> bool {
        Kind::of(name).is_some_and(|kind| self.0.reads(kind))
    }
}

impl PartialEq for Extractor {
    fn eq(&self, other: &Extractor) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Extractor {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_names() {
        for name in ["a.zip", "A.TAR", "a.tar.gz", "a.tgz", "a.tar.zst", "x.tbz2"] {
            assert_eq!(Kind::of(name), Some(Kind::Archive), "{name}");
        }
        assert_eq!(Kind::of("a.DOCX"), Some(Kind::Office));
        assert_eq!(Kind::of("a.pdf.gz"), Some(Kind::Pdf));
        assert_eq!(Kind::of("in.mbox.xz"), Some(Kind::Mail));
        for name in ["a.txt", "zip", "a.png", "", "tar"] {
            assert_eq!(Kind::of(name), None, "{name}");
        }
    }
}
