//! Correction of misspelled words: another query that finds something, for one that finds nothing.
//!
//! ```text
//! typed words ─► counts of each ─► attempts ─► hits ─► words of the hits that are near ─► corrected query
//!                                 known words required,
//!                                 the others within 1 edit, then 2
//! ```
//!
//! Candidates come from the hits of a search for nearly right words, in their text and titles. So a correction is a
//! word as people write it and not a stem, stands in a document with all the other words, and is as likely to be drawn
//! as it is frequent. Nothing here searches: a caller runs the queries, in one process or on a cluster.

use index::Field;
use search::{Operator, Query};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use text::{Analyzer, Pattern};

/// Number of hits that an attempt looks at.
pub(crate) const SAMPLE_HITS: usize = 10;
/// Upper limit on the words of a query that is corrected.
const WORDS_MAX: usize = 8;
/// Upper limit on the words that are changed at once.
const CHANGED_MAX: usize = 3;
/// Minimum length, in characters, of a word that is corrected; and of one that may differ in two letters.
const SHORT_CHARACTERS: usize = 3;
const LONG_CHARACTERS: usize = 6;
/// Upper limit on words replaced one by one, where all words are known but occur in no document together.
const TRIED_MAX: usize = 3;

/// Query of words without syntax, which found nothing.
#[derive(Debug)]
pub(crate) struct Spelling<'t> {
    text: &'t str,
    analyzer: Analyzer,
    words: Vec<TypedWord>,
}

#[derive(Debug)]
struct TypedWord {
    range: Range<usize>,
    /// Term of a word that can be corrected.
    term: Option<String>,
}

/// Search for documents with words like those typed.
#[derive(Debug)]
pub(crate) struct Attempt {
    /// Query of which [`SAMPLE_HITS`] hits with summaries are needed.
    pub(crate) query: Query,
    changed: Vec<Near>,
}

/// Word in place of which another one is looked for.
#[derive(Debug)]
struct Near {
    word: usize,
    pattern: Pattern,
}

