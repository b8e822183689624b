//! Sources of documents, and the endings by which files are known.

use crate::ReaderError;
use crate::extraction::Kind;
use crate::input::decompressed_name;
use crate::web_archive;
use std::path::{Path, PathBuf};

/// Extensions of files of JSON, before that of compression.
const JSON_ENDINGS: [&str; 3] = ["jsonl", "ndjson", "json"];

/// Extensions of tables, before that of compression.
const TABLE_ENDINGS: [&str; 3] = ["csv", "tsv", "tab"];

/// Source of documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// JSON: lines, an array, or objects one after another; possibly compressed.
    JsonLines(PathBuf),
    /// A table below a row of names, possibly compressed.
    Table(PathBuf),
    /// Pages that a crawler kept: a WARC or ARC file, possibly compressed.
    WebArchive(PathBuf),
    /// A folder of text, Markdown and HTML files, read recursively.
    Folder(PathBuf),
    /// An archive, mail, an office document or PDF, read by [`ReadOptions::extractor`](crate::ReadOptions::extractor).
    Container(PathBuf),
    /// JSON lines on standard input.
    StandardInput,
    /// The documentation installed on this machine.
    Machine,
}

impl Source {
    /// Parses a command-line argument: `-`, a folder, or a file ending in `.jsonl[.zst|.gz]` (`.ndjson` and `.json` are
    /// equivalent), `.csv` or `.tsv`, `.warc[.gz|.zst]`, or in the ending of a [`Kind`].
    pub fn parse(argument: &str) -> Result<Source, ReaderError> {
        if argument == "-" {
            return Ok(Source::StandardInput);
        }
        let path = PathBuf::from(argument);
        let metadata = match std::fs::metadata(&path) {
            Ok(metadata) => metadata,
            Err(source) => return Err(ReaderError::Io { path, source }),
        };
        if metadata.is_dir() {
            Ok(Source::Folder(path))
        } else if has_ending(&path, &TABLE_ENDINGS) {
            Ok(Source::Table(path))
        } else if has_ending(&path, &web_archive::ENDINGS) {
            Ok(Source::WebArchive(path))
        } else if Kind::of(&file_name(&path)).is_some() {
            Ok(Source::Container(path))
        } else if has_ending(&path, &JSON_ENDINGS) || !metadata.is_file() {
            // A path that is no file is reported when its turn comes, as in folders.
            Ok(Source::JsonLines(path))
        } else {
            let reason = "not a known kind of source; give a file ending in .jsonl, .jsonl.zst or \
                          .jsonl.gz (also .ndjson, .json, .csv, .tsv, .warc), an archive, \
                          office document, mail or PDF, a folder, or - for standard input";
            Err(ReaderError::Source {
                path,
                reason: reason.to_owned(),
            })
        }
    }
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
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
