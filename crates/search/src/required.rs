//! Which lists do required words and phrases read together?
//!
//! A word that is required by itself and stands in a phrase too, or in two phrases, is one list.

use crate::cursor::{Scorer, distinct_records};
use crate::list::{List, Lists, no_scorer, scorer_of};
use crate::phrase::Pattern;
use crate::plan::{Node, Plan};
use index::{IndexError, Segment, TermRecord};

/// The lists of some required words and phrases on one segment.
pub(crate) struct Required<'a> {
    /// Shortest first.
    pub(crate) lists: Lists<'a>,
    /// By list: whether its scores count. Others only filter, or are of phrases.
    pub(crate) adds: Vec<bool>,
    pub(crate) phrases: Vec<Pattern<'a>>,
    /// The phrase whose scorer the first list has: no score there is below the phrase's.
    pub(crate) led: Option<usize>,
}

/// A list to be opened.
struct Entry<'a> {
    record: TermRecord,
    scorer: Scorer<'a>,
    adds: bool,
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
                record,
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
            for &record in &records {
                if !entries.iter().any(|entry| entry.record == record) {
                    let scorer = no_scorer(plan, segment);
                    let adds = false;
                    entries.push(Entry {
                        record,
                        scorer,
                        adds,
                    });
                }
            }
            found.push((phrase, records, order));
        }
        entries.sort_by_key(|entry| entry.record.documents_count);
        let mut phrases = Vec::with_capacity(found.len());
        for (phrase, records, order) in found {
            let number = |record: &TermRecord| entries.iter().position(|one| one.record == *record);
            let lists = records.iter().filter_map(number).collect();
            let scorer = Scorer::new(plan, phrase.field, phrase.weight, segment);
            phrases.push(Pattern::new(lists, order, phrase.slop, scorer));
        }
        let led = match entries.first_mut() {
            Some(leader) if !leader.adds => bind(leader, &phrases),
            _ => None,
        };
        let mut lists = Lists::take();
        for entry in &entries {
            lists.push(List::of_record(&entry.record, entry.scorer, segment)?);
        }
        Ok(Some(Required {
            lists,
            adds: entries.iter().map(|entry| entry.adds).collect(),
            phrases,
            led,
        }))
    }
}

/// Gives the first list the scorer of a phrase that it bounds, if there is one; which that is.
fn bind<'a>(leader: &mut Entry<'a>, phrases: &[Pattern<'a>]) -> Option<usize> {
    let is_bounded = |phrase: &Pattern<'a>| {
        let word = phrase.lists.iter().position(|&list| list == 0);
        word.is_some_and(|word| phrase.is_bounded_by(word))
    };
    let led = phrases.iter().position(is_bounded)?;
    leader.scorer = phrases[led].scorer;
    Some(led)
}
