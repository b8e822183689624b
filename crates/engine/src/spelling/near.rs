//! Words of an index near those typed, by the law of corrections.
//!
//! Every part of an index knows the words and the counts of the whole index, so any part gives the same reply.

use super::law::{MAYBE_STEM, cost, score};
use crate::calls::{NearWord, NearWordsRequest, TypedWord};
use crate::part::Part;
use index::{Field, Index, IndexError, NearWord as NearTyped};
use std::collections::HashSet;
use text::{Analyzer, Pattern};

/// Documents of a word, at most, that may be an error although documents have it.
pub(crate) const RARE_DOCUMENTS: u64 = 10;
/// How many times as many documents a word has that may stand in for a rare one.
pub(crate) const FAR_MORE: u64 = 50;
/// Upper limit on the words that are tried where all are known, but no document has them together.
const APART_MAX: usize = 3;
/// Minimum length, in characters, of a word that may differ in two edits.
const LONG_CHARACTERS: usize = 6;
/// Upper limit on the words whose documents are counted, for each typed one: those of the least cost.
const COUNTED_MAX: usize = 256;
/// Upper limit on the words of a reply, for each typed one.
const NEAR_MAX: usize = 8;

/// Admission of words in place of one typed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Admission {
    /// No document has the word typed.
    Unknown,
    /// Some documents have it, no more than given here, and it may be an error for a far more frequent word.
    Rare(u64),
    /// Documents have it, but none together with the others.
    Apart,
}

impl Part {
    /// Returns for each word that was typed its documents and the words near it, best first; none near those that are in order.
    ///
    /// # Errors
    /// Damage, and files that cannot be read.
    pub fn near_words(&self, request: &NearWordsRequest) -> Result<Vec<TypedWord>, IndexError> {
        let index = &**self.index();
        let analyzer = index.analyzer();
        let mut words = Vec::with_capacity(request.words.len());
        for word in request.words.iter() {
            let term = analyzer.terms(word).into_iter().next();
            let documents = match term {
                Some(term) => index.statistics().document_frequency(Field::Text, &term)?,
                None => 0,
            };
            words.push(TypedWord {
                documents,
                near: Vec::new(),
            });
        }
        let mut looked = Vec::new();
        for (at, word) in words.iter().enumerate() {
            match word.documents {
                0 => looked.push((at, Admission::Unknown)),
                documents @ 1..=RARE_DOCUMENTS => looked.push((at, Admission::Rare(documents))),
                _ => {}
            }
        }
        find(index, analyzer, request, &looked, &mut words)?;
        if request.apart
            && words
                .iter()
                .all(|word| word.documents > 0 && word.near.is_empty())
        {
            let mut rarest: Vec<usize> = (0..words.len()).collect();
            rarest.sort_by_key(|&at| words[at].documents);
            rarest.truncate(APART_MAX);
            let looked: Vec<_> = rarest
                .into_iter()
                .map(|at| (at, Admission::Apart))
                .collect();
            find(index, analyzer, request, &looked, &mut words)?;
        }
        Ok(words)
    }
}

/// Finds the words near those at some places.
fn find(
    index: &Index,
    analyzer: Analyzer,
    request: &NearWordsRequest,
    looked: &[(usize, Admission)],
    words: &mut [TypedWord],
) -> Result<(), IndexError> {
    for &(at, admission) in looked {
        words[at].near = near(index, analyzer, &request.words[at], admission)?;
    }
    Ok(())
}

/// Returns the best words near a typed one.
fn near(
    index: &Index,
    analyzer: Analyzer,
    typed: &str,
    admission: Admission,
) -> Result<Vec<NearWord>, IndexError> {
    let typed = analyzer.prefixes(typed);
    let [typed] = &typed[..] else {
        return Ok(Vec::new());
    };
    let own_term = analyzer.terms(typed).into_iter().next();
    let letters: Vec<char> = typed.chars().collect();
    let patterns = match admission {
        Admission::Rare(_) | Admission::Apart => vec![Pattern::near_of_one_initial(typed, 1)],
        // The first letter is seldom wrong, and two edits of any letters are many words.
        Admission::Unknown if letters.len() >= LONG_CHARACTERS => vec![
            Pattern::near_of_one_initial(typed, 2),
            Pattern::near(typed, 1),
        ],
        Admission::Unknown => vec![Pattern::near(typed, 1)],
    };
    let statistics = index.statistics();
    let found = statistics.near_words(Field::Text, &patterns)?;
    let has_other_words: HashSet<&str> = found
        .iter()
        .filter(|word| word.written != word.term)
        .map(|word| word.term.as_str())
        .collect();
    // Another form of the word finds no other documents.
    let is_other = |word: &&NearTyped| Some(&word.term) != own_term.as_ref();
    let is_word = |word: &&NearTyped| word.written.chars().all(char::is_alphabetic);
    let mut costs: Vec<(u32, &NearTyped)> = Vec::new();
    for word in found.iter().filter(is_other).filter(is_word) {
        let stem = match word.written == word.term && has_other_words.contains(&*word.term) {
            true => MAYBE_STEM,
            false => 0,
        };
        let written: Vec<char> = word.written.chars().collect();
        costs.push((cost(&letters, &written) + stem, word));
    }
    costs.sort_unstable();
    costs.truncate(COUNTED_MAX);
    let mut near: Vec<NearWord> = Vec::with_capacity(costs.len());
    for (cost, word) in costs {
        let documents = statistics.document_frequency(Field::Text, &word.term)?;
        let is_admitted = match admission {
            Admission::Rare(of_typed) => documents >= of_typed.saturating_mul(FAR_MORE),
            Admission::Unknown | Admission::Apart => documents > 0,
        };
        if is_admitted {
            near.push(NearWord {
                written: word.written.clone(),
                documents,
                cost,
            });
        }
    }
    near.sort_by(|a, b| {
        let (ours, theirs) = (score(a.documents, a.cost), score(b.documents, b.cost));
        theirs
            .total_cmp(&ours)
            .then_with(|| a.written.cmp(&b.written))
    });
    // Of a word with several terms, the best.
    let mut known = HashSet::new();
    near.retain(|word| known.insert(word.written.clone()));
    near.truncate(NEAR_MAX);
    Ok(near)
}
