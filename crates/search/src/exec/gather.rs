//! Every match of a query, gathered by any number of workers: the base of facets and of orders by fields.
//!
//! A task without hits (`k` of 0) is cut and shared as any other. The bits of two workers may be in one word: they are joined.

use crate::collect::collectors::Collectors;
use crate::collect::doc_bits::DocBits;
use crate::context::cancel::Stop;
use crate::exec::task::{Leaving, SearchTask, Visitor};
use crate::exec::walk::Coverage;
use index::IndexError;

/// Matches in the ranges that one worker took.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MatchesShare {
    matches: DocBits,
    /// Whether matches are missing, because the worker was cancelled.
    is_cut: bool,
    /// Documents searched, deleted ones included.
    pub documents_searched: u64,
    /// Documents of the ranges, deleted ones included.
    pub documents_count: u64,
}

/// Matches of a query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gathered {
    /// All matches, where all documents were searched.
    pub matches: DocBits,
    /// Documents searched, deleted ones included: fewer than all, where any match may be missing.
    pub documents_searched: u64,
    /// Documents of the segments, deleted ones included.
    pub documents_count: u64,
}

impl MatchesShare {
    pub(super) fn of(all: Collectors<'_, (), DocBits>, coverage: Coverage) -> MatchesShare {
        MatchesShare {
            is_cut: all.stop().count_is_cut(),
            matches: all.matches,
            documents_searched: coverage.documents_searched,
            documents_count: coverage.documents_count,
        }
    }
}

impl SearchTask {
    /// Gathers matches from ranges until none is left, or the visitor says so, as [`SearchTask::visit`] does hits.
    pub fn gather<'s>(
        &'s self,
        stop: &'s Stop<'s>,
        visitor: &mut dyn Visitor,
    ) -> Result<MatchesShare, IndexError> {
        self.worker(stop).gather(visitor)
    }

    /// Gathers the matches of the whole task on the calling thread, as its only worker, until `stop` is due.
    pub fn gather_alone(&self, stop: &Stop<'_>) -> Result<Gathered, IndexError> {
        let share = self.gather(stop, &mut Leaving(|| false))?;
        Ok(self.gathered([share]))
    }

    /// Puts the shares of all workers together.
    pub fn gathered(&self, shares: impl IntoIterator<Item = MatchesShare>) -> Gathered {
        let documents_count = self.documents_count();
        let mut documents_searched = self.documents_without_matches();
        let mut taken = documents_searched;
        let (mut matches, mut is_cut) = (DocBits::default(), false);
        for share in shares {
            taken += share.documents_count;
            is_cut |= share.is_cut;
            documents_searched += share.documents_searched;
            matches.join(share.matches);
        }
        if is_cut || taken < documents_count {
            documents_searched = documents_searched.min(documents_count.saturating_sub(1));
        }
        Gathered {
            matches,
            documents_searched,
            documents_count,
        }
    }
}
