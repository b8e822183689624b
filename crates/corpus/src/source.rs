//! Sources of documents, and the endings by which files are known.

use crate::contained::is_text_name;
use crate::extraction::Kind;
use crate::input::{decompressed_name, open_decompressed};
use crate::{trec, web_archive, wiki};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Extensions of files of JSON, before that of compression.
pub(crate) const JSON_ENDINGS: [&str; 3] = ["jsonl", "ndjson", "json"];

/// Extensions of tables, before that of compression.
pub(crate) const TABLE_ENDINGS: [&str; 3] = ["csv", "tsv", "tab"];

/// Source of documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// JSON: lines, an array, or objects one after another; possibly compressed.
    JsonLines(PathBuf),
    /// A table below a row of names, possibly compressed.
    Table(PathBuf),
    /// Pages that a crawler kept: a WARC or ARC file, possibly compressed.
    WebArchive(PathBuf),
    /// A collection of TREC, possibly compressed.
    Trec(PathBuf),
    /// A dump of a MediaWiki, possibly compressed.
    WikiDump(PathBuf),
    /// A Parquet file, whose rows are records.
    Parquet(PathBuf),
    /// A folder whose files hold the records of one collection, as those of BEIR, Pyserini and TREC do.
    Collection(PathBuf),
    /// A folder of text, Markdown and HTML files, read recursively.
    Folder(PathBuf),
    /// A file of text, Markdown, HTML, code or a log, read as a file of a folder is.
    TextFile(PathBuf),
    /// An archive, mail, an office document or PDF, read by [`ReadOptions::extractor`](crate::ReadOptions::extractor).
    Container(PathBuf),
    /// JSON lines on standard input.
    StandardInput,
    /// The documentation installed on this machine.
    Machine,
}

impl Source {
    /// Returns the source that a file is, by its name, else by its beginning; the path where it is none.
    pub(crate) fn of_file(path: PathBuf) -> Result<Source, PathBuf> {
        if has_ending(&path, &TABLE_ENDINGS) {
            Ok(Source::Table(path))
        } else if has_ending(&path, &web_archive::ENDINGS) {
            Ok(Source::WebArchive(path))
        } else if has_ending(&path, &["parquet"]) {
            Ok(Source::Parquet(path))
        } else if Kind::of(&file_name(&path)).is_some() {
            Ok(Source::Container(path))
        } else if has_ending(&path, &JSON_ENDINGS) {
            Ok(Source::JsonLines(path))
        } else {
            let beginning = beginning_of(&path);
            if trec::is_trec(&beginning) || has_ending(&path, &trec::ENDINGS) {
                Ok(Source::Trec(path))
            } else if wiki::is_dump(&beginning) {
                Ok(Source::WikiDump(path))
            } else if is_text_name(&file_name(&path)) || is_text(&beginning) {
                Ok(Source::TextFile(path))
            } else {
                Err(path)
            }
        }
    }
}

/// Length of a file's beginning from which its type is guessed, in bytes.
const BEGINNING_BYTES: u64 = 8 << 10;

/// Returns the first bytes of a file, decompressed; none where it cannot be read, which is reported when its turn comes.
pub(crate) fn beginning_of(path: &Path) -> Vec<u8> {
    let mut beginning = Vec::new();
    if let Ok(bytes) = open_decompressed(path) {
        // What was read before damage is a beginning, too.
        let _ = bytes.take(BEGINNING_BYTES).read_to_end(&mut beginning);
    }
    beginning
}

/// Returns whether the beginning of a file is text: UTF-8 without NUL; the last character may be cut.
fn is_text(beginning: &[u8]) -> bool {
    let is_whole = match std::str::from_utf8(beginning) {
        Ok(text) => !text.is_empty(),
        Err(error) => error.error_len().is_none() && error.valid_up_to() > 0,
    };
    is_whole && !beginning.contains(&0)
}

pub(crate) fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let name = file_name(path).to_ascii_lowercase();
    let name = decompressed_name(&name);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    endings.contains(&ending)
}

/// Returns the name of a file, without its folder.
pub(crate) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
