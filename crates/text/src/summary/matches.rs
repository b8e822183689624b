//! Occurrences of a query's words in a text.
//!
//! Words of ASCII characters only: one vectorised substring search for each term in the lower-cased text. Each
//! candidate is then verified by its word borders and, under `english`, by stemming. Words with other characters:
//! visited one by one, but only where such a word can have a wanted term. That is where a term has non-ASCII characters
//! itself, or where one of the two characters occurs that lower-case to ASCII: the Kelvin sign is a `k`, and `İ` is an
//! `i` with a dot on it. The matches equal those of tokenizing the text and comparing every term
//! (`Matcher::find_by_tokens`). Under `standard`, whose words have several terms, the words that begin like a wanted
//! term are analysed. Patterns are compared with terms and with words as written; those that are more than a prefix with those
//! of every word under other analyzers, and where they say nothing of how a word begins.
use super::input::{Marked, Match, SummaryScratch, SummaryTerm};
use super::known::KnownWords;
use super::near_letters::{NearLetters, letters_of};
use super::needle::{Needles, needle};
use crate::analyzer::{Analyzer, TERM_BYTES_MAX, is_lowered_ascii, starts_word, word_end};
use crate::pattern::{Pattern, PatternMatcher, Verdict};
use crate::standard::rules::Rules;
use crate::standard::{Found, each_token_starting, term_of_word};
use crate::token::{Token, WrittenForm, cut_to_term};
use memchr::memmem::{self, Finder};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Upper limit on the searches; beyond it, one pass of the tokenizer is faster than a search for each term.
const SEARCHES_MAX: usize = 24;

/// Upper limit on the bytes of a word that is compared by its letters; a longer word's term may be cut, so it is
/// analysed.
const UNCUT_BYTES_MAX: usize = TERM_BYTES_MAX - 4;

#[derive(Debug)]
pub(super) struct Matcher {
    wanted: Wanted,
    searches: Vec<Search>,
    /// Whether a term has non-ASCII characters.
    wide: bool,
    /// Whether a term has a `k`; whether a prefix ends with `i`.
    kelvin: bool,
    dotted: bool,
}

/// The query's terms, indexed for the lookup of a word's term.
#[derive(Debug)]
struct Wanted {
    analyzer: Analyzer,
    exact: HashMap<Box<str>, u32>,
    /// Lengths of the terms of `exact`, a bit each: most words are of others.
    lengths: u64,
    prefixes: Vec<(Box<str>, u32)>,
    /// Patterns that are more than a prefix.
    patterns: Vec<(Pattern, u32)>,
    /// Whether any term starts with each byte. Avoids the lookup for most words.
    first_bytes: [bool; 256],
    /// Beginnings of the words of the terms, but of those of `near`.
    needles: Needles,
    /// Filters of the patterns with errors, by the letters of a word.
    near: Vec<NearLetters>,
    /// Number of the query in this process, for [`KnownWords`].
    number: u64,
}

#[derive(Debug)]
struct Search {
    finder: Finder<'static>,
    wanted: SearchedTerm,
    check: Check,
}

#[derive(Debug)]
struct SearchedTerm {
    term: Box<str>,
    prefix: bool,
    ordinal: u32,
}

/// Condition under which a candidate at the start of a word is a match.
#[derive(Debug)]
enum Check {
    /// The word ends at the end of the needle.
    Whole,
    /// No further condition.
    Prefix,
    /// The term of the word equals the wanted term.
    Analysed,
}

/// Patterns, each made ready once for all words of a text: how its words begin, its ordinal, and the rest.
struct Matchers<'p>(Vec<(&'p str, u32, PatternMatcher)>);

