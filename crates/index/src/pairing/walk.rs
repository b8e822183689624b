//! Simultaneous walk over the lists of some words of a segment, with the positions of each document.

use crate::postings::BLOCK;
use crate::segment::pairs::WORDS_MAX;
use crate::{DocId, IndexError, Postings, Segment, TermRecord};
use std::ops::Range;

/// Walk over the documents that hold any of some words.
pub(super) struct Walk<'a> {
    words: Vec<Word<'a>>,
    /// Current document of each word's list.
    docs: Vec<u32>,
    /// Document after the current one.
    next: u32,
    marks: Marks,
    /// Words in the current document, as bits.
    found: u128,
    /// Upper limit of positions, exclusive.
    positions_max: u64,
    segment: &'a Segment,
}

/// Words at the positions of a document.
#[derive(Debug, Default)]
struct Marks {
    /// Number of the first word at each position, plus 1; 0 for another word.
    first: Vec<u8>,
    /// Further words at positions that have one, by position. Only analyzers with several terms a place need them.
    further: Vec<(u32, u8)>,
}

/// List of a word, and a block of its position gaps, read in order.
struct Word<'a> {
    list: Postings<'a>,
    gaps: Box<[u32; BLOCK]>,
    /// Number of the block of gaps, and their count.
    block: usize,
    fill: usize,
    /// Occurrences before the current document.
    before: u64,
}

impl<'a> Walk<'a> {
    /// Creates a walk over `words`, at most [`WORDS_MAX`] of the default field.
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
            marks: Marks::default(),
            found: 0,
            positions_max: meta.words_counts[0] + u64::from(meta.documents_count),
            segment,
        })
    }

    /// Moves to the first document from `from` on that holds any of the words; `None` after the last.
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
        self.marks.further.sort_unstable();
        self.next = first + 1;
        Ok(Some(first))
    }

    /// Returns the words of the current document, as bits.
    pub(super) fn words(&self) -> u128 {
        self.found
    }

    /// Calls `each` with the numbers of every two adjacent words in the current document.
    #[inline]
    pub(super) fn each_pair(&self, mut each: impl FnMut(usize, usize)) {
        let mut before = 0;
        for &mark in &self.marks.first {
            if before != 0 && mark != 0 {
                each(usize::from(before) - 1, usize::from(mark) - 1);
            }
            before = mark;
        }
        if !self.marks.further.is_empty() {
            self.marks.each_further_pair(each);
        }
    }
}

impl Marks {
    fn clear(&mut self) {
        self.first.clear();
        self.further.clear();
    }

    fn put(&mut self, position: usize, mark: u8) {
        if self.first.len() <= position {
            self.first.resize(position + 1, 0);
        }
        match &mut self.first[position] {
            free @ 0 => *free = mark,
            _ => self.further.push((position as u32, mark)),
        }
    }

    /// Calls `each` with every two adjacent words of which at least one is a further word.
    fn each_further_pair(&self, mut each: impl FnMut(usize, usize)) {
        let first_at = |position: u32| {
            let mark = self.first.get(position as usize).copied();
            mark.filter(|&mark| mark != 0)
        };
        for &(position, mark) in &self.further {
            let mark = usize::from(mark) - 1;
            let from = self.further.partition_point(|&(at, _)| at <= position);
            let next = self.further[from..].iter();
            let next = next.take_while(|&&(at, _)| at == position + 1);
            for after in next.map(|&(_, after)| after).chain(first_at(position + 1)) {
                each(mark, usize::from(after) - 1);
            }
            if let Some(before) = position.checked_sub(1).and_then(first_at) {
                each(usize::from(before) - 1, mark);
            }
        }
    }
}

impl Word<'_> {
    /// Marks the positions of the word in the current document of its list; returns false where they cannot be read or
    /// exceed `positions_max`.
    fn mark(&mut self, mark: u8, marks: &mut Marks, positions_max: u64) -> bool {
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
                marks.put(position as usize, mark);
            }
            left -= (end - start) as u64;
            self.before += (end - start) as u64;
        }
        true
    }
}

/// Calls `each` for every document of a range and each of the `pairs` in it, with the document, the index of the pair
/// and its frequency, in the order of documents and pairs.
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
