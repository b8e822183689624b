//! Formats of files, and the reader of each.

use crate::budget::{Budget, Fault, HELD_BYTES_MAX, read_document, read_up_to};
use crate::child::Results;
use std::io::{Cursor, Read};

/// Format of a file, by the ending of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    #[cfg(feature = "archives")]
    Zip,
    #[cfg(feature = "archives")]
    Tar,
    #[cfg(feature = "office")]
    Word,
    #[cfg(feature = "office")]
    Slides,
    #[cfg(feature = "office")]
    Sheets,
    #[cfg(feature = "office")]
    OpenDocument,
    #[cfg(feature = "office")]
    Epub,
    #[cfg(feature = "mail")]
    Message,
    #[cfg(feature = "mail")]
    Mailbox,
    #[cfg(feature = "pdf")]
    Pdf,
    /// Text, Markdown, HTML or code.
    Text,
}

impl Format {
    /// Returns the format that a name without an ending of compression indicates.
    pub(crate) fn of(name: &str) -> Option<Format> {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        match ending.to_ascii_lowercase().as_str() {
            #[cfg(feature = "archives")]
            "zip" => Some(Format::Zip),
            #[cfg(feature = "archives")]
            "tar" => Some(Format::Tar),
            #[cfg(feature = "office")]
            "docx" | "docm" => Some(Format::Word),
            #[cfg(feature = "office")]
            "pptx" | "pptm" => Some(Format::Slides),
            #[cfg(feature = "office")]
            "xlsx" | "xlsm" => Some(Format::Sheets),
            #[cfg(feature = "office")]
            "odt" | "odp" | "ods" => Some(Format::OpenDocument),
            #[cfg(feature = "office")]
            "epub" => Some(Format::Epub),
            #[cfg(feature = "mail")]
            "eml" => Some(Format::Message),
            #[cfg(feature = "mail")]
            "mbox" => Some(Format::Mailbox),
            #[cfg(feature = "pdf")]
            "pdf" => Some(Format::Pdf),
            _ => corpus::is_text_name(name).then_some(Format::Text),
        }
    }
}

/// Returns a name in which short endings of compressed tar files are written out: `.tgz` as `.tar.gz`.
fn with_full_ending(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    for (short, full) in [
        (".tgz", ".tar.gz"),
        (".txz", ".tar.xz"),
        (".tbz2", ".tar.bz2"),
        (".tbz", ".tar.bz2"),
        (".tzst", ".tar.zst"),
    ] {
        if lower.ends_with(short) {
            return name[..name.len() - short.len()].to_owned() + full;
        }
    }
    for ending in [".gz", ".xz", ".bz2", ".zst"] {
        if lower.ends_with(ending) {
            return name[..name.len() - ending.len()].to_owned() + ending;
        }
    }
    name.to_owned()
}

/// A file, or a member of one.
pub(crate) struct Item<'a> {
    /// Its name without folders.
    pub(crate) name: &'a str,
    /// Its path inside the file; empty for the file itself.
    pub(crate) path: &'a str,
    /// Number of archives around it.
    pub(crate) depth: u32,
}

/// State of the reading of one file with all of its members.
pub(crate) struct Work<'a> {
    pub(crate) budget: Budget,
    pub(crate) results: &'a mut Results,
}

/// Bytes of an item.
pub(crate) enum Bytes {
    /// Bytes that arrive as they are read.
    Stream(Box<dyn Read + Send>),
    /// Bytes in memory.
    Held(Vec<u8>),
}

impl Bytes {
    /// Returns the bytes as a stream.
    pub(crate) fn stream(self) -> Box<dyn Read + Send> {
        match self {
            Bytes::Stream(stream) => stream,
            Bytes::Held(bytes) => Box::new(Cursor::new(bytes)),
        }
    }

    /// Returns all bytes, up to 128 MiB.
    pub(crate) fn held(self) -> Result<Vec<u8>, Fault> {
        match self {
            Bytes::Stream(stream) => read_up_to(stream, HELD_BYTES_MAX, "the file"),
            Bytes::Held(bytes) => Ok(bytes),
        }
    }
}