impl<'p> Matchers<'p> {
    fn of(patterns: &'p [(Pattern, u32)]) -> Matchers<'p> {
        let ready = patterns.iter().map(|(pattern, ordinal)| {
            let matcher = PatternMatcher::new(pattern);
            (pattern.literal(), *ordinal, matcher)
        });
        Matchers(ready.collect())
    }

    /// Adds the patterns that a word as written matches.
    fn push_written(&mut self, form: &WrittenForm<'_>, matches: &mut Vec<Match>) {
        if !self.0.is_empty() {
            let written = form.written.to_ascii_lowercase();
            self.push(&written, form.start, form.end, matches);
        }
    }

    /// Adds the patterns that a word matches.
    fn push(&mut self, word: &str, start: usize, end: usize, matches: &mut Vec<Match>) {
        for (literal, ordinal, matcher) in &mut self.0 {
            if word.starts_with(*literal) && matcher.judge(word) == Verdict::Match {
                let term = *ordinal;
                matches.push(Match { start, end, term });
            }
        }
    }
}

impl Matcher {
    pub(super) fn new(analyzer: Analyzer, terms: &[SummaryTerm]) -> Matcher {
        let any = |is: fn(&str, bool) -> bool| {
            let literals = terms.iter().map(|wanted| wanted.marked.literal());
            literals
                .into_iter()
                .any(|(literal, goes_on)| is(literal, goes_on))
        };
        let searches = (0..)
            .zip(terms.iter().map(|wanted| wanted.marked.literal()))
            // No word has a term with other ASCII characters; terms with wide characters are found by visiting wide
            // words.
            .filter(|(_, (literal, _))| is_lowered_ascii(literal))
            .map(|(ordinal, (literal, goes_on))| Search::new(analyzer, literal, goes_on, ordinal))
            .collect();
        Matcher {
            wanted: Wanted::new(analyzer, terms),
            searches,
            wide: any(|term, _| !term.is_ascii()),
            kelvin: any(|term, _| term.contains('k')),
            dotted: any(|term, is_prefix| is_prefix && term.ends_with('i')),
        }
    }

    /// Writes all matches in `text` to `scratch.matches`.
    pub(super) fn find(&self, text: &str, scratch: &mut SummaryScratch) {
        let rules = self.wanted.analyzer.standard_rules();
        if let Some(rules) = rules.filter(|_| self.wanted.begin_somehow()) {
            return self.wanted.find_in_runs(rules, text, scratch);
        }
        if !self.wanted.patterns.is_empty() {
            return self.find_by_tokens(text, scratch);
        }
        if self.searches.len() > SEARCHES_MAX {
            return self.find_by_tokens(text, scratch);
        }
        scratch.matches.clear();
        if !self.searches.is_empty() {
            scratch.lowered.clear();
            scratch.lowered.extend_from_slice(text.as_bytes());
            scratch.lowered.make_ascii_lowercase();
        }
        for search in &self.searches {
            search.find(&self.wanted, text, scratch);
        }
        if self.must_visit_wide_words(text) {
            self.wanted.find_in_wide_words(text, scratch);
        }
        // A stable sort merges the runs, each already sorted, instead of sorting from the beginning.
        scratch.matches.sort();
        scratch.matches.dedup();
    }

    /// Slow twin of [`Self::find`]: looks up the term of every word.
    pub(super) fn find_by_tokens(&self, text: &str, scratch: &mut SummaryScratch) {
        let SummaryScratch { matches, word, .. } = scratch;
        matches.clear();
        let mut of_terms = Matchers::of(&self.wanted.patterns);
        let mut of_forms = Matchers::of(&self.wanted.patterns);
        let mut of_written: Vec<Match> = Vec::new();
        let each = |token: Token<'_>| {
            let Token {
                term, start, end, ..
            } = token;
            self.wanted.push(term, start, end, matches);
            of_terms.push(term, start, end, matches);
        };
        let each_written = |form: WrittenForm<'_>| {
            self.wanted.push_written(&form, &mut of_written);
            of_forms.push_written(&form, &mut of_written);
        };
        let analyzer = self.wanted.analyzer;
        analyzer.each_token_and_form(text, word, each, each_written);
        matches.append(&mut of_written);
        matches.sort();
        matches.dedup();
    }

    fn must_visit_wide_words(&self, text: &str) -> bool {
        (self.wide || self.kelvin || self.dotted)
            && !text.is_ascii()
            && (self.wide
                || self.kelvin && memmem::find(text.as_bytes(), "\u{212A}".as_bytes()).is_some()
                || self.dotted && memmem::find(text.as_bytes(), "\u{130}".as_bytes()).is_some())
    }
}

/// Returns the bit of a term's length; all long terms share one.
#[inline]
fn length_bit(term: &str) -> u64 {
    1 << term.len().min(63)
}