impl<'t> Spelling<'t> {
    /// Returns the words of a query; `None` where it has syntax, too many words, or none that can be corrected.
    pub(crate) fn of(text: &'t str, analyzer: Analyzer) -> Option<Spelling<'t>> {
        let has_syntax = |word: &str| {
            word.contains(['"', '(', ')', '*', '?', '~', '^', ':', '+'])
                || word.starts_with('-')
                || matches!(word, "AND" | "OR" | "NOT")
        };
        let mut words = Vec::new();
        for word in text.split_whitespace() {
            if has_syntax(word) || words.len() == WORDS_MAX {
                return None;
            }
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            words.push(TypedWord {
                range: start..start + word.len(),
                term: correctable(word, analyzer),
            });
        }
        let can_be_corrected = words.iter().any(|word| word.term.is_some());
        can_be_corrected.then_some(Spelling {
            text,
            analyzer,
            words,
        })
    }

    /// Returns a query for each word, whose matches are to be counted.
    pub(crate) fn words(&self) -> Vec<Query> {
        let words = self.words.iter();
        words
            .map(|word| self.parsed(&self.text[word.range.clone()]))
            .collect()
    }

    /// Returns the searches to try, in this order, given the number of matches of each word.
    pub(crate) fn attempts(&self, counts: &[u64]) -> Vec<Attempt> {
        let unknown: Vec<usize> = (0..self.words.len())
            .filter(|&at| counts[at] == 0)
            .collect();
        if !unknown.is_empty() {
            let can_all = unknown.iter().all(|&at| self.words[at].term.is_some());
            if !can_all || unknown.len() > CHANGED_MAX {
                return Vec::new();
            }
            let close = self.attempt(&unknown, 1);
            let far = self.attempt(&unknown, 2).filter(|far| {
                let is_close = |near: &Near| matches!(near.pattern, Pattern::Near { edits: 1, .. });
                !far.changed.iter().all(is_close)
            });
            return close.into_iter().chain(far).collect();
        }
        // Every word is known, so the rarest is the likeliest to be wrong.
        let mut rarest: Vec<usize> = (0..self.words.len())
            .filter(|&at| self.words[at].term.is_some())
            .collect();
        rarest.sort_by_key(|&at| counts[at]);
        let tried = rarest.into_iter().take(TRIED_MAX);
        tried.filter_map(|at| self.attempt(&[at], 1)).collect()
    }

    /// Makes the search for documents with all words but those at `changed`, and words near these.
    fn attempt(&self, changed: &[usize], edits: u8) -> Option<Attempt> {
        let kept = (0..self.words.len()).filter(|at| !changed.contains(at));
        let kept: Vec<&str> = kept
            .map(|at| &self.text[self.words[at].range.clone()])
            .collect();
        let kept = self.parsed(&kept.join(" "));
        let changed: Option<Vec<Near>> = changed
            .iter()
            .map(|&at| {
                let term = self.words[at].term.as_deref()?;
                let is_long = term.chars().count() >= LONG_CHARACTERS;
                // The first letter is seldom wrong, and two edits of any letters are many words.
                let pattern = match edits {
                    2 if is_long => Pattern::near_of_one_initial(term, 2),
                    _ => Pattern::near(term, 1),
                };
                Some(Near { word: at, pattern })
            })
            .collect();
        let changed = changed?;
        let patterns = changed.iter().map(|near| Query::Pattern {
            field: Field::Text,
            pattern: near.pattern.clone(),
        });
        let kept = Some(kept).filter(|kept| *kept != Query::Nothing);
        Some(Attempt {
            query: Query::Boolean {
                required: kept.into_iter().chain(patterns).collect(),
                optional: Vec::new(),
                excluded: Vec::new(),
            },
            changed,
        })
    }

    /// Returns the query with the words that stand in the hits of an attempt: titles and summaries, whose marks are
    /// the words near those typed. `None` where no hit has one for each.
    pub(crate) fn corrected<'h>(
        &self,
        attempt: &Attempt,
        hits: impl Iterator<Item = (&'h str, &'h str)>,
    ) -> Option<String> {
        let hits: Vec<Vec<HashSet<String>>> = hits
            .map(|(title, summary)| {
                let words: Vec<&str> = words_of(title).chain(marked(summary)).collect();
                let near = attempt.changed.iter();
                near.map(|near| self.candidates(near, &words)).collect()
            })
            .collect();
        let mut counts: Vec<HashMap<&str, u32>> = vec![HashMap::new(); attempt.changed.len()];
        for hit in &hits {
            for (counts, candidates) in counts.iter_mut().zip(hit) {
                for candidate in candidates {
                    *counts.entry(candidate).or_default() += 1;
                }
            }
        }
        let mut best: Option<(f64, String)> = None;
        for hit in &hits {
            let mut sum = 0.0;
            let mut chosen = Vec::with_capacity(attempt.changed.len());
            for ((near, counts), candidates) in attempt.changed.iter().zip(&counts).zip(hit) {
                let typed = &self.text[self.words[near.word].range.clone()];
                let rated = candidates.iter().map(|candidate| {
                    let count = counts.get(candidate.as_str()).copied().unwrap_or(0);
                    (rating(typed, candidate, count), candidate)
                });
                let better = |a: &(f64, &String), b: &(f64, &String)| {
                    a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1))
                };
                let Some((rating, candidate)) = rated.max_by(better) else {
                    break;
                };
                sum += rating;
                chosen.push((near.word, candidate.as_str()));
            }
            if chosen.len() < attempt.changed.len() {
                continue;
            }
            let text = self.with(&chosen);
            let is_better = best
                .as_ref()
                .is_none_or(|(most, known)| sum > *most || sum == *most && text < *known);
            if is_better {
                best = Some((sum, text));
            }
        }
        best.map(|(_, text)| text)
    }

    /// Returns the words, in lower case, that may stand in place of one.
    fn candidates(&self, near: &Near, words: &[&str]) -> HashSet<String> {
        let typed = self.words[near.word].term.as_deref().unwrap_or_default();
        let is_candidate = |word: &&&str| {
            let term = self.analyzer.terms(word).into_iter().next();
            term.is_some_and(|term| term != typed && near.pattern.matches(&term))
        };
        let candidates = words.iter().filter(is_candidate);
        candidates.map(|word| word.to_lowercase()).collect()
    }

    /// Returns the text with other words in their places.
    fn with(&self, chosen: &[(usize, &str)]) -> String {
        let mut text = String::new();
        let mut from = 0;
        for (at, word) in self.words.iter().enumerate() {
            if let Some((_, other)) = chosen.iter().find(|(changed, _)| *changed == at) {
                text.push_str(&self.text[from..word.range.start]);
                text.push_str(other);
                from = word.range.end;
            }
        }
        text.push_str(&self.text[from..]);
        text
    }

    fn parsed(&self, text: &str) -> Query {
        search::parse(text, self.analyzer, Operator::And).query
    }
}

