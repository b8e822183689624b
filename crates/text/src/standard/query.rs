//! Words of a query, each in the forms that documents may hold it in.

use super::compound::Compound;
use super::pairs;
use super::parts::Part;
use super::rules::{Edition, Rules};
use super::runs::{Element, Run, each_run};
use super::terms::{Terms, Way, Ways};
use super::typed::{QueryWord, Typed};
use super::ways::{forms_of_parts, ways_of_words};
use super::words::{Stemmed, push_word};
use super::{each_token, emoji_into};
use crate::language::Languages;
use smallvec::smallvec;

/// Upper limit on the ways in which a phrase is looked for in the first edition.
const WAYS_MAX: usize = 8;

/// Upper limit on the pairs of letters of a word. A longer text without blanks is several words.
const PAIRS_MAX: usize = 32;

/// Returns the words of a query's text.
pub(crate) fn query_words(rules: Rules, text: &str) -> Vec<QueryWord> {
    words(rules, text)
        .into_iter()
        .map(|typed| typed.word)
        .collect()
}

/// Returns the words with their parts.
pub(super) fn words(rules: Rules, text: &str) -> Vec<Typed<'_>> {
    let mut words = Vec::new();
    each_run(rules.edition, text, |run| {
        let typed = match run {
            Run::Word { start, end } => word_of(rules, &text[start..end]),
            Run::Compound {
                start,
                end,
                elements,
            } => compound_of(&Compound::new(text, [start, end], elements, rules)),
            Run::Letters { start, end } => {
                let mut terms = Way::new();
                pairs::each_pair(text, [start, end], &mut String::new(), |term, _| {
                    terms.push(term.to_owned());
                });
                let is_prefix = terms.len() == 1;
                let last = if is_prefix { None } else { terms.pop() };
                while terms.len() > PAIRS_MAX {
                    let forms = smallvec![terms.drain(..PAIRS_MAX).collect()];
                    words.push(Typed::unparted(QueryWord::of_forms(forms)));
                }
                Typed::unparted(QueryWord {
                    forms: smallvec![terms],
                    is_prefix,
                    end: last,
                })
            }
            Run::Emoji { start, end } => {
                let mut term = String::new();
                emoji_into(&text[start..end], &mut term);
                Typed::unparted(QueryWord::of_term(term))
            }
        };
        if typed.word.forms.iter().any(|form| !form.is_empty()) {
            words.push(typed);
        }
    });
    words
}

/// Returns letters of one case form, or digits.
fn word_of(rules: Rules, written: &str) -> Typed<'_> {
    let mut terms = Terms::default();
    let is_number = written.as_bytes()[0].is_ascii_digit();
    let stemmed = if is_number { Stemmed::No } else { Stemmed::Yes };
    push_word(written, stemmed, rules.languages, &mut terms);
    let may_join = !is_number || rules.edition == Edition::Second;
    let part = Some(Part::word(written, stemmed)).filter(|_| may_join);
    Typed {
        word: QueryWord::of_forms(terms.single_forms()),
        parts: part.into_iter().collect(),
    }
}

fn compound_of<'t>(compound: &Compound<'t, '_>) -> Typed<'t> {
    match compound.rules.edition {
        Edition::First => {
            let only = match *compound.elements {
                [only] => Some(only),
                _ => None,
            };
            let is_word = |only: &Element| {
                !only.is_number && only.start == compound.start && only.end == compound.end
            };
            let written = &compound.text[compound.start..compound.end];
            let part = only
                .filter(is_word)
                .map(|_| Part::word(written, Stemmed::Yes));
            Typed {
                word: QueryWord::of_forms(compound.forms()),
                parts: part.into_iter().collect(),
            }
        }
        Edition::Second => {
            let mut named = Terms::default();
            if compound.push_named(&mut named) {
                return Typed::unparted(QueryWord::of_forms(named.single_forms()));
            }
            let parts = compound.parts_of_query();
            Typed {
                word: QueryWord::of_forms(forms_of_parts(&parts, compound.rules.languages)),
                parts,
            }
        }
    }
}

/// Returns the ways in which a phrase may stand in a document, each a list of terms that follow each other: as typed,
/// first; then, in the first edition, with one word in another form, and with two words written together.
pub(crate) fn phrase_ways(rules: Rules, text: &str) -> Ways {
    let words = words(rules, text);
    if rules.edition == Edition::Second && words.iter().any(|typed| !typed.parts.is_empty()) {
        return ways_of_words(&words, rules.languages);
    }
    if let [typed] = words.as_slice() {
        return typed.word.forms.clone();
    }
    let way = |at: usize, forms: &[String], replaced_count: usize| {
        let mut terms = Way::new();
        for (number, Typed { word, .. }) in words.iter().enumerate() {
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
    if let Some(first) = words.first() {
        ways.push(way(0, &first.word.forms[0], 1));
    }
    for (number, Typed { word, .. }) in words.iter().enumerate() {
        if ways.len() >= WAYS_MAX {
            break;
        }
        ways.extend(word.forms[1..].iter().map(|form| way(number, form, 1)));
    }
    for (number, pair) in words.windows(2).enumerate() {
        if ways.len() >= WAYS_MAX {
            break;
        }
        if let ([first], [second]) = (&pair[0].parts[..], &pair[1].parts[..]) {
            let mut terms = Terms::default();
            let written = format!("{}{}", first.text, second.text);
            push_word(&written, Stemmed::Yes, rules.languages, &mut terms);
            let joined = terms.iter().next().map(str::to_owned);
            ways.extend(joined.map(|joined| way(number, &[joined], 2)));
        }
    }
    ways.truncate(WAYS_MAX);
    ways
}

/// Returns a folded text without stems, for prefixes: the first term of each word.
pub(crate) fn prefixes(edition: Edition, text: &str) -> Vec<String> {
    let rules = Rules {
        edition,
        languages: Languages::default(),
    };
    let mut prefixes = Vec::new();
    let mut places = 0;
    each_token(rules, text, &mut String::new(), |token| {
        if token.position >= places {
            prefixes.push(token.term.to_owned());
            places = token.position + 1;
        }
    });
    prefixes
}
