//! Words of a query, each in the forms that documents may hold it in.

use super::compound::Compound;
use super::pairs;
use super::runs::{Run, each_run};
use super::terms::{Terms, Way, Ways};
use super::words::{Stemmed, push_word};
use super::{each_token, emoji_into};
use crate::language::Languages;
use smallvec::smallvec;

/// Upper limit on the ways in which a phrase is looked for.
const WAYS_MAX: usize = 8;

/// Upper limit on the pairs of letters of a word. A longer text without blanks is several words.
const PAIRS_MAX: usize = 32;

/// A word of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryWord {
    /// The ways in which documents hold the word. Not empty.
    pub forms: Ways,
    /// Whether the only form is one term that is a prefix of those that match: a single letter of a script without
    /// blanks.
    pub is_prefix: bool,
    /// The term of the end of a run of letters, which follows in a phrase where another word does.
    end: Option<String>,
}

impl QueryWord {
    /// Makes a word of one term.
    pub(crate) fn of_term(term: String) -> QueryWord {
        QueryWord {
            forms: smallvec![smallvec![term]],
            is_prefix: false,
            end: None,
        }
    }
}

/// Returns the words of a query's text.
pub(crate) fn query_words(languages: Languages, text: &str) -> Vec<QueryWord> {
    words(languages, text)
        .into_iter()
        .map(|(word, _)| word)
        .collect()
}

/// Returns the words, each with the letters of a word that may be written together with the next one.
fn words(languages: Languages, text: &str) -> Vec<(QueryWord, Option<&str>)> {
    let mut words = Vec::new();
    each_run(text, |run| {
        let word = match run {
            Run::Word { start, end } => {
                let written = &text[start..end];
                let mut terms = Terms::default();
                let is_number = written.as_bytes()[0].is_ascii_digit();
                let stemmed = if is_number { Stemmed::No } else { Stemmed::Yes };
                push_word(written, stemmed, languages, &mut terms);
                let word = QueryWord {
                    forms: terms.single_forms(),
                    is_prefix: false,
                    end: None,
                };
                (word, Some(written).filter(|_| !is_number))
            }
            Run::Compound {
                start,
                end,
                elements,
            } => {
                let forms = Compound::new(text, [start, end], elements, languages).forms();
                let is_word =
                    elements.len() == 1 && !elements[0].is_number && elements[0].start == start;
                let word = QueryWord {
                    forms,
                    is_prefix: false,
                    end: None,
                };
                (
                    word,
                    Some(&text[start..end]).filter(|_| is_word && elements[0].end == end),
                )
            }
            Run::Letters { start, end } => {
                let mut terms = Way::new();
                pairs::each_pair(text, [start, end], &mut String::new(), |term, _| {
                    terms.push(term.to_owned());
                });
                let is_prefix = terms.len() == 1;
                let last = if is_prefix { None } else { terms.pop() };
                while terms.len() > PAIRS_MAX {
                    let forms = smallvec![terms.drain(..PAIRS_MAX).collect()];
                    let word = QueryWord {
                        forms,
                        is_prefix: false,
                        end: None,
                    };
                    words.push((word, None));
                }
                (
                    QueryWord {
                        forms: smallvec![terms],
                        is_prefix,
                        end: last,
                    },
                    None,
                )
            }
            Run::Emoji { start, end } => {
                let mut term = String::new();
                emoji_into(&text[start..end], &mut term);
                (QueryWord::of_term(term), None)
            }
        };
        if word.0.forms.iter().any(|form| !form.is_empty()) {
            words.push(word);
        }
    });
    words
}

/// Returns the ways in which a phrase may stand in a document, each a list of terms that follow each other: as typed,
/// first; with one word in another form; with two words written together.
pub(crate) fn phrase_ways(languages: Languages, text: &str) -> Ways {
    let words = words(languages, text);
    if let [(word, _)] = words.as_slice() {
        return word.forms.clone();
    }
    let way = |at: usize, forms: &[String], replaced_count: usize| {
        let mut terms = Way::new();
        for (number, (word, _)) in words.iter().enumerate() {
            match number {
                number if number == at => terms.extend(forms.iter().cloned()),
                number if number > at && number < at + replaced_count => continue,
                _ => terms.extend(word.forms[0].iter().cloned()),
            }
            if number + 1 < words.len() {
                terms.extend(word.end.clone());
            }
        }
        terms
    };
    let mut ways = Ways::new();
    if let Some((first, _)) = words.first() {
        ways.push(way(0, &first.forms[0], 1));
    }
    for (number, (word, _)) in words.iter().enumerate() {
        if ways.len() >= WAYS_MAX {
            break;
        }
        ways.extend(word.forms[1..].iter().map(|form| way(number, form, 1)));
    }
    for (number, pair) in words.windows(2).enumerate() {
        if ways.len() >= WAYS_MAX {
            break;
        }
        if let [(_, Some(first)), (_, Some(second))] = pair {
            let mut terms = Terms::default();
            push_word(
                &format!("{first}{second}"),
                Stemmed::Yes,
                languages,
                &mut terms,
            );
            let joined = terms.iter().next().map(str::to_owned);
            ways.extend(joined.map(|joined| way(number, &[joined], 2)));
        }
    }
    ways.truncate(WAYS_MAX);
    ways
}

/// Returns a folded text without stems, for prefixes: the first term of each word.
pub(crate) fn prefixes(text: &str) -> Vec<String> {
    let mut prefixes = Vec::new();
    let mut places = 0;
    each_token(Languages::default(), text, &mut String::new(), |token| {
        if token.position >= places {
            prefixes.push(token.term.to_owned());
            places = token.position + 1;
        }
    });
    prefixes
}
