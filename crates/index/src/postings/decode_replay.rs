//! Replay of decoding: decodes the blocks of a search again, to time decoding alone.
//!
//! [`watch_lists`](super::watch_lists) records which blocks a search decoded. The replay decodes the same documents and
//! frequencies, each once and in order. A clock inside the search would cost as much as decoding a block. Single
//! frequencies, blocks of bits read as such, and positions are not replayed, and so count as searching.

use super::blocks::NO_BLOCK;
use super::decode_stats::{DOCUMENTS, FREQUENCIES};
use super::{Blocks, ListWork};
use crate::IndexError;
use std::hint::black_box;

/// Lists of a recorded search, open and ready to be decoded again.
#[derive(Debug, Default)]
pub struct Replay<'a> {
    lists: Vec<(Blocks<'a>, Vec<Step>)>,
}

/// Block, and the parts of it to decode.
#[derive(Debug, Clone, Copy)]
struct Step {
    block: usize,
    documents: bool,
    frequencies: bool,
}

impl<'a> Replay<'a> {
    /// Adds a list: takes its work, for each time that it was opened, out of `lists`. `open` opens its blocks.
    pub(crate) fn add_blocks(
        &mut self,
        open: impl Fn() -> Result<Blocks<'a>, IndexError>,
        lists: &mut Vec<ListWork>,
    ) -> Result<(), IndexError> {
        let at = open()?.bytes.postings.as_ptr() as usize;
        for work in lists.extract_if(.., |work| work.at == at) {
            self.lists.push((open()?, steps(&work)));
        }
        Ok(())
    }

    /// Counts the blocks whose documents are decoded.
    pub fn blocks_count(&self) -> usize {
        let steps = self.lists.iter().flat_map(|(_, steps)| steps);
        steps.filter(|step| step.documents).count()
    }

    /// Decodes all blocks; returns the number of their postings.
    pub fn run(&mut self) -> u64 {
        let mut postings_count = 0;
        for (blocks, steps) in &mut self.lists {
            for step in steps {
                // Makes `load` and `frequencies` decode again, even if the block is the loaded one.
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
