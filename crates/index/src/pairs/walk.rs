//! Some words of a segment walked together, document by document, with the places of all of them.

use super::table::WORDS_MAX;
use crate::postings::BLOCK;
use crate::{DocId, IndexError, Postings, Segment, TermRecord};
use std::ops::Range;

/// A walk over the documents that hold any of some words.
pub(super) struct Walk<'a> {
    words: Vec<Word<'a>>,
    /// Where each word's list stands.
    docs: Vec<u32>,
    /// Where the walk goes on if no document is left out.
    next: u32,
    /// By position in the current document, 1 + the number of the word there; 0 where it is another word.
    marks: Vec<u8>,
    /// Which of the words it holds, as bits.
    found: u128,
    /// No position is so high.
    positions_max: u64,
    segment: &'a Segment,
}

/// A word's list, and its positions read in order, a block of gaps at a time.
struct Word<'a> {
    list: Postings<'a>,
    gaps: Box<[u32; BLOCK]>,
    /// Which block they are, and how many.
    block: usize,
    fill: usize,
    /// Occurrences before the current document.
    before: u64,
}

impl<'a> Walk<'a> {
    /// `words` are at most [`WORDS_MAX`] of the default field.
    pub(super) fn new(segment: &'a Segment, words: &[TermRecord]) -> Result<Walk<'a>, IndexError> {
        debug_assert!(words.len() <= WORDS_MAX);
        let open = |word| -> Result<Word<'a>, IndexError> {
            Ok(Word {
                list: segment.postings(word)?,
                gaps: Box::new([0; BLOCK]),
                block: usize::MAX,
                fill: 0,
                before: 0,
            })
        };
        let words = words.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let meta = segment.meta();
        Ok(Walk {
            docs: words.iter().map(|word| word.list.doc().0).collect(),
            words,
            next: 0,
            marks: Vec::new(),
            found: 0,
            positions_max: meta.words_counts[0] + u64::from(meta.documents_count),
            segment,
        })
    }

    /// Reads the first document from `from` on that holds any of the words; `None` after the last.
    pub(super) fn next(&mut self, from: u32) -> Result<Option<u32>, IndexError> {
        let leaves_out = from != self.next;
        let mut first = DocId::END.0;
        for (doc, word) in self.docs.iter_mut().zip(&mut self.words) {
            if *doc < from {
                *doc = match leaves_out {
                    true => word.list.seek(DocId(from)).0,
                    false => word.list.next().0,
                };
            }
            if leaves_out && *doc != DocId::END.0 {
                word.before = word.list.occurrences_before();
            }
            first = first.min(*doc);
        }
        self.marks.clear();
        self.found = 0;
        if first == DocId::END.0 {
            // A damaged list ends early.
            let mut lists = self.words.iter_mut().map(|word| &mut word.list);
            let damage = lists.find_map(Postings::take_error);
            return damage.map_or(Ok(None), Err);
        }
        for (number, (&doc, word)) in self.docs.iter().zip(&mut self.words).enumerate() {
            if doc == first {
                self.found |= 1u128 << number;
                let mark = 1 + number as u8;
                if !word.mark(mark, &mut self.marks, self.positions_max) {
                    let damage = word.list.take_error();
                    let beyond = || {
                        let what = format!("document {doc} has words beyond its end");
                        self.segment.damaged_at_terms(&what)
                    };
                    return Err(damage.unwrap_or_else(beyond));
                }
            }
        }
        self.next = first + 1;
        Ok(Some(first))
    }

    /// Which of the words the current document holds, as bits.
    pub(super) fn words(&self) -> u128 {
        self.found
    }

    /// Calls `each` with the numbers of every two words that stand one after the other in the current document.
    #[inline]
    pub(super) fn each_pair(&self, mut each: impl FnMut(usize, usize)) {
        let mut before = 0;
        for &mark in &self.marks {
            if before != 0 && mark != 0 {
                each(usize::from(before) - 1, usize::from(mark) - 1);
            }
            before = mark;
        }
    }
}

impl Word<'_> {
    /// Marks the places of the word in the document that its list stands on; false where they cannot be read or lie
    /// beyond `positions_max`.
    fn mark(&mut self, mark: u8, marks: &mut Vec<u8>, positions_max: u64) -> bool {
        let mut left = u64::from(self.list.frequency());
        let mut position = 0u64;
        while left > 0 {
            let (block, start) = (self.before as usize / BLOCK, self.before as usize % BLOCK);
            if self.block != block {
                self.fill = self.list.gap_block(block, &mut self.gaps);
                self.block = block;
            }
            let end = self.fill.min(start + left as usize);
            if end <= start {
                return false;
            }
            for &gap in &self.gaps[start..end] {
                position += u64::from(gap);
                if position >= positions_max {
                    return false;
                }
                if marks.len() <= position as usize {
                    marks.resize(position as usize + 1, 0);
                }
                marks[position as usize] = mark;
            }
            left -= (end - start) as u64;
            self.before += (end - start) as u64;
        }
        true
    }
}

/// Calls `each` for every document of a range and every one of some pairs that stands there: with the document,
/// which pair it is, and how often it stands there; in order of documents, and of pairs in each.
pub(crate) fn count_in_each(
    segment: &Segment,
    words: &[TermRecord],
    pairs: &[(u8, u8)],
    range: Range<u32>,
    mut each: impl FnMut(u32, usize, u32) -> Result<(), IndexError>,
) -> Result<(), IndexError> {
    const NONE: u16 = u16::MAX;
    let mut numbers = vec![NONE; WORDS_MAX * WORDS_MAX];
    for (number, &(first, second)) in (0..).zip(pairs) {
        numbers[usize::from(first) * WORDS_MAX + usize::from(second)] = number;
    }
    let mut counts = vec![0u32; pairs.len()];
    let mut found: Vec<u16> = Vec::new();
    let mut walk = Walk::new(segment, words)?;
    let mut from = range.start;
    while let Some(doc) = walk.next(from)?
        && doc < range.end
    {
        walk.each_pair(|first, second| {
            let number = numbers[first * WORDS_MAX + second];
            if number != NONE {
                let count = &mut counts[usize::from(number)];
                if *count == 0 {
                    found.push(number);
                }
                *count += 1;
            }
        });
        found.sort_unstable();
        for number in found.drain(..).map(usize::from) {
            each(doc, number, std::mem::take(&mut counts[number]))?;
        }
        from = doc + 1;
    }
    Ok(())
}