impl Wanted {
    fn new(analyzer: Analyzer, terms: &[SummaryTerm]) -> Wanted {
        let near_letters = |of: &SummaryTerm| match &of.marked {
            Marked::Like(pattern) => NearLetters::of(analyzer, pattern),
            Marked::Term(_) => None,
        };
        let others = terms.iter().filter(|of| near_letters(of).is_none());
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let mut wanted = Wanted {
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            analyzer,
            exact: HashMap::new(),
            lengths: 0,
            prefixes: Vec::new(),
            patterns: Vec::new(),
            first_bytes: [false; 256],
            needles: Needles::new(others.map(|of| {
                let (literal, goes_on) = of.marked.literal();
                needle(analyzer, literal, goes_on)
            })),
            near: terms.iter().filter_map(near_letters).collect(),
        };
        for (ordinal, SummaryTerm { marked, .. }) in (0..).zip(terms) {
            match marked.literal().0.as_bytes().first() {
                Some(&byte) => wanted.first_bytes[byte as usize] = true,
                None => wanted.first_bytes = [true; 256],
            }
            match marked {
                Marked::Term(term) => {
                    wanted.lengths |= length_bit(term);
                    wanted.exact.insert(term.as_str().into(), ordinal);
                }
                Marked::Like(
                    Pattern::Prefix(prefix)
                    | Pattern::NearStart {
                        start: prefix,
                        edits: 0,
                    },
                ) => {
                    wanted.prefixes.push((prefix.as_str().into(), ordinal));
                }
                Marked::Like(pattern) => wanted.patterns.push((pattern.clone(), ordinal)),
            }
        }
        wanted
    }

    /// Returns whether a word begins like a wanted one, and has its letters where these tell.
    #[inline]
    fn is_like(&self, word: &[u8]) -> bool {
        let is_near = || {
            let Some(&first) = word.first() else {
                return false;
            };
            let letters = letters_of(word);
            self.near.iter().any(|near| near.may_match(first, letters))
        };
        self.needles.begin(word) || !self.near.is_empty() && is_near()
    }

    /// Returns whether every pattern says how its words begin.
    fn begin_somehow(&self) -> bool {
        let mut patterns = self.patterns.iter();
        patterns.all(|(pattern, _)| !pattern.literal().is_empty())
    }

    #[inline]
    fn push(&self, term: &str, start: usize, end: usize, matches: &mut Vec<Match>) {
        let known = |&byte: &u8| self.first_bytes[byte as usize];
        if !term.as_bytes().first().is_some_and(known) {
            return;
        }
        let has_length = self.lengths & length_bit(term) != 0;
        let exact = has_length.then(|| self.exact.get(term)).flatten().copied();
        let prefixes = self.prefixes.iter();
        let prefixes = prefixes.filter(|(prefix, _)| term.starts_with(&**prefix));
        for term in exact
            .into_iter()
            .chain(prefixes.map(|(_, ordinal)| *ordinal))
        {
            matches.push(Match { start, end, term });
        }
    }

    /// Adds the prefixes that a word has as written, and its term has not.
    #[inline]
    fn push_written(&self, form: &WrittenForm<'_>, matches: &mut Vec<Match>) {
        let WrittenForm {
            written,
            term,
            start,
            end,
        } = *form;
        for (prefix, ordinal) in &self.prefixes {
            let begins = |word: &str| {
                let beginning = word.as_bytes().get(..prefix.len());
                beginning.is_some_and(|of| of.eq_ignore_ascii_case(prefix.as_bytes()))
            };
            if begins(written) && !begins(term) {
                let term = *ordinal;
                matches.push(Match { start, end, term });
            }
        }
    }

