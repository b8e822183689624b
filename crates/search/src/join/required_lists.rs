//! Lists of required words and phrases, each list opened once.
//!
//! A word that is required by itself and stands in a phrase too, or in two phrases, is one list.

use crate::block::term_scorer::{List, Lists, no_scorer, scorer_of};
use crate::join::phrase::bigrams::pairs_of;
use crate::join::phrase::pattern::Pattern;
use crate::join::phrase::positions::distinct_records;
use crate::plan::node::Node;
use crate::plan::planner::Plan;
use crate::plan::scorer::Scorer;
use index::{IndexError, PairRecord, Segment, TermRecord};

/// The lists of some required words and phrases on one segment.
pub(crate) struct Required<'a> {
    /// Shortest first.
    pub(crate) lists: Lists<'a>,
    /// Whether the scores of each list count. The other lists are filters or parts of phrases.
    pub(crate) adds: Vec<bool>,
    pub(crate) phrases: Vec<Pattern<'a>>,
    /// The phrase whose scorer the first list has: no score there is below the phrase's.
    pub(crate) led: Option<usize>,
}

/// A list to be opened.
struct Entry<'a> {
    source: Source,
    scorer: Scorer<'a>,
    adds: bool,
}

/// The source of a list.
#[derive(Clone, Copy, PartialEq)]
enum Source {
    Word(TermRecord),
    Pair(PairRecord),
}

impl Source {
    fn documents_count(&self) -> u32 {
        match self {
            Source::Word(record) => record.documents_count,
            Source::Pair(pair) => pair.documents_count(),
        }
    }
}

impl<'a> Entry<'a> {
    /// Opens the list and adds it to `lists`.
    fn open(&self, lists: &mut Lists<'a>, segment: &'a Segment) -> Result<(), IndexError> {
        match &self.source {
            Source::Word(record) => List::push(lists, record, self.scorer, segment)?,
            Source::Pair(pair) => lists.push(List::of_pair(pair, self.scorer, segment)?),
        }
        Ok(())
    }
}

impl<'a> Required<'a> {
    /// Opens the words and phrases among some required clauses, of which there is one at least; `None` where
    /// the segment lacks one of the words.
    pub(crate) fn open(
        plan: &'a Plan,
        required: &'a [Node],
        segment: &'a Segment,
    ) -> Result<Option<Required<'a>>, IndexError> {
        let mut entries: Vec<Entry<'a>> = Vec::with_capacity(required.len());
        // Before any list is opened: many segments lack one of the words.
        for node in required {
            let Some(word) = node.word() else {
                continue;
            };
            let Some(record) = word.record(segment)? else {
                return Ok(None);
            };
            entries.push(Entry {
                source: Source::Word(record),
                scorer: scorer_of(plan, node, segment),
                adds: matches!(node, Node::Term(_)),
            });
        }
        let mut found = Vec::new();
        for node in required {
            let Node::Phrase(phrase) = node else {
                continue;
            };
            let Some((records, order)) = distinct_records(phrase, segment)? else {
                return Ok(None);
            };
            let Some(pairs) = pairs_of(phrase, &records, &order, segment) else {
                return Ok(None);
            };
            if let (2, [pair]) = (phrase.words.len(), &pairs[..]) {
                // It is read as a word is.
                entries.push(Entry {
                    source: Source::Pair(*pair),
                    scorer: Scorer::new(plan, phrase.field, phrase.weight, segment),
                    adds: true,
                });
                continue;
            }
            let words = records.iter().copied().map(Source::Word);
            for source in words.chain(pairs.iter().copied().map(Source::Pair)) {
                if !entries.iter().any(|entry| entry.source == source) {
                    let scorer = no_scorer(plan, segment);
                    let adds = false;
                    entries.push(Entry {
                        source,
                        scorer,
                        adds,
                    });
                }
            }
            found.push((phrase, records, order, pairs));
        }
        entries.sort_by_key(|entry| entry.source.documents_count());
        let mut phrases = Vec::with_capacity(found.len());
        let mut led = None;
        for (phrase, records, order, pairs) in found {
            let number = |source: Source| entries.iter().position(|one| one.source == source);
            let words = records.iter().copied().map(Source::Word);
            let lists = words.filter_map(number).collect();
            let mut pairs = pairs.into_iter().map(Source::Pair);
            let scorer = Scorer::new(plan, phrase.field, phrase.weight, segment);
            let pattern = Pattern::new(lists, order, phrase.slop, scorer);
            let leader = &mut entries[0];
            if led.is_none()
                && !leader.adds
                && (pattern.is_bounded_by_list(0) || pairs.any(|pair| pair == leader.source))
            {
                leader.scorer = scorer;
                led = Some(phrases.len());
            }
            phrases.push(pattern);
        }
        let mut lists = Lists::take();
        for entry in &entries {
            entry.open(&mut lists, segment)?;
        }
        Ok(Some(Required {
            lists,
            adds: entries.iter().map(|entry| entry.adds).collect(),
            phrases,
            led,
        }))
    }
}