/// Returns the term of a word of letters, long enough to be one of many.
fn correctable(word: &str, analyzer: Analyzer) -> Option<String> {
    if !word.chars().all(char::is_alphabetic) || word.chars().count() < SHORT_CHARACTERS {
        return None;
    }
    let mut words_count = 0;
    analyzer.each_query_word(word, |_| words_count += 1);
    match words_count {
        1 => analyzer.terms(word).into_iter().next(),
        _ => None,
    }
}

/// Rates a word in place of another: by its count, the letters that differ, and the first letter, which is seldom
/// wrong.
fn rating(typed: &str, candidate: &str, count: u32) -> f64 {
    let typed = typed.to_lowercase();
    let differs = match () {
        () if Pattern::near(&typed, 1).matches(candidate) => 1.0,
        () if Pattern::near(&typed, 2).matches(candidate) => 2.0,
        () => 3.0,
    };
    let first = typed.chars().next() != candidate.chars().next();
    f64::from(count).ln() - differs - f64::from(u8::from(first))
}

/// Returns the runs of letters of a text.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|character: char| !character.is_alphabetic());
    words.filter(|word| !word.is_empty())
}

/// Returns the marked words of a summary that are letters alone.
fn marked(summary_html: &str) -> impl Iterator<Item = &str> {
    let marks = summary_html.split("<mark>").skip(1);
    marks
        .filter_map(|after| after.split_once("</mark>"))
        .map(|(word, _)| word)
        .filter(|word| word.chars().all(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corrected(text: &str, counts: &[u64], hits: &[(&str, &str)]) -> Vec<Option<String>> {
        let spelling = Spelling::of(text, Analyzer::English).unwrap();
        assert_eq!(spelling.words().len(), counts.len());
        let attempts = spelling.attempts(counts);
        let corrected = attempts.iter();
        corrected
            .map(|attempt| spelling.corrected(attempt, hits.iter().copied()))
            .collect()
    }

    #[test]
    fn the_word_as_written_stands_in_for_the_typo() {
        let hits = [
            ("None", "they <mark>received</mark> a <mark>letter</mark>"),
            ("", "to <mark>receive</mark> the <mark>letter</mark>"),
            ("", "he <mark>Receives</mark> a <mark>letter</mark>"),
        ];
        assert_eq!(
            corrected("recieve  letter", &[0, 9], &hits),
            [
                Some("receive  letter".into()),
                Some("receive  letter".into())
            ]
        );
        assert_eq!(corrected("letter zzzzz", &[9, 0], &hits), [None]);
    }

    #[test]
    fn frequency_counts_and_titles_do() {
        let hits = [("Form", ""), ("A form of it", ""), ("Farm", "")];
        assert_eq!(corrected("frm", &[0], &hits), [Some("form".into())]);
        assert_eq!(
            corrected("xorm", &[0], &[("Worm", "")]),
            [Some("worm".into())]
        );
    }

    #[test]
    fn two_words_are_those_of_one_document() {
        let hits = [
            ("", "<mark>solar</mark> <mark>sale</mark>"),
            ("", "<mark>polar</mark> <mark>sails</mark>"),
            ("", "<mark>solar</mark> <mark>sails</mark>"),
        ];
        let all = corrected("solat saild", &[0, 0], &hits);
        assert_eq!(all, [Some("solar sails".into())]);
    }

    #[test]
    fn known_words_are_tried_from_the_rarest() {
        let spelling = Spelling::of("their form was lost", Analyzer::Plain).unwrap();
        let changed: Vec<usize> = spelling
            .attempts(&[9, 2, 5, 7])
            .iter()
            .map(|attempt| attempt.changed[0].word)
            .collect();
        assert_eq!(changed, [1, 2, 3]);
    }

    #[test]
    fn what_has_syntax_or_no_letters_is_left_alone() {
        for text in [
            "\"a phrase\"",
            "a -b",
            "site:x word",
            "123 45",
            "a b",
            "word AND other",
            "",
        ] {
            assert!(Spelling::of(text, Analyzer::Plain).is_none(), "{text}");
        }
        let spelling = Spelling::of("x86 machne", Analyzer::Plain).unwrap();
        assert!(spelling.attempts(&[0, 0]).is_empty());
        assert_eq!(spelling.attempts(&[3, 0]).len(), 2);
    }
}
