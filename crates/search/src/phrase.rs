//! The documents that hold a phrase, found in two steps: those that hold all its words, and of them those
//! where the words stand together. Positions are read only for the second.
//!
//! A phrase stands in a document no more often than its rarest word (with slop: than its first, whose
//! places are counted), so what bounds that word's frequency bounds the phrase's score: by block before
//! documents are read, by document before positions are.
//!
//! Exact: documents, scores, order and counts are those of [`crate::exhaustive`].

use crate::TopK;
use crate::conjunction::Conjunction;
use crate::cursor::{BLOCK, Scorer, distinct_records, retain_confirmed, sloppy_frequency};
use crate::list::{List, first_damage};
use crate::plan::{PhraseNode, Plan};
use index::{DocId, IndexError, Segment};
use std::ops::Range;

/// A phrase being searched on one segment.
pub(crate) struct Phrase<'a> {
    /// Its distinct words.
    words: Conjunction<'a>,
    /// Word i of the phrase is list `order[i]`.
    order: Vec<usize>,
    slop: u32,
    scorer: Scorer<'a>,
    /// By list, the positions in one document, where they were read.
    positions: Vec<Vec<u32>>,
    starts: Vec<u32>,
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
        Ok(Some(Phrase {
            positions: vec![Vec::new(); lists.len()],
            // Cheapest first already, and equal ones stay in place: `order` holds.
            words: Conjunction::new(lists),
            order,
            slop: phrase.slop,
            scorer,
            starts: Vec::new(),
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
        while self.words.is_in_range(block, &range) {
            top.exchange();
            let bounded = !counted && top.threshold() > 0.0 && self.is_bounded_by(0);
            if !bounded || top.would_enter(self.words.lists[0].bound(block)) {
                self.words.find_matches(block, &range, None);
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
    ) -> Result<u64, IndexError> {
        self.search(range, segment, &mut TopK::new(0), true)
    }

    /// Offers those of the words' matches that hold the phrase; how many do.
    fn offer(&mut self, segment: &Segment, top: &mut TopK<'a>, counted: bool) -> u64 {
        let count = self.words.matches.count;
        let mut most = [f32::INFINITY; BLOCK];
        if !counted && count > 0 && top.threshold() > 0.0 {
            self.bound_matches(&mut most);
        }
        let mut live = 0;
        for (at, most) in most[..count].iter().enumerate() {
            let doc = DocId(self.words.matches.docs[at]);
            if *most < top.threshold() || segment.is_deleted(doc) {
                continue;
            }
            let frequency = self.frequency(at);
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

    /// What the phrase scores at most in each match: as often as its rarest word there.
    fn bound_matches(&mut self, most: &mut [f32; BLOCK]) {
        let bounding: Vec<bool> = (0..self.words.lists.len())
            .map(|list| self.is_bounded_by(list))
            .collect();
        let matches = &self.words.matches;
        let docs = &matches.docs[..matches.count];
        let mut least = [u32::MAX; BLOCK];
        let mut frequencies = [1; BLOCK];
        let lists = self.words.lists.iter_mut().zip(&matches.places);
        for ((list, places), _) in lists.zip(bounding).filter(|(_, bounds)| *bounds) {
            let frequencies = &mut frequencies[..docs.len()];
            list.blocks.lookup(&places[..docs.len()], frequencies);
            for (least, frequency) in least.iter_mut().zip(frequencies) {
                *least = (*least).min(*frequency);
            }
        }
        self.scorer
            .score_many(docs, &least[..docs.len()], &mut most[..docs.len()]);
    }

    /// How often the phrase stands in a match.
    fn frequency(&mut self, at: usize) -> u32 {
        let Conjunction { lists, matches, .. } = &mut self.words;
        if self.slop > 0 {
            for ((list, places), positions) in lists
                .iter_mut()
                .zip(&matches.places)
                .zip(&mut self.positions)
            {
                list.blocks.positions_at(places[at], positions);
            }
            return sloppy_frequency(&self.positions, &self.order, self.slop);
        }
        // Rare words first: most documents fail with the second.
        for number in 0..lists.len() {
            let positions = &mut self.positions[number];
            lists[number]
                .blocks
                .positions_at(matches.places[number][at], positions);
            for (offset, _) in self
                .order
                .iter()
                .enumerate()
                .filter(|(_, list)| **list == number)
            {
                if number == 0 && self.order.iter().position(|list| *list == 0) == Some(offset) {
                    let starts = positions.iter();
                    self.starts.clear();
                    self.starts
                        .extend(starts.filter_map(|place| place.checked_sub(offset as u32)));
                } else {
                    retain_confirmed(&mut self.starts, positions, offset as u32);
                }
            }
            if self.starts.is_empty() {
                return 0;
            }
        }
        self.starts.len() as u32
    }
}
