//! Stored pairs of frequent words among the words of a phrase.
//!
//! A pair's list holds the documents in which its words follow each other, so each of a phrase's pairs holds all
//! documents of the phrase, no less often than they hold it; and a phrase that is one pair is that pair's list.

use crate::block::term_scorer::List;
use crate::context::counters;
use crate::join::phrase::positions::Numbers;
use crate::plan::node::PhraseNode;
use crate::plan::planner::Plan;
use crate::plan::scorer::Scorer;
use index::{Field, IndexError, PairRecord, Segment, TermRecord};
use smallvec::SmallVec;

/// The stored pairs of a phrase.
pub(crate) type PhrasePairs = SmallVec<[PairRecord; 8]>;

/// The answer that stored pairs give to a phrase by themselves.
pub(crate) enum Stored {
    /// The phrase is this pair.
    Pair(PairRecord),
    /// No document of the segment holds the phrase.
    Nowhere,
    /// Stored pairs do not decide; the words must be read.
    Unknown,
}

/// Returns the stored pairs of a phrase, each once; `None` if one of them occurs nowhere. `records` are those of the
/// distinct words, and `order` gives the distinct word at each place of the phrase.
#[inline]
pub(crate) fn pairs_of(
    phrase: &PhraseNode,
    records: &[TermRecord],
    order: &Numbers,
    segment: &Segment,
) -> Option<PhrasePairs> {
    let mut pairs = PhrasePairs::new();
    if phrase.slop > 0 || phrase.field != Field::Text {
        return Some(pairs);
    }
    for words in order.windows(2) {
        if let Some(pair) = segment.pair(&records[words[0]], &records[words[1]])
            && !pairs.contains(&pair)
        {
            pairs.push(pair);
        }
    }
    counters::paired(pairs.len());
    let stand = pairs.iter().all(|pair| pair.documents_count() > 0);
    stand.then_some(pairs)
}

/// Decides whether a phrase is one stored pair.
pub(crate) fn stored(phrase: &PhraseNode, segment: &Segment) -> Result<Stored, IndexError> {
    let ([first, second], 0, Field::Text) = (&phrase.words[..], phrase.slop, phrase.field) else {
        return Ok(Stored::Unknown);
    };
    let (Some(first), Some(second)) = (first.record(segment)?, second.record(segment)?) else {
        return Ok(Stored::Nowhere);
    };
    let Some(pair) = segment.pair(&first, &second) else {
        return Ok(Stored::Unknown);
    };
    counters::paired(1);
    Ok(match pair.documents_count() {
        0 => Stored::Nowhere,
        _ => Stored::Pair(pair),
    })
}

/// Returns the list of a phrase that is one stored pair, with the phrase's scores.
pub(crate) fn list_of<'a>(
    plan: &'a Plan,
    phrase: &PhraseNode,
    pair: &PairRecord,
    segment: &'a Segment,
) -> Result<List<'a>, IndexError> {
    let scorer = Scorer::new(plan, phrase.field, phrase.weight, segment);
    List::of_pair(pair, scorer, segment)
}
