//! The first class of a ranking: documents with all telling words, but those far below one that lacks some.
//!
//! ```text
//! with all telling words     9 8 7 5 2         the best that lacks one has 10, so 7 is the least score of the first class
//! with some of them          10 9 8 7 6 5 3 2  those with all are among these
//! listed                     9 8 7 | 10 6 5 3 2
//! ```
//!
//! What a document without a word can score is bounded by the weights of the others. Where all hits of a page are above the
//! share of that bound, no other document can enter, and none is searched for. Where no bound is known, as for compounds, which
//! count otherwise in parts, all documents with all words are of the first class.

use crate::calls::PartError;
use crate::coordinator::call::Call;
use crate::coordinator::coverage::HITS;
use crate::coordinator::prepared::PreparedQuery;
use crate::coordinator::proof::rankings;
use crate::coordinator::ranking::{Found, Ranking, Settled, answered};
use crate::coordinator::scope::{Record, Scope};
use crate::site_limit::{Candidate, join, merge};

impl Settled {
    /// Returns whether the hits wanted are of the first class, whatever lacks some of the words.
    pub(crate) fn is_first_class(&self, prepared: &PreparedQuery) -> bool {
        let is_short = self.ranking.is_complete && self.listed.hits.len() < prepared.wanted();
        let least = match self.incomplete_most() {
            Some(most) => prepared.first_share() * most,
            None => 0.0,
        };
        !is_short && self.listed.hits.iter().all(|one| one.hit.score >= least)
    }

    /// Returns an upper bound on the scores of documents that lack some of the telling words.
    fn incomplete_most(&self) -> Option<f32> {
        let mut bounds = self.partitions.iter().flatten();
        bounds.try_fold(0.0f32, |most, found| Some(most.max(found.incomplete_most?)))
    }

    /// Returns the beginning of the ranking of documents with all telling words, those that better ones hide included.
    fn complete(&self) -> Vec<Candidate> {
        merge(&rankings(&self.partitions)).candidates
    }

    /// Notes that there was no time to look for documents with some of the words.
    pub(crate) fn give_up(&mut self, scope: Scope<'_>, record: &mut Record) {
        self.proof = None;
        if !record.coverage.timed_out() {
            for partition in answered(&self.partitions) {
                let chunks = scope.layout.chunks_of(partition);
                record.coverage.lacks(HITS, &chunks, &PartError::Expired);
            }
        }
    }
}

impl Ranking {
    /// Makes the first call for the documents with some of the words, to the partitions that answered for `first`.
    pub(crate) fn beside(&mut self, first: &Settled) -> Call {
        self.partitions = vec![None; first.partitions.len()];
        // So one of the hits is none of those known, if there is any.
        self.request.k = self.request.k.max(first.complete().len() + 1);
        self.call(answered(&first.partitions))
    }

    /// Lets the hits follow the first class, of which `first` has all or enough. Returns whether any can be among those wanted.
    pub(crate) fn follow(&mut self, first: &Settled, prepared: &PreparedQuery) -> bool {
        let known = &first.ranking.candidates;
        let mut least = 0.0;
        if first.incomplete_most().is_some() {
            // With the same words a document has the same score, so what is better than one of those known, and none of them,
            // lacks a word.
            let complete = first.complete();
            let further = join(&complete, merge(&rankings(&self.partitions)));
            let best = further.candidates.get(complete.len());
            least = prepared.first_share() * best.map_or(0.0, |best| best.hit.score);
        }
        let count = known.partition_point(|one| one.hit.score >= least);
        self.before = known[..count].to_vec();
        count < known.len() || first.ranking.is_complete
    }
}

impl Found {
    /// Returns the hits of the page where documents of the first class fill it.
    pub(crate) fn of_first_class(
        prepared: &PreparedQuery,
        searched: &Ranking,
        first: Settled,
    ) -> Found {
        let found = Found::new(prepared, searched, first);
        Found {
            query: prepared.query.clone(),
            ..found
        }
    }

    /// Returns the hits of the page where documents with some of the words follow those of the first class.
    pub(crate) fn joined(
        prepared: &PreparedQuery,
        searched: &Ranking,
        first: Settled,
        all: Settled,
    ) -> Found {
        let first_count = searched.before.len();
        let mut found = Found::new(prepared, searched, all);
        for (group, candidate) in found.groups.iter_mut().zip(&found.page) {
            if group.is_none() {
                *group = super::group_of(&first.partitions, candidate);
            }
        }
        let start = prepared.start.start;
        let of_first = first_count.saturating_sub(start).min(found.page.len());
        // What hits of the first class hide is not among these. Below them it is found again.
        let hides_of_first = first
            .hidden_after
            .is_some_and(|listed| listed < first_count);
        // The total is that of the documents with all words.
        let total = Found::new(prepared, searched, first);
        Found {
            hides_some: found.hides_some || hides_of_first && total.hides_some,
            matches_count: total.matches_count,
            count_is_exact: total.count_is_exact,
            answered: total.answered,
            some_words_from: (first_count < prepared.wanted()).then_some(first_count),
            with_all_words: of_first,
            proof: total.proof.and(found.proof),
            ..found
        }
    }
}
