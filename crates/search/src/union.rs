//! Any of several terms, a window of documents at a time.
//!
//! A union that steps from document to document asks every list at every step where it stands, and the
//! processor cannot guess the answers. Here each list in turn pours its postings of a window of 4,096
//! documents into an array of scores, a block at a time; then the array is read once. (Strohman,
//! Turtle & Croft 2005 call it term-at-a-time in document windows; Lucene's `BooleanScorer` does the
//! same with 2,048.)
//!
//! Exact: lists pour in the order of the plan, starting from 0.0, so that every sum has the bits of
//! [`crate::exhaustive`].

use crate::cursor::Scorer;
use crate::plan::{Node, Plan};
use crate::{ScoredHit, TopK};
use index::{DocId, IndexError, Postings, Segment};

/// Documents of a window: their scores fill half of a first-level cache.
const WINDOW: usize = 4096;
const WORDS: usize = WINDOW / 64;

/// The lists of a union on one segment.
pub(crate) struct Union<'a> {
    pub(crate) lists: Vec<(Postings<'a>, Scorer<'a>)>,
}

/// What a window knows of its documents; all zero between windows.
struct Window {
    scores: [f32; WINDOW],
    matched: [u64; WORDS],
}

impl<'a> Union<'a> {
    pub(crate) fn open(
        plan: &'a Plan,
        clauses: &'a [Node],
        segment: &'a Segment,
    ) -> Result<Union<'a>, IndexError> {
        let mut lists = Vec::with_capacity(clauses.len());
        for clause in clauses {
            if let Node::Term(term) = clause
                && let Some(record) = segment.term(term.field, &term.term)?
            {
                let scorer = Scorer::new(plan, term.field, term.weight, segment);
                lists.push((segment.postings(&record)?, scorer));
            }
        }
        Ok(Union { lists })
    }

    /// Postings in all lists.
    pub(crate) fn cost(&self) -> u64 {
        self.lists
            .iter()
            .map(|(postings, _)| u64::from(postings.cost()))
            .sum()
    }

    /// Scores every document of the union, keeps the best in `top`, returns the exact count.
    pub(crate) fn search(mut self, segment: &Segment, top: &mut TopK) -> Result<u64, IndexError> {
        let mut window = Box::new(Window {
            scores: [0.0; WINDOW],
            matched: [0; WORDS],
        });
        let mut count = 0;
        while let Some(base) = self.next_window() {
            let end = DocId(base + WINDOW as u32);
            let Window { scores, matched } = &mut *window;
            for (postings, scorer) in &mut self.lists {
                postings.take_until(end, |docs, frequencies| {
                    pour(docs, frequencies, base, scorer, scores, matched);
                });
            }
            count += collect(base, &mut window, segment, top);
        }
        self.finish(count)
    }

    /// Counts the documents of the union.
    pub(crate) fn count(mut self, segment: &Segment) -> Result<u64, IndexError> {
        let mut matched = [0u64; WORDS];
        let mut count = 0;
        while let Some(base) = self.next_window() {
            let end = DocId(base + WINDOW as u32);
            for (postings, _) in &mut self.lists {
                postings.take_docs_until(end, |docs| mark(docs, base, &mut matched));
            }
            for (at, word) in matched.iter_mut().enumerate() {
                *word = live(*word, base + at as u32 * 64, segment);
                count += u64::from(word.count_ones());
                *word = 0;
            }
        }
        self.finish(count)
    }

    /// Where the next window with a document starts.
    fn next_window(&self) -> Option<u32> {
        let first = self
            .lists
            .iter()
            .map(|(postings, _)| postings.doc())
            .min()?;
        (first != DocId::END).then_some(first.0 & !(WINDOW as u32 - 1))
    }

    fn finish(mut self, count: u64) -> Result<u64, IndexError> {
        match self
            .lists
            .iter_mut()
            .find_map(|(postings, _)| postings.take_error())
        {
            Some(error) => Err(error),
            None => Ok(count),
        }
    }
}

fn pour(
    docs: &[u32],
    frequencies: &[u32],
    base: u32,
    scorer: &Scorer<'_>,
    scores: &mut [f32; WINDOW],
    matched: &mut [u64; WORDS],
) {
    for (&doc, &frequency) in docs.iter().zip(frequencies) {
        // A damaged list may name documents out of order; they must not leave the window.
        let at = doc.wrapping_sub(base) as usize % WINDOW;
        scores[at] += scorer.score(DocId(doc), frequency);
        matched[at / 64] |= 1 << (at % 64);
    }
}

fn mark(docs: &[u32], base: u32, matched: &mut [u64; WORDS]) {
    for &doc in docs {
        let at = doc.wrapping_sub(base) as usize % WINDOW;
        matched[at / 64] |= 1 << (at % 64);
    }
}

/// The bits of `word` whose documents, from `first` on, are not deleted.
#[inline]
fn live(word: u64, first: u32, segment: &Segment) -> u64 {
    if word == 0 || !segment.has_deletions() {
        return word;
    }
    let mut kept = word;
    let mut rest = word;
    while rest != 0 {
        let bit = rest.trailing_zeros();
        rest &= rest - 1;
        if segment.is_deleted(DocId(first + bit)) {
            kept &= !(1 << bit);
        }
    }
    kept
}

/// Offers what the window holds and empties it; how many documents it held.
fn collect(base: u32, window: &mut Window, segment: &Segment, top: &mut TopK) -> u64 {
    let mut count = 0;
    for (at, word) in window.matched.iter_mut().enumerate() {
        if *word == 0 {
            continue;
        }
        let scores = &mut window.scores[at * 64..at * 64 + 64];
        let first = base + at as u32 * 64;
        let mut rest = live(*word, first, segment);
        count += u64::from(rest.count_ones());
        while rest != 0 {
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            let (score, doc) = (scores[bit as usize], DocId(first + bit));
            top.offer(score, || ScoredHit::at(segment, doc, score));
        }
        scores.fill(0.0);
        *word = 0;
    }
    count
}
