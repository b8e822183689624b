//! The documents that hold a phrase, found in two steps: those that hold all its words, and of them those
//! where the words stand together. Positions are read only for the second.
//!
//! A phrase stands in a document no more often than its rarest word (with slop: than its first, whose
//! places are counted), so what bounds that word's frequency bounds the phrase's score: by block before
//! documents are read, by document before positions are.
//!
//! Exact: documents, scores, order and counts are those of [`crate::exhaustive`].

use crate::TopK;
use crate::algorithm::Wanted;
use crate::conjunction::{Conjunction, INDEXES, Sought, first_late};
use crate::cursor::{BLOCK, Numbers, Scorer, distinct_records, positions_work, sloppy_frequency};
use crate::list::{List, Lists, first_damage};
use crate::matches::pick;
use crate::pairs::pairs_of;
use crate::plan::{PhraseNode, Plan};
use crate::scratch::{Lent, kept_by_thread};
use crate::stop::{self, StopRef};
use codec::rice::follow::UNKNOWN;
use codec::{lanes, sorted};
use index::{DocId, IndexError, PairRecord, Segment, Span};
use std::ops::Range;

/// Up to this count, positions of one word are read and compared without counting the work: the block they
/// belong to was counted.
const FEW_POSITIONS: usize = 256;

/// A phrase being searched on one segment.
pub(crate) struct Phrase<'a> {
    /// Its distinct words.
    pub(crate) words: Conjunction<'a>,
    /// The number of the first list that is asked only about documents in which the two rarest words stand as
    /// the phrase has them.
    late: usize,
    pub(crate) pattern: Pattern<'a>,
}

/// How the words of a phrase must stand in a document that holds them all.
pub(crate) struct Pattern<'a> {
    /// Its distinct words, rarest first: which lists of a conjunction they are.
    pub(crate) lists: Numbers,
    /// Word i of the phrase is the distinct word `order[i]`.
    order: Numbers,
    slop: u32,
    pub(crate) scorer: Scorer<'a>,
    room: Lent<Room>,
}

/// What a search works in.
#[derive(Default)]
struct Room {
    /// By distinct word, the positions in one document, where they were read.
    positions: Vec<Vec<u32>>,
    starts: Vec<u32>,
    spans: Spans,
}

kept_by_thread!(Room);

/// Of the two rarest words, where the positions of every match are.
struct Spans([[Span; BLOCK]; 2]);

impl Default for Spans {
    fn default() -> Spans {
        Spans([[Span::default(); BLOCK]; 2])
    }
}

