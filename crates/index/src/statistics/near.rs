//! Words near a typed one, of the whole index, the best first.
//!
//! The order is by closeness, then by the documents of the term, most first, then by the term: counts of the whole index, so
//! the words that are kept do not depend on how documents are divided into segments.

use super::Statistics;
use crate::segment::BegunWords;
use crate::{Field, IndexError};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use text::{Closeness, ClosenessTo, EDITS_MAX, Pattern};

/// Terms that each segment is first asked for, for each that is wanted of a beginning.
const BEGUN_A_TERM: usize = 4;

/// Term of a word near a typed one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearTerm {
    /// The term.
    pub term: String,
    /// The closest of its words; of equally close ones, the first in the order of the alphabet.
    pub written: String,
    /// Closeness of that word.
    pub closeness: Closeness,
    /// Live documents of the whole index that hold the term.
    pub document_frequency: u64,
}

/// Word of the index near a typed one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NearWord {
    /// The word as it is written, folded.
    pub written: String,
    /// Its term. Where it is the word itself, the word may be a stem that no document has.
    pub term: String,
}

/// What is known of a term before its documents are counted.
#[derive(Debug)]
struct Candidate {
    written: String,
    closeness: Closeness,
    /// Sum of the lengths of its lists, deleted documents included: at least the document frequency.
    listed: u64,
}

impl Statistics {
    /// Returns the `most` best terms of the words near the one of `pattern`, which is one that allows errors, the best first:
    /// the closest, of these those with the most documents. Terms of no live document are not among them.
    ///
    /// # Errors
    /// A dictionary that is read is damaged.
    pub fn nearest_terms(
        &self,
        field: Field,
        pattern: &Pattern,
        most: usize,
    ) -> Result<Vec<NearTerm>, IndexError> {
        if let Pattern::NearStart { start, edits } = pattern
            && !start.is_empty()
            && let Some(nearest) = self.nearest_begun(field, start, *edits, most)?
        {
            return Ok(nearest);
        }
        let candidates = self.near_candidates(field, pattern)?;
        let mut ordered: Vec<(String, Candidate)> = candidates.into_iter().collect();
        ordered.sort_unstable_by(|(term, a), (other, b)| {
            let by_count = || b.listed.cmp(&a.listed);
            let order = a.closeness.cmp(&b.closeness).then_with(by_count);
            order.then_with(|| term.cmp(other))
        });
        let mut nearest: Vec<NearTerm> = Vec::new();
        for (term, candidate) in ordered {
            // Lists are no shorter than the counts of live documents, so no later term enters once one is too short.
            if nearest.len() >= most
                && let Some(last) = nearest.get(most.wrapping_sub(1))
                && rank(last.closeness, last.document_frequency)
                    < rank(candidate.closeness, candidate.listed)
            {
                break;
            }
            let document_frequency = self.document_frequency(field, &term)?;
            if document_frequency == 0 {
                continue;
            }
            let found = NearTerm {
                term,
                written: candidate.written,
                closeness: candidate.closeness,
                document_frequency,
            };
            let at = nearest.partition_point(|known| key(known) <= key(&found));
            nearest.insert(at, found);
            nearest.truncate(most);
        }
        Ok(nearest)
    }

    /// Returns the words of any of the patterns, each of which allows errors in one word, in the order of the alphabet. A word
    /// has each of its terms once. Words that only deleted documents have are among them.
    ///
    /// # Errors
    /// A dictionary that is read is damaged.
    pub fn near_words(
        &self,
        field: Field,
        patterns: &[Pattern],
    ) -> Result<Vec<NearWord>, IndexError> {
        let mut words = BTreeSet::new();
        for pattern in patterns {
            self.visit_near(field, pattern, |written, term, _| {
                let (written, term) = (written.to_owned(), term.to_owned());
                words.insert(NearWord { written, term });
            })?;
        }
        Ok(words.into_iter().collect())
    }

    /// Returns the best terms of the words that begin within `edits` of `start`, as [`Statistics::nearest_terms`] does, without a
    /// look at the others; `None` where a segment does not list its words.
    ///
    /// Each segment gives its terms with the fewest edits and the most documents there. What none of them gives has in each segment
    /// the same edits, those of the term itself, and no more documents than the sum of what is left in each; so nothing better is
    /// left once as many as wanted are better than that (the threshold algorithm of Fagin, Lotem and Naor 2003).
    fn nearest_begun(
        &self,
        field: Field,
        start: &str,
        edits: u8,
        most: usize,
    ) -> Result<Option<Vec<NearTerm>>, IndexError> {
        let mut begun = Vec::with_capacity(self.segments.len());
        for segment in &self.segments {
            let Some(words) = segment.words_begun(start, edits)? else {
                return Ok(None);
            };
            begun.push(words);
        }
        let mut asked = most.saturating_mul(BEGUN_A_TERM).max(1);
        loop {
            let (mut terms, mut others_most) = (BTreeSet::new(), [None; EDITS_MAX as usize + 1]);
            for words in &begun {
                let Some(of) = words.terms(field, asked) else {
                    return Ok(None);
                };
                terms.extend(of.terms);
                for (all, of) in others_most.iter_mut().zip(of.others_most) {
                    *all = of.map(|of| all.unwrap_or(0) + of).or(*all);
                }
            }
            let mut nearest = Vec::with_capacity(terms.len());
            for term in terms {
                let document_frequency = self.document_frequency(field, term)?;
                if document_frequency > 0 {
                    nearest.push((term, document_frequency));
                }
            }
            let mut nearest = with_nearest_words(&begun, start, &nearest);
            nearest.sort_unstable_by(|one, other| key(one).cmp(&key(other)));
            nearest.truncate(most);
            let worst = nearest.last().filter(|_| nearest.len() == most);
            let mut others = (0..).zip(others_most);
            let is_complete = others.all(|(edits, others)| {
                others.is_none_or(|documents| {
                    let best_left = rank(closeness_of(edits), documents);
                    worst.is_some_and(|worst| {
                        rank(worst.closeness, worst.document_frequency) < best_left
                    })
                })
            });
            if is_complete {
                return Ok(Some(nearest));
            }
            asked = asked.saturating_mul(4);
        }
    }

