//! Pattern of a phrase: the order and distance of its words, verified by their positions.

use crate::block::columns::pick;
use crate::context::cancel::StopRef;
use crate::context::scratch::{Lent, kept_by_thread};
use crate::join::conjunction::Conjunction;
use crate::join::phrase::positions::{Numbers, positions_work, sloppy_frequency};
use crate::plan::scorer::{BLOCK, Scorer};
use codec::rice::follow::UNKNOWN;
use codec::sorted;
use index::Span;

/// Number of positions of a word above which reading them counts as work of its own. Fewer are counted with their
/// block.
const FEW_POSITIONS: usize = 256;

/// Pattern of a phrase: the order and distance of its words, verified by their positions.
pub(crate) struct Pattern<'a> {
    /// The distinct words, rarest first, by the numbers of their lists in the conjunction.
    pub(crate) lists: Numbers,
    /// Word i of the phrase is the distinct word `order[i]`.
    order: Numbers,
    slop: u32,
    pub(crate) scorer: Scorer<'a>,
    room: Lent<Room>,
}

/// Working memory of a search.
#[derive(Default)]
struct Room {
    /// The positions in one document, by distinct word, where they were read.
    positions: Vec<Vec<u32>>,
    starts: Vec<u32>,
    spans: Spans,
}

kept_by_thread!(Room);

/// The places of the positions in every candidate, for the two rarest words.
struct Spans([[Span; BLOCK]; 2]);

impl Default for Spans {
    fn default() -> Spans {
        Spans([[Span::default(); BLOCK]; 2])
    }
}

impl<'a> Pattern<'a> {
    /// Makes the pattern of the distinct words whose lists are numbered `lists`, rarest first; word i of the phrase is
    /// the distinct word `order[i]`.
    pub(crate) fn new(
        lists: Numbers,
        order: Numbers,
        slop: u32,
        scorer: Scorer<'a>,
    ) -> Pattern<'a> {
        let mut room: Lent<Room> = Lent::take();
        if room.positions.len() < lists.len() {
            room.positions.resize_with(lists.len(), Vec::new);
        }
        Pattern {
            lists,
            order,
            slop,
            scorer,
            room,
        }
    }

    /// Returns whether the words may stand apart. Each document is expensive then, so cancellation is tested after
    /// each.
    pub(crate) fn is_loose(&self) -> bool {
        self.slop > 0
    }

    /// Returns whether the frequency of a distinct word bounds that of the phrase in every document.
    pub(crate) fn is_bounded_by(&self, word: usize) -> bool {
        self.slop == 0 || self.order.first() == Some(&word)
    }

    /// Returns whether a list of the conjunction is of a word that bounds the phrase.
    pub(crate) fn is_bounded_by_list(&self, list: usize) -> bool {
        let word = self.lists.iter().position(|&one| one == list);
        word.is_some_and(|word| self.is_bounded_by(word))
    }

    /// Counts, in the candidates at `matches`, the occurrences of the two rarest words at their distance in the
    /// phrase. 0 rules the phrase out; with slop the counts stay unknown.
    pub(crate) fn count_pairs(
        &self,
        words: &Conjunction<'a>,
        matches: &[u8],
        pairs: &mut [u32; BLOCK],
    ) {
        let place = |word| self.order.iter().position(|&one| one == word);
        let ([one, other, ..], Some(first), Some(second), 0) =
            (self.lists.as_slice(), place(0), place(1), self.slop)
        else {
            for &at in matches {
                self.prefetch(words, at.into());
            }
            return;
        };
        let (one, other) = (&words.lists[*one], &words.lists[*other]);
        let [spans, others] = &self.room.spans.0;
        let distance = second as i32 - first as i32;
        index::count_followed(
            (&one.blocks, spans),
            (&other.blocks, others),
            distance,
            matches,
            pairs,
        );
    }

    /// Keeps the spans of the candidates at `kept`, increasing.
    pub(crate) fn keep_spans(&mut self, kept: &[u8]) {
        for spans in &mut self.room.spans.0 {
            pick(spans, kept);
        }
    }

    /// Finds the places of the positions of the two rarest words in every candidate. With `most`, also computes an
    /// upper bound on the phrase's score in each.
    pub(crate) fn find_spans(
        &mut self,
        words: &mut Conjunction<'a>,
        most: Option<&mut [f32; BLOCK]>,
    ) {
        let Conjunction { lists, candidates } = words;
        let docs = candidates.docs();
        let mut least = [u32::MAX; BLOCK];
        let mut is_bounded = false;
        for (word, (&number, spans)) in self.lists.iter().zip(&mut self.room.spans.0).enumerate() {
            let spans = &mut spans[..docs.len()];
            let places = &candidates.places[number][..docs.len()];
            lists[number].blocks.spans(places, spans);
            if most.is_some() && (self.slop == 0 || self.order.first() == Some(&word)) {
                is_bounded = true;
                for (least, span) in least.iter_mut().zip(spans) {
                    *least = (*least).min(span.count);
                }
            }
        }
        if let Some(most) = most
            && is_bounded
        {
            self.scorer
                .score_many(docs, &least[..docs.len()], &mut most[..docs.len()]);
        }
    }

    /// Prefetches the positions of the two rarest words in a candidate.
    fn prefetch(&self, words: &Conjunction<'a>, at: usize) {
        for (&number, spans) in self.lists.iter().zip(&self.room.spans.0) {
            words.lists[number].blocks.prefetch_positions(spans[at]);
        }
    }

    /// Returns the frequency of the phrase in a candidate, given the count of [`Pattern::count_pairs`]. Void where
    /// `stop` aborted.
    pub(crate) fn frequency(
        &mut self,
        words: &mut Conjunction<'a>,
        at: usize,
        pairs: u32,
        stop: StopRef<'_>,
    ) -> u32 {
        if pairs == 0 || (pairs != UNKNOWN && self.order.len() == 2) {
            return pairs;
        }
        let Conjunction { lists, candidates } = words;
        let numbers = &self.lists;
        let Room {
            positions,
            starts,
            spans,
        } = &mut *self.room;
        let positions = &mut positions[..numbers.len()];
        let mut read = |word: usize, positions: &mut Vec<u32>| {
            let blocks = &mut lists[numbers[word]].blocks;
            match spans.0.get(word) {
                Some(spans) => blocks.positions_of(spans[at], positions),
                None => blocks.positions_at(candidates.places[numbers[word]][at], positions),
            }
        };
        if self.slop > 0 {
            for (word, positions) in positions.iter_mut().enumerate() {
                read(word, positions);
                if stop.aborts(positions_work(positions)) {
                    return 0;
                }
            }
            return sloppy_frequency(positions, &self.order, self.slop, stop);
        }
        // Rare words first: most documents fail with the second.
        for (word, positions) in positions.iter_mut().enumerate() {
            read(word, positions);
            if positions.len() > FEW_POSITIONS && stop.aborts(positions_work(positions)) {
                return 0;
            }
            let mut offsets = (0..).zip(&self.order).filter(|(_, other)| **other == word);
            if word == 0
                && let Some((offset, _)) = offsets.next()
            {
                starts.clear();
                let places = positions.iter();
                starts.extend(places.filter_map(|place| place.checked_sub(offset)));
            }
            for (offset, _) in offsets {
                let confirmed = sorted::keep_followed(starts, offset, positions);
                starts.truncate(confirmed);
            }
            if starts.is_empty() {
                return 0;
            }
        }
        starts.len() as u32
    }
}
