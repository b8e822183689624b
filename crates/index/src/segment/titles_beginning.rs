//! Search for the titles of a segment that begin with a text.

use super::titles::{Titles, TitlesMaker};
use super::{Segment, TitleFound};
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
        let mut maker = TitlesMaker::default();
        let mut details = self.details_reader();
        for doc in 0..self.documents_count() {
            maker.push(doc, details.title(DocId(doc))?);
        }
        Ok(maker.finish())
    }
}
