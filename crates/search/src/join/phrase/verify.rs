//! Verification of phrases within combinations, by the positions of their words.
//!
//! The candidates hold all words of the phrase; other clauses may have dropped some.

use crate::context::cancel;
use crate::context::cancel::StopRef;
use crate::join::conjunction::Conjunction;
use crate::join::phrase::pattern::Pattern;
use crate::plan::scorer::BLOCK;
use codec::lanes;
use codec::rice::follow::UNKNOWN;
use index::DocId;

impl<'a> Pattern<'a> {
    /// Probes the phrase for the candidates of its words: the rows where it stands, and its scores there. Rows may be
    /// missing whose sum with the phrase cannot reach `least`. Void where `stop` aborted.
    pub(crate) fn check(&mut self, words: &mut Conjunction<'a>, least: f32, stop: StopRef<'_>) {
        words.candidates.probed.found.count = 0;
        let count = words.candidates.count;
        if count == 0 {
            return;
        }
        let mut most = [f32::INFINITY; BLOCK];
        self.find_spans(words, Some(&mut most));
        for (most, sum) in most.iter_mut().zip(&words.candidates.sums[..count]) {
            *most += *sum;
        }
        let mut kept = [0; BLOCK];
        let kept_count = lanes::at_least(&most[..count], least, &mut kept);
        let mut pairs = [UNKNOWN; BLOCK];
        self.count_pairs(words, &kept[..kept_count], &mut pairs);
        for (&at, &pairs) in kept[..kept_count].iter().zip(&pairs) {
            if self.is_loose() && stop.aborts(cancel::DOCUMENT) {
                return;
            }
            let frequency = self.frequency(words, at.into(), pairs, stop);
            if frequency > 0 {
                let doc = DocId(words.candidates.docs[usize::from(at)]);
                words
                    .candidates
                    .probed
                    .push(at, self.scorer.score(doc, frequency));
            }
        }
    }

    /// Upper bound on the phrase's score: its frequency is at most that of its words.
    pub(crate) fn most(&self, words: &mut Conjunction<'a>) -> f32 {
        let bounding = (0..self.lists.len()).filter(|&word| self.is_bounded_by(word));
        let most = bounding.map(|word| words.lists[self.lists[word]].most_for(&self.scorer));
        most.fold(f32::INFINITY, f32::min)
    }
}