    /// Analyses each word that begins like a wanted term.
    fn find_in_runs(&self, rules: Rules, text: &str, scratch: &mut SummaryScratch) {
        let SummaryScratch {
            matches,
            word,
            stem,
            known,
            ..
        } = scratch;
        matches.clear();
        let known = known.of_query(self.number);
        let mut of_terms = Matchers::of(&self.patterns);
        let mut of_forms = Matchers::of(&self.patterns);
        let first_bytes = &self.first_bytes;
        let is_like = |word: &[u8]| self.is_like(word);
        let begins = |letters: &[u8]| self.needles.begin(letters) || !self.near.is_empty();
        let each = |of: Found<'_>| match of {
            Found::Token(token) => {
                self.push(token.term, token.start, token.end, matches);
                of_terms.push(token.term, token.start, token.end, matches);
            }
            Found::Written(form) => {
                self.push_written(&form, matches);
                of_forms.push_written(&form, matches);
            }
            Found::Word(at) => {
                let (word, start, end) = (&text[at.clone()], at.start, at.end);
                let key = KnownWords::key(word.as_bytes());
                match key.and_then(|key| known.term(key)) {
                    Some(Some(term)) => return matches.push(Match { start, end, term }),
                    Some(None) => return,
                    None => {}
                }
                let before = matches.len();
                if is_like(word.as_bytes()) {
                    let term = term_of_word(rules, word, stem);
                    self.push(term, start, end, matches);
                    of_terms.push(term, start, end, matches);
                    let has_patterns = !(self.prefixes.is_empty() && self.patterns.is_empty());
                    if has_patterns && !term.eq_ignore_ascii_case(word) {
                        let written = cut_to_term(word);
                        let form = WrittenForm {
                            written,
                            term,
                            start,
                            end,
                        };
                        self.push_written(&form, matches);
                        of_forms.push_written(&form, matches);
                    }
                }
                if let (Some(key), found @ ([] | [_])) = (key, &matches[before..]) {
                    known.put(key, found.first().map(|found| found.term));
                }
            }
        };
        each_token_starting(rules, text, word, first_bytes, is_like, begins, each);
        matches.sort();
        matches.dedup();
    }

    /// Analyses each word that has a non-ASCII character.
    fn find_in_wide_words(&self, text: &str, scratch: &mut SummaryScratch) {
        let SummaryScratch { matches, word, .. } = scratch;
        let bytes = text.as_bytes();
        let mut from = 0;
        while let Some(wide) = next_wide(bytes, from) {
            let end = word_end(text, wide);
            if end == wide {
                from = wide + text[wide..].chars().next().map_or(1, char::len_utf8);
                continue;
            }
            let ascii_before = bytes[from..wide].iter().rev();
            let start = wide
                - ascii_before
                    .take_while(|b| b.is_ascii_alphanumeric())
                    .count();
            let mut of_written: Vec<Match> = Vec::new();
            self.analyzer.each_token_and_form(
                &text[start..end],
                word,
                |token| self.push(token.term, start, end, matches),
                |form| self.push_written(&WrittenForm { start, end, ..form }, &mut of_written),
            );
            matches.append(&mut of_written);
            from = end;
        }
    }
}

/// Returns the offset of the first non-ASCII byte at or after `from`.
fn next_wide(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    for block in bytes[from..].chunks(64) {
        if !block.is_ascii() {
            let inside = block.iter().position(|byte| !byte.is_ascii())?;
            return Some(at + inside);
        }
        at += block.len();
    }
    None
}

impl Search {
    fn new(analyzer: Analyzer, term: &str, prefix: bool, ordinal: u32) -> Search {
        let needle = needle(analyzer, term, prefix);
        let check = match analyzer {
            Analyzer::Plain if needle.len() > UNCUT_BYTES_MAX => Check::Analysed,
            Analyzer::Plain if prefix => Check::Prefix,
            Analyzer::Plain => Check::Whole,
            Analyzer::English | Analyzer::Standard(_) | Analyzer::FirstStandard(_) => {
                Check::Analysed
            }
        };
        Search {
            finder: Finder::new(needle).into_owned(),
            wanted: SearchedTerm {
                term: term.into(),
                prefix,
                ordinal,
            },
            check,
        }
    }

    fn find(&self, wanted: &Wanted, text: &str, scratch: &mut SummaryScratch) {
        let SummaryScratch {
            lowered,
            matches,
            word,
            ..
        } = scratch;
        let needle_bytes = self.finder.needle().len();
        // Overlapping occurrences are not lost: only the first of them can start a word.
        for start in self.finder.find_iter(lowered) {
            if !starts_word(text, start) {
                continue;
            }
            let end = word_end(text, start + needle_bytes);
            let is_match = match self.check {
                Check::Whole => end == start + needle_bytes,
                Check::Prefix => true,
                Check::Analysed => {
                    let (mut is_match, mut is_written) = (false, false);
                    wanted.analyzer.each_token_and_form(
                        &text[start..end],
                        word,
                        |token| is_match = self.wanted.means(token.term),
                        |form| is_written = self.wanted.begins(form.written),
                    );
                    is_match || is_written
                }
            };
            if is_match {
                let term = self.wanted.ordinal;
                matches.push(Match { start, end, term });
            }
        }
    }
}

impl SearchedTerm {
    fn means(&self, term: &str) -> bool {
        *term == *self.term || self.prefix && term.starts_with(&*self.term)
    }

    /// Returns whether a word has the prefix as written.
    fn begins(&self, written: &str) -> bool {
        let beginning = written.as_bytes().get(..self.term.len());
        self.prefix && beginning.is_some_and(|of| of.eq_ignore_ascii_case(self.term.as_bytes()))
    }
}
