//! Details: the URL, id and title of every document, read without its text.
//!
//! They are read for each hit, one here and one there. So each row is read [alone](rows), at the cost of its own bytes: 0.2 µs.
//! Segments of before have them in compressed [blocks](blocks) of 128, of which a read decodes one: 15 µs.

mod blocks;
mod row;
mod rows;
mod symbols;
#[cfg(test)]
mod tests;

use crate::section::Section;
use crate::{DocId, IndexError};
use blocks::BlocksReader;
pub(crate) use row::DocumentRow;
use row::{Row, Wanted};
pub(crate) use rows::DetailsWriter;
use rows::RowsReader;

/// How a segment has its details.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DetailsForm {
    /// In blocks, as segments of before.
    #[default]
    Blocks,
    /// In rows.
    Rows,
}

impl DetailsForm {
    pub(super) fn is_blocks(&self) -> bool {
        *self == DetailsForm::Blocks
    }
}

/// Metadata of a hit without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Details {
    /// The document's own id, or its URL.
    pub id: String,
    /// URL.
    pub url: String,
    /// Title.
    pub title: String,
    /// Site.
    pub site: String,
}

/// Details of an open segment.
#[derive(Debug)]
pub(super) struct StoredDetails {
    form: DetailsForm,
    details: Section,
    offsets: Section,
    documents_count: u32,
}

impl StoredDetails {
    /// Opens the details; `None` where the offsets do not fit the number of documents.
    pub(super) fn open(
        form: DetailsForm,
        [details, offsets]: [Section; 2],
        documents_count: u32,
    ) -> Option<StoredDetails> {
        let expected = match form {
            DetailsForm::Blocks => blocks::offsets_bytes(documents_count),
            DetailsForm::Rows => rows::offsets_bytes(documents_count),
        };
        (offsets.len() == expected).then_some(StoredDetails {
            form,
            details,
            offsets,
            documents_count,
        })
    }

    /// Returns a reader of the details of several documents.
    pub(super) fn reader(&self) -> DetailsReader<'_> {
        DetailsReader {
            stored: self,
            blocks: BlocksReader::default(),
            rows: RowsReader::default(),
        }
    }
}

/// Reader of the details of a segment.
///
/// It keeps the block that it read last, so of a segment of before, documents in order cost one decompression a block.
pub struct DetailsReader<'a> {
    stored: &'a StoredDetails,
    blocks: BlocksReader,
    rows: RowsReader,
}

impl DetailsReader<'_> {
    /// Returns the details of a document.
    ///
    /// # Errors
    /// A document that the segment does not have, or damage.
    pub fn read(&mut self, doc: DocId) -> Result<Details, IndexError> {
        let row = self.row(doc, Wanted::All)?;
        Ok(Details {
            id: row.id().to_owned(),
            url: row.url.to_owned(),
            title: row.title.to_owned(),
            site: document::site_of(row.url),
        })
    }

    /// Returns the URL of a document, which costs less than all details.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn url(&mut self, doc: DocId) -> Result<&str, IndexError> {
        Ok(self.row(doc, Wanted::Url)?.url)
    }

    /// Returns the id of a document, its own or its URL, which costs less than all details.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn id(&mut self, doc: DocId) -> Result<&str, IndexError> {
        Ok(self.row(doc, Wanted::Url)?.id())
    }

    /// Returns the title of a document, which costs less than all details.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn title(&mut self, doc: DocId) -> Result<&str, IndexError> {
        Ok(self.row(doc, Wanted::Title)?.title)
    }

    fn row(&mut self, doc: DocId, wanted: Wanted) -> Result<Row<'_>, IndexError> {
        let StoredDetails {
            form,
            details,
            offsets,
            documents_count,
        } = self.stored;
        let row = match form {
            _ if doc.0 >= *documents_count => None,
            DetailsForm::Blocks => self.blocks.row(details, offsets, doc.0),
            DetailsForm::Rows => (self.rows).row(details, offsets, *documents_count, doc.0, wanted),
        };
        row.ok_or_else(|| {
            let at = match form {
                DetailsForm::Blocks => blocks::offset(offsets, doc.0),
                DetailsForm::Rows => rows::offset(offsets, *documents_count, doc.0),
            };
            let what = format!("details of document {} unreadable", doc.0);
            details.damaged(at, &what)
        })
    }
}

impl std::fmt::Debug for DetailsReader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DetailsReader")
            .field("documents_count", &self.stored.documents_count)
            .finish_non_exhaustive()
    }
}
