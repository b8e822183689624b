//! Replay of decoding: the blocks that a search decoded, decoded again and timed alone.
//!
//! What [`watch_lists`](super::watch_lists) saw of a search is done once more: documents of the blocks whose
//! documents were decoded, frequencies of those whose frequencies were, each once and in order. A clock inside
//! the search would cost as much as decoding a block does. Not replayed, so that it counts as searching: single
//! frequencies picked out of a block, blocks of bits that were read as such, positions.

use super::blocks::NO_BLOCK;
use super::decode_stats::{DOCUMENTS, FREQUENCIES};
use super::{Blocks, ListWork};
use crate::{IndexError, Segment, TermRecord};
use std::hint::black_box;

/// The lists of a search that was watched, open and ready to be decoded again.
#[derive(Debug, Default)]
pub struct Replay<'a> {
    lists: Vec<(Blocks<'a>, Vec<Step>)>,
}

/// A block, and what is decoded of it.
#[derive(Debug, Clone, Copy)]
struct Step {
    block: usize,
    documents: bool,
    frequencies: bool,
}

impl<'a> Replay<'a> {
    /// Takes the work that was done to this list, each time that it was opened, out of `lists`.
    ///
    /// # Errors
    /// A damaged index.
    pub fn add(
        &mut self,
        segment: &'a Segment,
        record: &TermRecord,
        lists: &mut Vec<ListWork>,
    ) -> Result<(), IndexError> {
        let at = segment.blocks(record)?.bytes.postings.as_ptr() as usize;
        for work in lists.extract_if(.., |work| work.at == at) {
            self.lists.push((segment.blocks(record)?, steps(&work)));
        }
        Ok(())
    }

    /// Blocks whose documents are decoded.
    pub fn blocks_count(&self) -> usize {
        let steps = self.lists.iter().flat_map(|(_, steps)| steps);
        steps.filter(|step| step.documents).count()
    }

    /// Decodes them all; how many postings they hold.
    pub fn run(&mut self) -> u64 {
        let mut postings_count = 0;
        for (blocks, steps) in &mut self.lists {
            for step in steps {
                // Nothing may be there already: `load` would know the block, and `frequencies` theirs.
                blocks.frequencies_block = NO_BLOCK;
                blocks.load_other(step.block);
                if step.documents {
                    postings_count += black_box(blocks.docs()).len() as u64;
                }
                if step.frequencies {
                    black_box(blocks.frequencies());
                }
            }
        }
        postings_count
    }
}

fn steps(work: &ListWork) -> Vec<Step> {
    let of_block = |(block, done): (usize, &u8)| Step {
        block,
        documents: done & DOCUMENTS != 0,
        frequencies: done & FREQUENCIES != 0,
    };
    let all = work.done.iter().enumerate().map(of_block);
    all.filter(|step| step.documents || step.frequencies)
        .collect()
}
