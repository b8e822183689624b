//! Regular expressions of whole terms: deterministic automata of bounded size.
//!
//! ```text
//! /colou?r/   /v[0-9]+/   /(un)?do(ing|ne)/     the syntax of the crate `regex`; no look-around, no back-references
//! ```
//!
//! The automaton is built once for a query and shared by all segments. A term costs one step a byte, less what it shares
//! with the term before. What would need more states than the limit is refused before any term is read.

use super::limits::PATTERN_CHARACTERS_MAX;
use super::verdict::Verdict;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::primitives::StateID;
use regex_automata::util::{start, syntax};
use regex_automata::{Anchored, MatchKind};
use serde::{Deserialize, Serialize};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Upper limit on the memory of an automaton, and on that of its construction, in bytes.
const AUTOMATON_BYTES_MAX: usize = 512 << 10;
/// Upper limit on groups within groups.
const NESTED_MAX: u32 = 32;
/// Upper limit on the beginning that is looked up in a dictionary, in bytes.
const LITERAL_BYTES_MAX: usize = 64;

/// Regular expression that terms match as a whole.
#[derive(Clone, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Regex {
    text: String,
    literal: String,
    automaton: Arc<dense::DFA<Vec<u32>>>,
    start: StateID,
}

/// Reason why a text is no regular expression here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegexError {
    /// The expression is longer than the limit.
    #[error("it is longer than {PATTERN_CHARACTERS_MAX} characters")]
    TooLong,
    /// Its automaton has more states than the limit.
    #[error("it would take too many states; write it with fewer repetitions or alternatives")]
    TooLarge,
    /// The expression has an error of syntax, or syntax that is not supported.
    #[error("{0}")]
    Syntax(String),
}

impl Regex {
    /// Compiles a regular expression.
    ///
    /// # Errors
    /// For a text that is too long, not understood, or whose automaton would be too large.
    pub fn new(text: &str) -> Result<Regex, RegexError> {
        if text.chars().nth(PATTERN_CHARACTERS_MAX).is_some() {
            return Err(RegexError::TooLong);
        }
        let syntax = syntax::Config::new().nest_limit(NESTED_MAX);
        let hir = syntax::parse_with(text, &syntax).map_err(|error| {
            // The last line says what is wrong; those before it draw where.
            let error = error.to_string();
            let reason = error.lines().last().unwrap_or_default();
            RegexError::Syntax(reason.trim_start_matches("error: ").to_owned())
        })?;
        let nfa = thompson::Compiler::new()
            .configure(
                thompson::Config::new()
                    .nfa_size_limit(Some(AUTOMATON_BYTES_MAX))
                    .which_captures(WhichCaptures::None),
            )
            .build_from_hir(&hir)
            .map_err(|_| RegexError::TooLarge)?;
        let automaton = dense::Builder::new()
            .configure(
                dense::Config::new()
                    .start_kind(StartKind::Anchored)
                    // Terms match as a whole, so no alternative is preferred.
                    .match_kind(MatchKind::All)
                    .accelerate(false)
                    .dfa_size_limit(Some(AUTOMATON_BYTES_MAX))
                    .determinize_size_limit(Some(AUTOMATON_BYTES_MAX)),
            )
            .build_from_nfa(&nfa)
            .map_err(|error| match error.is_size_limit_exceeded() {
                true => RegexError::TooLarge,
                false => RegexError::Syntax("boundaries of words have no place within one".into()),
            })?;
        let start = start::Config::new().anchored(Anchored::Yes);
        let start = automaton
            .start_state(&start)
            .map_err(|_| RegexError::Syntax("it has no beginning".into()))?;
        Ok(Regex {
            text: text.to_owned(),
            literal: literal(&automaton, start),
            automaton: Arc::new(automaton),
            start,
        })
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether any term matches, as that of `.*` does.
    pub fn is_everything(&self) -> bool {
        let mut matcher = RegexMatcher::new(self);
        // Two letters, a digit, and letters of other scripts stand for all terms.
        let mut some = ["a", "zz", "0", "é", "東京", "🌱"].into_iter();
        some.all(|term| matcher.judge(term) == Verdict::Match)
    }

    /// Returns a common prefix of all matching terms; not always the longest.
    pub(super) fn literal(&self) -> &str {
        &self.literal
    }
}

impl From<Regex> for String {
    fn from(regex: Regex) -> String {
        regex.text
    }
}

impl TryFrom<String> for Regex {
    type Error = RegexError;

