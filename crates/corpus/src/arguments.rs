//! Sources as arguments of a command name them, and the folders that they are in.

use crate::machine::MachineRoots;
use crate::source::Source;
use crate::{ReaderError, collection};
use std::path::PathBuf;

impl Source {
    /// Parses a command-line argument: `-`, a folder, or a file. The ending of its name says what a file is (before that
    /// of compression: `.jsonl` `.ndjson` `.json`, `.csv` `.tsv`, `.parquet`, `.warc`, `.trec`, those of a [`Kind`](crate::Kind), of text), else
    /// its beginning.
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
            return Ok(match collection::is_collection(&path) {
                true => Source::Collection(path),
                false => Source::Folder(path),
            });
        }
        if !metadata.is_file() {
            // A path that is no file is reported when its turn comes, as in folders.
            return Ok(Source::JsonLines(path));
        }
        Source::of_file(path).map_err(|path| {
            let reason = "not a known kind of source, and not text; give a file of JSON or a table (.jsonl, .json, \
                          .csv, .parquet, also compressed), of text, Markdown or HTML, a .warc or .trec file, a \
                          dump of a MediaWiki, an archive, office document, mail or PDF, a folder, or - for \
                          standard input";
            ReaderError::Source {
                path,
                reason: reason.to_owned(),
            }
        })
    }

    /// Returns the `file:` URL of the folder of a source, below which its files are; `None` where it has none.
    pub fn folder_url(&self) -> Option<String> {
        let folder = match self {
            Source::Collection(path) | Source::Folder(path) => path.clone(),
            Source::JsonLines(path)
            | Source::Table(path)
            | Source::WebArchive(path)
            | Source::Trec(path)
            | Source::WikiDump(path)
            | Source::Parquet(path)
            | Source::TextFile(path)
            | Source::Container(path) => std::path::absolute(path).ok()?.parent()?.to_path_buf(),
            Source::StandardInput => return None,
            Source::Machine => MachineRoots::usual().doc?,
        };
        let folder = std::fs::canonicalize(folder).ok()?;
        url::Url::from_file_path(folder).ok().map(String::from)
    }
}
