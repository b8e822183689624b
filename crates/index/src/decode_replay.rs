//! Replay of the lists of a segment.

use crate::postings::{ListWork, Replay};
use crate::{IndexError, Segment, TermRecord};

impl<'a> Replay<'a> {
    /// Adds the list of `record`: takes its work, for each time that it was opened, out of `lists`.
    ///
    /// # Errors
    /// A damaged index.
    pub fn add(
        &mut self,
        segment: &'a Segment,
        record: &TermRecord,
        lists: &mut Vec<ListWork>,
    ) -> Result<(), IndexError> {
        self.add_blocks(|| segment.blocks(record), lists)
    }
}
