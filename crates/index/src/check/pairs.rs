//! Check of the stored pairs of a segment against the lists of its words.

use super::bounded::Bounded;
use crate::pairing::count_in_each;
use crate::segment::pairs::PairLists;
use crate::{DocId, Field, IndexError, Segment};

pub(super) fn check(segment: &Segment, pairs: &PairLists) -> Result<(), IndexError> {
    let (words, stored) = pairs.all(segment.core())?;
    let keys: Vec<(u8, u8)> = stored.iter().map(|pair| pair.words).collect();
    let mut lists: Vec<_> = stored
        .iter()
        .map(|pair| {
            let postings = pairs.postings(segment.core(), &pair.record)?;
            let bounded = Bounded::new(postings.bounds());
            Ok((postings, bounded, 0u64))
        })
        .collect::<Result<_, IndexError>>()?;
    let wrong = |number: usize, what: &str| {
        pairs.damaged(
            &stored[number].record,
            &format!("pair {:?}: {what}", keys[number]),
        )
    };
    let lengths = segment.lengths(Field::Text);
    count_in_each(segment, words, &keys, 0..u32::MAX, |doc, number, count| {
        let (postings, bounded, occurrences) = &mut lists[number];
        if (postings.doc(), postings.frequency()) != (DocId(doc), count) {
            let what = format!("document {doc} has it {count} times, not so said here");
            return Err(wrong(number, &what));
        }
        let length = lengths.get(doc as usize).copied().unwrap_or(0);
        if !bounded.holds(doc, count, length) {
            let what = format!("document {doc} is above the bound of its block");
            return Err(wrong(number, &what));
        }
        *occurrences += u64::from(count);
        postings.next();
        Ok(())
    })?;
    for (number, (mut postings, _, occurrences)) in lists.into_iter().enumerate() {
        if let Some(error) = postings.take_error() {
            return Err(error);
        }
        let is_whole = postings.doc() == DocId::END;
        if !is_whole || occurrences != stored[number].record.occurrences_count() {
            return Err(wrong(
                number,
                "more documents or occurrences than its words have",
            ));
        }
    }
    Ok(())
}