impl<'a> Phrase<'a> {
    /// Opens a phrase; `None` where the segment lacks one of its words.
    pub(crate) fn open(
        plan: &'a Plan,
        phrase: &PhraseNode,
        segment: &'a Segment,
    ) -> Result<Option<Phrase<'a>>, IndexError> {
        let Some((records, order)) = distinct_records(phrase, segment)? else {
            return Ok(None);
        };
        // With the phrase's scorer the leader's bounds are those of the phrase.
        let scorer = Scorer::new(plan, phrase.field, phrase.weight, segment);
        let Some(mut pairs) = pairs_of(phrase, &records, &order, segment) else {
            return Ok(None);
        };
        pairs.sort_by_key(PairRecord::documents_count);
        let mut pairs = pairs.iter().peekable();
        let mut lists = Lists::take();
        let mut numbers = Numbers::new();
        // Both are cheapest first already, and equal ones stay in place: `order` holds.
        for record in &records {
            let is_cheaper = |pair: &&PairRecord| pair.documents_count() <= record.documents_count;
            while let Some(pair) = pairs.next_if(is_cheaper) {
                lists.push(List::of_pair(pair, scorer, segment)?);
            }
            numbers.push(lists.len());
            lists.push(List::of_record(record, scorer, segment)?);
        }
        let late = match phrase.slop {
            // After those of the two rarest words, whose positions are compared first.
            0 => {
                let from = numbers.get(1).map_or(lists.len(), |second| second + 1);
                first_late(&lists, from, segment)
            }
            _ => lists.len(),
        };
        Ok(Some(Phrase {
            late,
            words: Conjunction::new(lists),
            pattern: Pattern::new(numbers, order, phrase.slop, scorer),
        }))
    }

    /// Keeps the best in `top`, among the documents of `range`, where hits are wanted; how many match, where
    /// that is.
    pub(crate) fn search(
        &mut self,
        range: Range<u32>,
        segment: &Segment,
        top: &mut TopK<'a>,
        wanted: Wanted,
    ) -> Result<u64, IndexError> {
        let counted = wanted.is_counted();
        let mut count = 0;
        let mut block = self.words.lists[0].find(DocId(range.start));
        while self.words.is_in_range(block, &range)
            && !top.stop().ends_hits(self.words.start(block), stop::WINDOW)
        {
            top.exchange();
            let bounded = !counted && top.threshold() > 0.0 && self.pattern.is_bounded_by(0);
            if !bounded || top.would_enter(self.words.lists[0].bound(block)) {
                self.words
                    .find_matches_of(self.late, block, &range, None, Sought::Places);
                count += self.offer(segment, top, wanted);
                if top.stop().has_ended_hits() {
                    break;
                }
            }
            block += 1;
        }
        first_damage(&mut self.words.lists)?;
        Ok(count)
    }

    /// The most that a document of a range can score.
    pub(crate) fn bound_in(&mut self, base: DocId, end: DocId) -> f32 {
        match self.pattern.is_bounded_by(0) {
            true => self.words.lists[0].bound_in(base, end),
            false => f32::INFINITY,
        }
    }

    /// Of some matches of the early lists, those where the two rarest words stand as the phrase has them: asks the
    /// late lists about them. What all hold is left, and what was known of it; how many they are.
    fn ask_late(
        &mut self,
        kept: &mut [u8; BLOCK],
        kept_count: usize,
        pairs: &mut [u32; BLOCK],
        most: &mut [f32; BLOCK],
    ) -> usize {
        let mut count = 0;
        for at in 0..kept_count {
            (kept[count], pairs[count]) = (kept[at], pairs[at]);
            count += usize::from(pairs[at] > 0);
        }
        let Phrase {
            words,
            pattern,
            late,
        } = self;
        words.matches.keep(&kept[..count], *late);
        pattern.keep_spans(&kept[..count]);
        pick(most, &kept[..count]);
        words.keep_held(*late, kept);
        let count = words.matches.count;
        for places in &mut words.matches.places[..*late] {
            pick(places, &kept[..count]);
        }
        pattern.keep_spans(&kept[..count]);
        pick(most, &kept[..count]);
        pick(pairs, &kept[..count]);
        *kept = INDEXES;
        count
    }

    /// Offers those of the words' matches that hold the phrase; how many do.
    fn offer(&mut self, segment: &Segment, top: &mut TopK<'a>, wanted: Wanted) -> u64 {
        let counted = wanted.is_counted();
        let Phrase { words, pattern, .. } = self;
        let count = words.matches.count;
        if count == 0 {
            return 0;
        }
        let mut most = [f32::INFINITY; BLOCK];
        // Where all are counted, what they score at most is not asked for.
        pattern.find_spans(words, (!counted).then_some(&mut most));
        let mut kept = [0; BLOCK];
        let least = match counted {
            true => f32::NEG_INFINITY,
            false => top.threshold(),
        };
        let mut kept_count = lanes::at_least(&most[..count], least, &mut kept);
        let mut pairs = [UNKNOWN; BLOCK];
        pattern.count_pairs(words, &kept[..kept_count], &mut pairs);
        if self.late < self.words.lists.len() {
            kept_count = self.ask_late(&mut kept, kept_count, &mut pairs, &mut most);
        }
        let Phrase { words, pattern, .. } = self;
        let mut live = 0;
        for (&at, &pairs) in kept[..kept_count].iter().zip(&pairs) {
            let at = usize::from(at);
            let doc = DocId(words.matches.docs[at]);
            if pairs == 0 || !(counted || most[at] >= top.threshold()) || segment.is_deleted(doc) {
                continue;
            }
            if pattern.is_loose() && top.stop().ends_hits(doc.0, stop::DOCUMENT) {
                break;
            }
            let frequency = pattern.frequency(words, at, pairs, top.stop());
            if top.stop().is_aborted() {
                top.stop().stop_hits_at(doc.0);
                break;
            }
            if frequency > 0 {
                live += 1;
                if wanted.has_hits() && top.k() > 0 {
                    crate::profile::offered(1);
                    top.offer(pattern.scorer.score(doc, frequency), doc);
                }
            }
        }
        live
    }
}

impl<'a> Pattern<'a> {
    /// Of distinct words (by number of their list, rarest first), and which of them each word is.
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

    /// Whether its words may stand apart: each document is then dear by itself, so after each is asked whether
    /// to go on.
    pub(crate) fn is_loose(&self) -> bool {
        self.slop > 0
    }

    /// Whether the phrase stands nowhere more often than a distinct word.
    pub(crate) fn is_bounded_by(&self, word: usize) -> bool {
        self.slop == 0 || self.order.first() == Some(&word)
    }

    /// Whether a list of the conjunction is of a word that bounds the phrase.
    pub(crate) fn is_bounded_by_list(&self, list: usize) -> bool {
        let word = self.lists.iter().position(|&one| one == list);
        word.is_some_and(|word| self.is_bounded_by(word))
    }

    /// How often the two rarest words stand in some matches as the phrase has them: 0 where the phrase cannot
    /// stand there; unknown with slop.
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

    /// Keeps the spans of the matches at increasing indexes.
    fn keep_spans(&mut self, kept: &[u8]) {
        for spans in &mut self.room.spans.0 {
            pick(spans, kept);
        }
    }

    /// Finds where the positions of the two rarest words are in every match, and with that what the phrase
    /// scores there at most, where that is asked for.
    pub(crate) fn find_spans(
        &mut self,
        words: &mut Conjunction<'a>,
        most: Option<&mut [f32; BLOCK]>,
    ) {
        let Conjunction { lists, matches, .. } = words;
        let docs = &matches.docs[..matches.count];
        let mut least = [u32::MAX; BLOCK];
        let mut is_bounded = false;
        for (word, (&number, spans)) in self.lists.iter().zip(&mut self.room.spans.0).enumerate() {
            let spans = &mut spans[..docs.len()];
            let places = &matches.places[number][..docs.len()];
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

    /// Asks for the positions of the two rarest words in a match.
    fn prefetch(&self, words: &Conjunction<'a>, at: usize) {
        for (&number, spans) in self.lists.iter().zip(&self.room.spans.0) {
            words.lists[number].blocks.prefetch_positions(spans[at]);
        }
    }

    /// How often the phrase stands in a match, given what [`Pattern::count_pairs`] found there. Void where `stop`
    /// aborted.
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
        let Conjunction { lists, matches, .. } = words;
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
                None => blocks.positions_at(matches.places[numbers[word]][at], positions),
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
