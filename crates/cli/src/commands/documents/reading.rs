//! Arguments of the reading of sources, for the commands that index.

use corpus::{Extractor, FileLimits, ReadOptions, ReaderError, Source};
use document::FieldNames;
use extract::{Launch, Limits, Pool};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;
use units::{SizeUnit, Sizes, Times};

/// How sources are read.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ReadingArguments {
    /// Follow links to files and folders outside of a source folder
    #[arg(long, help_heading = "Reading of sources")]
    follow_links: bool,
    /// Upper limit on the decoded bytes of each file; the rest is left out and reported like a bad document
    /// [default: 1TiB, and above 64MiB at most 200 for each compressed byte]
    #[arg(long, alias = "file-bytes-max", value_name = "SIZE",
          value_parser = Sizes::ANY.plain(SizeUnit::Bytes).bytes(), help_heading = "Reading of sources")]
    file_size_max: Option<u64>,
    /// Time limit of reading and decoding each file; the rest is left out and reported likewise
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = Times::ANY.durations(), help_heading = "Reading of sources")]
    file_time_max: Duration,
    /// Field of a record that is the document's id [default: id, _id, docid, docno, uid, key or slug]
    #[arg(long, value_name = "FIELD", help_heading = "Fields of records")]
    id: Option<String>,
    /// Field that is the URL; without one the id stands in [default: url, link, uri, href, permalink or path]
    #[arg(long, value_name = "FIELD", help_heading = "Fields of records")]
    url: Option<String>,
    /// Field that is the title [default: title, headline, name, subject or question]
    #[arg(long, value_name = "FIELD", help_heading = "Fields of records")]
    title: Option<String>,
    /// Fields that are the text, joined [default: body, text, content, description and the like, else all long strings]
    #[arg(
        long,
        value_name = "FIELD,...",
        value_delimiter = ',',
        help_heading = "Fields of records"
    )]
    body: Vec<String>,
    /// Stop at the first bad document and commit nothing
    #[arg(long, help_heading = "Reading of sources")]
    strict: bool,
}

impl ReadingArguments {
    pub(super) fn options(&self) -> ReadOptions {
        ReadOptions {
            strict: self.strict,
            follow_links: self.follow_links,
            limits: FileLimits {
                decoded_bytes_max: self.file_size_max,
                time_max: self.file_time_max,
            },
            names: FieldNames {
                id: self.id.clone(),
                url: self.url.clone(),
                title: self.title.clone(),
                body: self.body.clone(),
            },
            extractor: Some(Extractor::new(Pool::new(
                Launch::own_program(),
                Limits::default(),
            ))),
        }
    }
}

/// Returns the sources that arguments name.
pub(super) fn sources(arguments: &[OsString]) -> Result<Vec<Source>, ReaderError> {
    arguments.iter().map(source).collect()
}

/// Returns the source that an argument names. A name that is not UTF-8 has no file extension to go by.
fn source(argument: &OsString) -> Result<Source, ReaderError> {
    match argument.to_str() {
        Some(argument) => Source::parse(argument),
        None if Path::new(argument).is_dir() => Ok(Source::Folder(argument.into())),
        None => Ok(Source::JsonLines(argument.into())),
    }
}
