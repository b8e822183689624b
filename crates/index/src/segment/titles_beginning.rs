//! Search for the titles of a segment that begin with a text.

use super::titles::{Titles, TitlesMaker};
use super::{Segment, TitleFound, details};
use crate::row_text::{decompress, read_text};
use crate::{DocId, IndexError};

impl Segment {
    /// Returns the live documents whose titles begin with `start`, folded words with a blank after each whole one; where
    /// they are fewer than [`TITLES_MAX`](crate::TITLES_MAX), also those whose titles begin within `edits` of it, with the same
    /// first character. Of either kind the shortest are returned that make up that number, with all as long as the last. In
    /// the order of documents; void where `is_due` returned true.
    ///
    /// # Errors
    /// Damaged details.
    pub fn titles_beginning(
        &self,
        start: &str,
        edits: u8,
        is_due: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<TitleFound>, IndexError> {
        let files = [&**self.file()];
        let titles = (self.core.titles).get_or_derive(files, || self.read_titles())?;
        let is_live = |doc: u32| !self.is_deleted(DocId(doc));
        Ok(titles.beginning(start, edits, &is_live, is_due))
    }

    fn read_titles(&self) -> Result<Titles, IndexError> {
        let documents = self.documents_count();
        let damaged = || self.damaged_at_terms("details unreadable");
        let mut maker = TitlesMaker::default();
        let mut rows = Vec::new();
        for first in (0..documents).step_by(details::BLOCK_DOCUMENTS) {
            let block = self.details_block(first as usize / details::BLOCK_DOCUMENTS);
            let block = block.ok_or_else(damaged)?;
            decompress(block, &mut rows).ok_or_else(damaged)?;
            let mut at = 0;
            for doc in first..documents.min(first + details::BLOCK_DOCUMENTS as u32) {
                for _ in 0..2 {
                    // URL and id.
                    read_text(&rows, &mut at).ok_or_else(damaged)?;
                }
                let title = read_text(&rows, &mut at).ok_or_else(damaged)?;
                maker.push(doc, title);
            }
        }
        Ok(maker.finish())
    }
}
