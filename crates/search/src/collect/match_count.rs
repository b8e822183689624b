//! Collector that counts matches.

use super::collectors::MatchCollector;
use super::context::MatchNeeds;
use index::Segment;

/// Count of matches: of all where `EXACT`, otherwise of the matches that a search for hits meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MatchCount<const EXACT: bool>(pub u64);

impl<const EXACT: bool> MatchCollector for MatchCount<EXACT> {
    const NEEDS: MatchNeeds = match EXACT {
        true => MatchNeeds::Count,
        false => MatchNeeds::Nothing,
    };

    fn enter(&mut self, _: &Segment) {}

    #[inline]
    fn count(&mut self, count: u64) {
        self.0 += count;
    }

    #[inline]
    fn documents(&mut self, docs: &[u32]) {
        self.0 += docs.len() as u64;
    }

    fn bits(&mut self, _: u32, words: &[u64]) {
        self.0 += codec::bits::count(words);
    }
}
