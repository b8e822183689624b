//! Coverage of an answer: documents searched, parts lost, and whether the loss is an error.
//!
//! An answer that lacks a part of the index is marked as partial or refused; no loss is silent. A full
//! queue never makes a partial answer: its client is asked to come back.

use crate::calls::{Chunks, PartError, chunks_shown, index_server_of};
use crate::coordinator::proof::{CertainDetails, CertainRanking};
use crate::search_error::SearchError;
use wire::answer::Degraded;

/// Coverage gathered over the phases of one answer.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    documents_searched: u64,
    documents_count: u64,
    degraded: Vec<Degraded>,
    /// Whether a part had closed the generation of the query.
    generation_is_gone: bool,
}

/// Values of `lacks` in an answer: the things that a part may fail to give.
pub(crate) const SEARCH: &str = "search";
/// Name for hits that a further search would have found, for which there was no time.
pub(crate) const HITS: &str = "hits";
pub(crate) const COUNT: &str = "count";
pub(crate) const DETAILS: &str = "details";
pub(crate) const SUMMARIES: &str = "summaries";
pub(crate) const FACETS: &str = "facets";

const DEADLINE: &str = "deadline";

/// Proof that an answer lacks nothing. Only `Coverage::complete` makes one, from the proofs of the
/// query phase and the fetch phase.
#[derive(Debug)]
pub struct Complete(());

impl Coverage {
    /// Records a part that was searched, wholly or up to its deadline.
    pub(crate) fn searched(&mut self, chunks: &Chunks, searched: u64, count: u64, counted: bool) {
        self.documents_searched += searched;
        self.documents_count += count;
        let lacks = match (searched < count, counted) {
            (true, _) => SEARCH,
            (false, false) => COUNT,
            (false, true) => return,
        };
        self.degraded.push(Degraded {
            lacks: lacks.into(),
            chunks: chunks_shown(chunks),
            reason: DEADLINE.into(),
            message: "the deadline ended the search there".into(),
            documents_searched: searched,
            documents_count: count,
        });
    }

    /// Records a part that was not searched; `count` is its number of documents, 0 where unknown.
    pub(crate) fn lost(&mut self, chunks: &Chunks, count: u64, error: &PartError) {
        self.documents_count += count;
        // The query phase has retried a closed generation already.
        self.lacks_of(SEARCH, chunks, count, error);
    }

    /// Records a part that failed to give `what` for the hits.
    pub(crate) fn lacks(&mut self, what: &str, chunks: &Chunks, error: &PartError) {
        self.generation_is_gone |= error.is_generation_gone();
        self.lacks_of(what, chunks, 0, error);
    }

    fn lacks_of(&mut self, what: &str, chunks: &Chunks, count: u64, error: &PartError) {
        self.degraded.push(Degraded {
            lacks: what.into(),
            chunks: chunks_shown(chunks),
            reason: error.reason().into(),
            message: error.to_string(),
            documents_searched: 0,
            documents_count: count,
        });
    }

    /// Returns the proof that the answer is complete if both phases have theirs. Otherwise the answer
    /// names its gaps: an answer without a proof never counts as whole.
    pub(crate) fn complete(
        &mut self,
        ranking: Option<&CertainRanking>,
        shown: Option<CertainDetails>,
    ) -> Option<Complete> {
        if self.degraded.is_empty() && (ranking.is_none() || shown.is_none()) {
            self.degraded.push(Degraded {
                lacks: SEARCH.into(),
                chunks: String::new(),
                reason: "unknown".into(),
                message: "the answer could not be shown to be complete; please report this".into(),
                documents_searched: 0,
                documents_count: 0,
            });
        }
        let is_whole = self.degraded.is_empty();
        is_whole.then_some(Complete(()))
    }

    /// Returns whether a part had closed the generation of the query, so that a newer one may give a
    /// whole answer.
    pub(crate) fn generation_is_gone(&self) -> bool {
        self.generation_is_gone
    }

    /// Returns whether documents are known and none of them was searched.
    pub(crate) fn is_nothing(&self) -> bool {
        self.documents_searched == 0 && self.documents_count > 0
    }

    /// Returns the share of the documents that were searched, from 0 to 1.
    pub(crate) fn share(&self) -> f64 {
        match self.documents_count {
            0 if self.degraded.iter().any(|one| one.lacks == SEARCH) => 0.0,
            0 => 1.0,
            count => self.documents_searched as f64 / count as f64,
        }
    }

    pub(crate) fn timed_out(&self) -> bool {
        self.degraded.iter().any(|one| one.reason == DEADLINE)
    }

    /// Returns the error of an incomplete answer whose client refuses partial ones; `None` if the
    /// answer is complete.
    pub(crate) fn refusal(&self) -> Option<SearchError> {
        let first = self.degraded.first()?;
        Some(SearchError::Partial {
            share: format!("{:.1} %", self.share() * 100.0),
            reason: format!("chunks {}: {}", first.chunks, first.message),
            timed_out: self.degraded.iter().all(|one| one.reason == DEADLINE),
        })
    }

    pub(crate) fn into_degraded(self) -> Vec<Degraded> {
        self.degraded
    }
}

/// Returns the error to answer with, of the errors of all parts.
pub(crate) fn first_error(errors: Vec<(Chunks, PartError)>) -> SearchError {
    let (chunks, error) = errors
        .into_iter()
        .max_by_key(|(_, error)| !matches!(error, PartError::Expired))
        .unwrap_or((
            0..=0,
            PartError::NotServed {
                reason: "no server holds it".into(),
            },
        ));
    error.into_search_error(&index_server_of(&chunks))
}

/// Returns what an answer says that finds nothing, and that a correction might have found something for.
pub(crate) fn lost_correction(error: &PartError) -> Degraded {
    Degraded {
        lacks: HITS.into(),
        chunks: String::new(),
        reason: error.reason().into(),
        message: format!("the query was not corrected: {error}"),
        documents_searched: 0,
        documents_count: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_proof_an_answer_is_never_whole() {
        let mut coverage = Coverage::default();
        coverage.searched(&(0..=1), 10, 10, true);
        assert!(coverage.complete(None, None).is_none());
        assert_eq!(coverage.into_degraded()[0].reason, "unknown");
    }

    #[test]
    fn hits_that_a_deadline_left_out_are_named() {
        let mut coverage = Coverage::default();
        coverage.lacks(HITS, &(0..=1), &PartError::Expired);
        assert!(coverage.timed_out());
        let degraded = coverage.into_degraded();
        assert_eq!(
            (&*degraded[0].lacks, &*degraded[0].reason),
            (HITS, DEADLINE)
        );
    }
}
