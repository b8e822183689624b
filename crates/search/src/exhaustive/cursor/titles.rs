//! Cursor over the documents whose titles begin with a text, materialised.

use super::walk::{DocCursor, ScoredCursor};
use crate::context::cancel::StopRef;
use crate::plan::node::TitleStartNode;
use crate::plan::ranking::on_grid;
use index::{DocId, IndexError, Segment, TitleFound};

/// Cursor over found titles, in the order of documents.
#[derive(Debug)]
pub(crate) struct TitlesCursor {
    found: Vec<TitleFound>,
    at: usize,
    weight: f32,
    grid: f32,
}

impl TitlesCursor {
    /// Looks up the titles of a segment; `None` where none begins so. The result is void if `stop` aborted.
    pub(crate) fn open(
        segment: &Segment,
        node: &TitleStartNode,
        grid: f32,
        stop: StopRef<'_>,
    ) -> Result<Option<TitlesCursor>, IndexError> {
        let mut is_due = || stop.aborts(1);
        let found = segment.titles_beginning(&node.start, node.edits, &mut is_due)?;
        Ok((!found.is_empty()).then_some(TitlesCursor {
            found,
            at: 0,
            weight: node.weight,
            grid,
        }))
    }
}

impl DocCursor for TitlesCursor {
    fn doc(&self) -> DocId {
        self.found
            .get(self.at)
            .map_or(DocId::END, |found| found.doc)
    }
    fn next(&mut self) -> DocId {
        self.at += 1;
        self.doc()
    }
    fn seek(&mut self, target: DocId) -> DocId {
        let rest = self.found.get(self.at..).unwrap_or_default();
        self.at += rest.partition_point(|found| found.doc < target);
        self.doc()
    }
    fn cost(&self) -> u32 {
        self.found.len() as u32
    }
    fn take_error(&mut self) -> Option<IndexError> {
        None
    }
}

impl ScoredCursor for TitlesCursor {
    fn score(&mut self) -> f32 {
        let score = self.found.get(self.at).map_or(0.0, title_score);
        on_grid(score * self.weight, self.grid)
    }
}

/// Returns the score of a title before boosts: 2, or 1 with errors, less a 256th for each character.
fn title_score(found: &TitleFound) -> f32 {
    let most = if found.has_errors { 1.0 } else { 2.0 };
    most - f32::from(found.length) / 256.0
}