    fn near_candidates(
        &self,
        field: Field,
        pattern: &Pattern,
    ) -> Result<HashMap<String, Candidate>, IndexError> {
        let mut candidates: HashMap<String, Candidate> = HashMap::new();
        let Some(mut closeness) = ClosenessTo::new(pattern) else {
            return Ok(candidates);
        };
        self.visit_near(field, pattern, |written, term, count| {
            let (closeness, listed) = (closeness.of_match(written), count.map_or(0, u64::from));
            note(&mut candidates, term, written, closeness, listed);
        })?;
        // Terms that are no such words themselves are looked up: a word of one segment stands for its term in all.
        let unlisted = candidates.iter_mut().filter(|(_, of)| of.listed == 0);
        for (term, candidate) in unlisted {
            for segment in &self.segments {
                let record = segment.term(field, term)?;
                candidate.listed += record.map_or(0, |record| u64::from(record.documents_count));
            }
        }
        Ok(candidates)
    }

    /// Calls `each(word, term, count)` for every word of a pattern in every segment; a word that is its own term comes with
    /// the number of its documents there.
    fn visit_near(
        &self,
        field: Field,
        pattern: &Pattern,
        mut each: impl FnMut(&str, &str, Option<u32>),
    ) -> Result<(), IndexError> {
        for segment in &self.segments {
            if segment.visit_listed(field, pattern, &mut each)? {
                continue;
            }
            segment.visit_terms(field, pattern, |found| {
                if let Some((term, record)) = found {
                    each(term, term, Some(record.documents_count));
                }
                ControlFlow::Continue(())
            })?;
            segment.visit_written(field, pattern, |written, term| each(written, term, None))?;
        }
        Ok(())
    }
}

/// Gives terms, with their documents, the closest of their words, of equally close ones the first.
fn with_nearest_words(
    begun: &[BegunWords<'_>],
    start: &str,
    terms: &[(&str, u64)],
) -> Vec<NearTerm> {
    let names: Vec<&str> = terms.iter().map(|&(term, _)| term).collect();
    let mut closest: Vec<Option<(Closeness, String)>> = vec![None; terms.len()];
    for words in begun {
        words.visit_nearest(&names, |number, edits, word| {
            let closeness = match word == start {
                true => Closeness::Equal,
                false => closeness_of(edits),
            };
            let known = &mut closest[number];
            let is_closer = |(known, of): &(Closeness, String)| (closeness, word) < (*known, of);
            if known.as_ref().is_none_or(is_closer) {
                *known = Some((closeness, word.to_owned()));
            }
        });
    }
    let terms = terms.iter().zip(closest);
    let found = terms.filter_map(|(&(term, document_frequency), closest)| {
        let (closeness, written) = closest?;
        Some(NearTerm {
            term: term.to_owned(),
            written,
            closeness,
            document_frequency,
        })
    });
    found.collect()
}

/// Returns the closeness of a word that is not the beginning itself, by the edits between them.
fn closeness_of(edits: u8) -> Closeness {
    match edits {
        0 => Closeness::Begins,
        _ => Closeness::Edits(edits),
    }
}

fn note(
    candidates: &mut HashMap<String, Candidate>,
    term: &str,
    written: &str,
    closeness: Closeness,
    listed: u64,
) {
    match candidates.get_mut(term) {
        Some(known) => {
            known.listed += listed;
            if (closeness, written) < (known.closeness, &known.written) {
                known.closeness = closeness;
                written.clone_into(&mut known.written);
            }
        }
        None => {
            let candidate = Candidate {
                written: written.to_owned(),
                closeness,
                listed,
            };
            candidates.insert(term.to_owned(), candidate);
        }
    }
}

/// Returns what terms are ordered by, but for their letters: the closest first, of these those with the most documents.
fn rank(closeness: Closeness, documents: u64) -> (Closeness, Reverse<u64>) {
    (closeness, Reverse(documents))
}

/// Returns what terms are ordered by.
fn key(term: &NearTerm) -> ((Closeness, Reverse<u64>), &str) {
    (rank(term.closeness, term.document_frequency), &term.term)
}