/// Returns whether a member of this name is read.
#[cfg(any(feature = "archives", feature = "mail"))]
pub(crate) fn is_read(name: &str) -> bool {
    let name = with_full_ending(name);
    Format::of(corpus::decompressed_name(&name)).is_some()
}

/// Reads an item and reports its documents.
pub(crate) fn read(item: &Item, bytes: Bytes, work: &mut Work) -> Result<(), Fault> {
    let name = with_full_ending(item.name);
    let bare = corpus::decompressed_name(&name);
    let bytes = match bare.len() < name.len() {
        // The parent has decompressed the file itself, unless it is an archive.
        true if item.depth > 0 || corpus::Kind::of(bare) == Some(corpus::Kind::Archive) => {
            let decompressed = corpus::decompressed(&name, bytes.stream());
            let (_, stream) = decompressed.map_err(|error| Fault::of(&error, "the file"))?;
            Bytes::Stream(Box::new(work.budget.decoded(stream)))
        }
        _ => bytes,
    };
    match Format::of(bare) {
        #[cfg(feature = "archives")]
        Some(Format::Zip) => crate::archive::read_zip(item, bytes.held()?, work),
        #[cfg(feature = "archives")]
        Some(Format::Tar) => crate::archive::read_tar(item, bytes.stream(), work),
        #[cfg(feature = "office")]
        Some(Format::Word) => crate::office::read_word(item, bytes.held()?, work),
        #[cfg(feature = "office")]
        Some(Format::Slides) => crate::office::read_slides(item, bytes.held()?, work),
        #[cfg(feature = "office")]
        Some(Format::Sheets) => crate::office::read_sheets(item, bytes.held()?, work),
        #[cfg(feature = "office")]
        Some(Format::OpenDocument) => crate::office::read_open_document(item, bytes.held()?, work),
        #[cfg(feature = "office")]
        Some(Format::Epub) => crate::office::read_epub(item, bytes.held()?, work),
        #[cfg(feature = "mail")]
        Some(Format::Message) => crate::mail::read_message(item, bytes.held()?, work),
        #[cfg(feature = "mail")]
        Some(Format::Mailbox) => crate::mail::read_mailbox(item, bytes.stream(), work),
        #[cfg(feature = "pdf")]
        Some(Format::Pdf) => crate::pdf::read(item, bytes.held()?, work),
        Some(Format::Text) => read_text(item, bare, bytes, work),
        None => work.results.left_out(item.name),
    }
}

fn read_text(item: &Item, bare: &str, bytes: Bytes, work: &mut Work) -> Result<(), Fault> {
    let bytes = match bytes {
        Bytes::Held(bytes) => bytes,
        Bytes::Stream(stream) => read_document(stream, "the file")?,
    };
    match corpus::text_document(bare, bytes) {
        None => work.results.left_out(item.name),
        Some(Err(reason)) => Err(Fault::Document(reason)),
        Some(Ok(document)) => {
            let corpus::Document {
                title,
                body,
                fields,
                ..
            } = document;
            work.results.document(item.path, title, body, fields)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_endings_are_those_of_tar() {
        assert_eq!(with_full_ending("A.TGZ"), "A.tar.gz");
        assert_eq!(with_full_ending("a.TAR.XZ"), "a.TAR.xz");
        assert_eq!(with_full_ending("a.txt"), "a.txt");
        assert_eq!(Format::of("a.txt"), Some(Format::Text));
        assert_eq!(Format::of("a.png"), None);
    }

    /// What the parent sends, the child reads.
    #[test]
    #[cfg(all(
        feature = "archives",
        feature = "office",
        feature = "mail",
        feature = "pdf"
    ))]
    fn every_kind_of_the_readers_of_folders_has_a_format() {
        for name in [
            "a.zip", "a.tar", "a.tar.gz", "a.tgz", "a.txz", "a.tbz", "a.tbz2", "a.tzst", "a.docx",
            "a.docm", "a.pptx", "a.pptm", "a.xlsx", "a.xlsm", "a.odt", "a.odp", "a.ods", "a.epub",
            "a.eml", "a.mbox", "a.pdf", "a.PDF", "a.Tar.Gz",
        ] {
            assert!(corpus::Kind::of(name).is_some(), "{name}");
            assert!(is_read(name), "{name}");
        }
    }
}