    fn try_from(text: String) -> Result<Regex, RegexError> {
        Regex::new(&text)
    }
}

impl PartialEq for Regex {
    fn eq(&self, other: &Regex) -> bool {
        self.text == other.text
    }
}

impl Eq for Regex {}

impl Hash for Regex {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl std::fmt::Debug for Regex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "/{}/", self.text)
    }
}

impl std::fmt::Display for Regex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns the bytes that every match begins with, cut to whole characters.
fn literal(automaton: &dense::DFA<Vec<u32>>, mut state: StateID) -> String {
    let mut bytes = Vec::new();
    while bytes.len() < LITERAL_BYTES_MAX && !accepts(automaton, state) {
        let lives = |&byte: &u8| !automaton.is_dead_state(automaton.next_state(state, byte));
        let mut living = (0..=u8::MAX).filter(lives);
        let (Some(only), None) = (living.next(), living.next()) else {
            break;
        };
        bytes.push(only);
        state = automaton.next_state(state, only);
    }
    let whole = match std::str::from_utf8(&bytes) {
        Ok(text) => text.len(),
        Err(error) => error.valid_up_to(),
    };
    bytes.truncate(whole);
    String::from_utf8(bytes).unwrap_or_default()
}

fn accepts(automaton: &dense::DFA<Vec<u32>>, state: StateID) -> bool {
    automaton.is_match_state(automaton.next_eoi_state(state))
}

/// Returns the text of a regular expression with each letter that stands for itself folded. Escapes, flags and names of
/// groups stay as they are: `\W`, `\p{Lu}`, `(?U)`.
pub(crate) fn folded_regex(typed: &str, fold: impl Fn(char) -> char) -> String {
    let mut folded = String::with_capacity(typed.len());
    let mut rest = typed;
    while let Some(first) = rest.chars().next() {
        let bytes = match first {
            '\\' => escape_bytes(rest),
            '(' if rest.starts_with("(?") => {
                let end = rest.find([':', ')', '>']);
                end.map_or(rest.len(), |end| end + 1)
            }
            letter => {
                let letter = match letter.is_alphabetic() {
                    true => fold(letter),
                    false => letter,
                };
                folded.push(letter);
                rest = &rest[first.len_utf8()..];
                continue;
            }
        };
        folded.push_str(&rest[..bytes]);
        rest = &rest[bytes..];
    }
    folded
}

/// Returns the length of the escape that a text begins with.
fn escape_bytes(text: &str) -> usize {
    let Some(escaped) = text[1..].chars().next() else {
        return text.len();
    };
    let bytes = 1 + escaped.len_utf8();
    match text[bytes..].find('}') {
        Some(end) if "pPxuU".contains(escaped) && text[bytes..].starts_with('{') => bytes + end + 1,
        _ if matches!(escaped, 'p' | 'P') => {
            // A class of one letter: `\pL`.
            let class = text[bytes..].chars().next();
            bytes + class.map_or(0, char::len_utf8)
        }
        _ => bytes,
    }
}

/// Matcher of terms one after another.
#[derive(Debug)]
pub(super) struct RegexMatcher {
    regex: Regex,
    /// Bytes of the term read last, as far as they were needed.
    path: Vec<u8>,
    /// The state before all bytes, and one after each of `path`.
    states: Vec<StateID>,
}

impl RegexMatcher {
    pub(super) fn new(regex: &Regex) -> RegexMatcher {
        RegexMatcher {
            states: vec![regex.start],
            path: Vec::new(),
            regex: regex.clone(),
        }
    }

    pub(super) fn judge(&mut self, term: &str) -> Verdict {
        let automaton = &self.regex.automaton;
        let both = self.path.iter().zip(term.as_bytes());
        let shared = both.take_while(|(known, byte)| known == byte).count();
        self.path.truncate(shared);
        self.states.truncate(shared + 1);
        let mut state = self.states[shared];
        for &byte in &term.as_bytes()[shared..] {
            if automaton.is_dead_state(state) {
                break;
            }
            state = automaton.next_state(state, byte);
            self.path.push(byte);
            self.states.push(state);
        }
        if automaton.is_dead_state(state) {
            // Within a character: no other begins with what was read of it and lives.
            let read = self.path.len();
            let end = (read..=term.len()).find(|&end| term.is_char_boundary(end));
            return Verdict::Dead(end.unwrap_or(term.len()));
        }
        match accepts(automaton, state) {
            true => Verdict::Match,
            false => Verdict::Miss,
        }
    }
}
