//! The documents that hold a phrase, found in two steps: those that hold all its words, and of them those
//! where the words stand together. Positions are read only for the second.
//!
//! A phrase stands in a document no more often than its rarest word (with slop: than its first, whose
//! places are counted), so what bounds that word's frequency bounds the phrase's score: by block before
//! documents are read, by document before positions are.
//!
//! Exact: documents, scores, order and counts are those of [`crate::exhaustive`].

use crate::TopK;
use crate::conjunction::{Conjunction, Sought};
use crate::cursor::{BLOCK, Scorer, distinct_records, sloppy_frequency};
use crate::list::{List, first_damage};
use crate::plan::{PhraseNode, Plan};
use crate::scratch::{Lent, kept_by_thread};
use crate::stop;
use codec::rice::follow::UNKNOWN;
use codec::{lanes, sorted};
use index::{DocId, IndexError, Segment, Span};
use std::ops::Range;

/// A phrase being searched on one segment.
pub(crate) struct Phrase<'a> {
    /// Its distinct words.
    words: Conjunction<'a>,
    /// Word i of the phrase is list `order[i]`.
    order: Vec<usize>,
    slop: u32,
    scorer: Scorer<'a>,
    room: Lent<Room>,
}

/// What a search works in.
#[derive(Default)]
struct Room {
    /// By list, the positions in one document, where they were read.
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
        let scorer = Scorer::new(plan, phrase.field, phrase.weight, segment);
        let mut lists = Vec::with_capacity(records.len());
        for record in &records {
            // With the phrase's scorer the leader's bounds are those of the phrase.
            lists.push(List::of_record(record, scorer, segment)?);
        }
        let mut room: Lent<Room> = Lent::take();
        if room.positions.len() < lists.len() {
            room.positions.resize_with(lists.len(), Vec::new);
        }
        Ok(Some(Phrase {
            room,
            // Cheapest first already, and equal ones stay in place: `order` holds.
            words: Conjunction::new(lists),
            order,
            slop: phrase.slop,
            scorer,
        }))
    }

    /// Keeps the best in `top`, among the documents of `range`.
    pub(crate) fn search(
        &mut self,
        range: Range<u32>,
        segment: &Segment,
        top: &mut TopK<'a>,
        counted: bool,
    ) -> Result<u64, IndexError> {
        let mut count = 0;
        let mut block = self.words.lists[0].find(DocId(range.start));
        while self.words.is_in_range(block, &range)
            && !top.stop().ends_hits(self.words.start(block), stop::WINDOW)
        {
            top.exchange();
            let bounded = !counted && top.threshold() > 0.0 && self.is_bounded_by(0);
            if !bounded || top.would_enter(self.words.lists[0].bound(block)) {
                self.words.find_matches(block, &range, None, Sought::Places);
                count += self.offer(segment, top, counted);
            }
            block += 1;
        }
        first_damage(&mut self.words.lists)?;
        Ok(count)
    }

    /// The most that a document of a range can score.
    pub(crate) fn bound_in(&mut self, base: DocId, end: DocId) -> f32 {
        match self.is_bounded_by(0) {
            true => self.words.lists[0].bound_in(base, end),
            false => f32::INFINITY,
        }
    }

    /// Whether the phrase stands nowhere more often than a word.
    fn is_bounded_by(&self, list: usize) -> bool {
        self.slop == 0 || self.order.first() == Some(&list)
    }

    /// How many documents of `range` match.
    pub(crate) fn count(
        &mut self,
        range: Range<u32>,
        segment: &Segment,
        top: &mut TopK<'a>,
    ) -> Result<u64, IndexError> {
        self.search(range, segment, top, true)
    }

    /// Offers those of the words' matches that hold the phrase; how many do.
    fn offer(&mut self, segment: &Segment, top: &mut TopK<'a>, counted: bool) -> u64 {
        let count = self.words.matches.count;
        if count == 0 {
            return 0;
        }
        let mut most = [f32::INFINITY; BLOCK];
        self.find_spans(&mut most);
        let mut kept = [0; BLOCK];
        let least = match counted {
            true => f32::NEG_INFINITY,
            false => top.threshold(),
        };
        let kept_count = lanes::at_least(&most[..count], least, &mut kept);
        let mut pairs = [UNKNOWN; BLOCK];
        self.count_pairs(&kept[..kept_count], &mut pairs);
        let mut live = 0;
        for (&at, &pairs) in kept[..kept_count].iter().zip(&pairs) {
            let at = usize::from(at);
            let doc = DocId(self.words.matches.docs[at]);
            if pairs == 0 || !(counted || most[at] >= top.threshold()) || segment.is_deleted(doc) {
                continue;
            }
            let frequency = match pairs {
                pairs if pairs != UNKNOWN && self.order.len() == 2 => pairs,
                _ => self.frequency(at),
            };
            if frequency > 0 {
                live += 1;
                if top.k() > 0 {
                    crate::profile::offered(1);
                    top.offer(self.scorer.score(doc, frequency), doc);
                }
            }
        }
        live
    }

    /// How often the two rarest words stand in some matches as the phrase has them; unknown with slop.
    fn count_pairs(&self, matches: &[u8], pairs: &mut [u32; BLOCK]) {
        let place = |list| self.order.iter().position(|&one| one == list);
        let ([one, other, ..], Some(first), Some(second), 0) =
            (self.words.lists.as_slice(), place(0), place(1), self.slop)
        else {
            for &at in matches {
                self.prefetch(at.into());
            }
            return;
        };
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

    /// Finds where the positions of the two rarest words are in every match, and with that what the phrase
    /// scores there at most.
    fn find_spans(&mut self, most: &mut [f32; BLOCK]) {
        let Conjunction { lists, matches, .. } = &mut self.words;
        let docs = &matches.docs[..matches.count];
        let mut least = [u32::MAX; BLOCK];
        let mut is_bounded = false;
        let rarest = lists
            .iter_mut()
            .zip(&matches.places)
            .zip(&mut self.room.spans.0);
        for (number, ((list, places), spans)) in rarest.enumerate() {
            let spans = &mut spans[..docs.len()];
            list.blocks.spans(&places[..docs.len()], spans);
            if self.slop == 0 || self.order.first() == Some(&number) {
                is_bounded = true;
                for (least, span) in least.iter_mut().zip(spans) {
                    *least = (*least).min(span.count);
                }
            }
        }
        if is_bounded {
            self.scorer
                .score_many(docs, &least[..docs.len()], &mut most[..docs.len()]);
        }
    }

    /// Asks for the positions of the two rarest words in a match.
    fn prefetch(&self, at: usize) {
        for (list, spans) in self.words.lists.iter().zip(&self.room.spans.0) {
            list.blocks.prefetch_positions(spans[at]);
        }
    }

    /// How often the phrase stands in a match.
    fn frequency(&mut self, at: usize) -> u32 {
        let Conjunction { lists, matches, .. } = &mut self.words;
        let lists_count = lists.len();
        let Room {
            positions,
            starts,
            spans,
        } = &mut *self.room;
        let mut read = |number: usize, positions: &mut Vec<u32>| {
            let blocks = &mut lists[number].blocks;
            match spans.0.get(number) {
                Some(spans) => blocks.positions_of(spans[at], positions),
                None => blocks.positions_at(matches.places[number][at], positions),
            }
        };
        if self.slop > 0 {
            for (number, positions) in positions[..lists_count].iter_mut().enumerate() {
                read(number, positions);
            }
            return sloppy_frequency(&positions[..lists_count], &self.order, self.slop);
        }
        // Rare words first: most documents fail with the second.
        for (number, positions) in positions[..lists_count].iter_mut().enumerate() {
            read(number, positions);
            let mut offsets = (0..).zip(&self.order).filter(|(_, list)| **list == number);
            if number == 0
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
