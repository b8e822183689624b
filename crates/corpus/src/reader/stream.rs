//! Documents of one source, whatever its kind.

use crate::contained::Contained;
use crate::folder::Folder;
use crate::json_lines::JsonLines;
use crate::machine::Machine;
#[cfg(feature = "parquet")]
use crate::records::Parquet;
use crate::records::Table;
use crate::step::{Place, ReaderError, Step};
use crate::trec::Trec;
use crate::web_archive::WebArchive;
use crate::wiki::WikiDump;
use document::Mapper;

/// Documents of one source.
pub(super) enum Stream {
    JsonLines(JsonLines),
    Table(Box<Table>),
    WebArchive(Box<WebArchive>),
    Trec(Box<Trec>),
    WikiDump(Box<WikiDump>),
    #[cfg(feature = "parquet")]
    Parquet(Box<Parquet>),
    Folder(Folder),
    Container(OneContainer),
    Machine(Machine),
}

/// Documents of a file that is a source, with its place.
pub(super) struct OneContainer {
    pub(super) contained: Contained,
    pub(super) place: Place,
}

impl Stream {
    pub(super) fn next(&mut self) -> Result<Step, ReaderError> {
        match self {
            Stream::JsonLines(lines) => lines.next(),
            Stream::Table(table) => table.next(),
            Stream::WebArchive(archive) => archive.next(),
            Stream::Trec(trec) => trec.next(),
            Stream::WikiDump(dump) => dump.next(),
            #[cfg(feature = "parquet")]
            Stream::Parquet(parquet) => Ok(parquet.next()),
            Stream::Folder(folder) => Ok(folder.next()),
            Stream::Container(container) => Ok(container.contained.next()),
            Stream::Machine(machine) => Ok(machine.next()),
        }
    }

    /// Returns the number of records with neither title nor body.
    pub(super) fn without_text(&self) -> u64 {
        match self {
            Stream::Folder(folder) => folder.without_text(),
            _ => self.mapper().map_or(0, Mapper::without_text),
        }
    }

    /// Returns which fields of records became which part of documents.
    pub(super) fn fields_found(&self) -> Vec<String> {
        match self {
            Stream::Folder(folder) => folder.fields_found().map(str::to_owned).collect(),
            _ => {
                let found = self.mapper().into_iter().flat_map(Mapper::found);
                found.map(str::to_owned).collect()
            }
        }
    }

    fn mapper(&self) -> Option<&Mapper> {
        match self {
            Stream::JsonLines(lines) => Some(lines.mapper()),
            Stream::Table(table) => Some(table.mapper()),
            #[cfg(feature = "parquet")]
            Stream::Parquet(parquet) => Some(parquet.mapper()),
            _ => None,
        }
    }

    pub(super) fn place(&self) -> &Place {
        match self {
            Stream::JsonLines(lines) => lines.place(),
            Stream::Table(table) => table.place(),
            Stream::WebArchive(archive) => archive.place(),
            Stream::Trec(trec) => trec.place(),
            Stream::WikiDump(dump) => dump.place(),
            #[cfg(feature = "parquet")]
            Stream::Parquet(parquet) => parquet.place(),
            Stream::Folder(folder) => folder.place(),
            Stream::Container(container) => &container.place,
            Stream::Machine(machine) => machine.place(),
        }
    }
}
