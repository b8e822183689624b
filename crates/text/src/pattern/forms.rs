//! Forms of patterns.

use super::limits::{EDITS_MAX, PATTERN_CHARACTERS_MAX};
use super::regex::Regex;
use serde::{Deserialize, Serialize};

/// Set of terms.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Pattern {
    /// Terms that begin so.
    Prefix(String),
    /// `?` stands for any character, `*` for any number of them.
    Wildcard(String),
    /// Terms that a regular expression matches whole.
    Regex(Regex),
    /// Terms within `edits` of `term`.
    Near {
        /// The term; it is one of the set.
        term: String,
        /// Number of edits, 1 to [`EDITS_MAX`].
        edits: u8,
        /// Number of characters that all terms begin with, as `term` does: few of a dictionary's terms are read then.
        fixed: u8,
    },
    /// Terms that begin with the first character of `start`, and with a text within `edits` of `start`.
    NearStart {
        /// The beginning; it is one of the texts.
        start: String,
        /// Number of edits, 0 to [`EDITS_MAX`].
        edits: u8,
    },
}

impl Pattern {
    /// Makes a pattern of `?` and `*`, as simple as it can be written; `None` for one without characters of its own,
    /// which would match everything.
    pub fn of_wildcard(typed: &str) -> Option<Pattern> {
        let mut signs = String::new();
        for sign in typed.chars().take(PATTERN_CHARACTERS_MAX) {
            if !(sign == '*' && signs.ends_with('*')) {
                signs.push(sign);
            }
        }
        if signs.chars().all(|sign| matches!(sign, '?' | '*')) {
            return None;
        }
        Some(match signs.strip_suffix('*') {
            Some(prefix) if !prefix.contains(['?', '*']) => Pattern::Prefix(prefix.to_owned()),
            _ => Pattern::Wildcard(signs),
        })
    }

    /// Makes the set of terms within `edits` of `term`.
    pub fn near(term: &str, edits: u8) -> Pattern {
        Pattern::Near {
            term: term.chars().take(PATTERN_CHARACTERS_MAX).collect(),
            edits: edits.clamp(1, EDITS_MAX),
            fixed: 0,
        }
    }

    /// Makes the set of those terms within `edits` of `term` that have its first character.
    pub fn near_of_one_initial(term: &str, edits: u8) -> Pattern {
        match Pattern::near(term, edits) {
            Pattern::Near { term, edits, .. } if !term.is_empty() => Pattern::Near {
                term,
                edits,
                fixed: 1,
            },
            other => other,
        }
    }

    /// Makes the set of terms that begin within `edits` of `start`, and with its first character.
    pub fn near_start(start: &str, edits: u8) -> Pattern {
        Pattern::NearStart {
            start: start.chars().take(PATTERN_CHARACTERS_MAX).collect(),
            edits: edits.min(EDITS_MAX),
        }
    }

    /// Returns whether the form is one that the constructors make.
    pub fn is_valid(&self) -> bool {
        let (text, is_fit) = match self {
            Pattern::Prefix(prefix) => return !prefix.is_empty(),
            // Made within the limits, or not at all.
            Pattern::Regex(_) => return true,
            Pattern::Wildcard(signs) => (signs, Pattern::of_wildcard(signs).as_ref() == Some(self)),
            Pattern::Near { term, edits, fixed } => {
                let is_fixed = usize::from(*fixed) <= term.chars().count();
                (term, (1..=EDITS_MAX).contains(edits) && is_fixed)
            }
            Pattern::NearStart { start, edits } => (start, *edits <= EDITS_MAX),
        };
        is_fit && !text.is_empty() && text.chars().count() <= PATTERN_CHARACTERS_MAX
    }

    /// Returns the common prefix of the terms of the set.
    pub fn literal(&self) -> &str {
        match self {
            Pattern::Prefix(prefix) => prefix,
            Pattern::Wildcard(signs) => signs.split(['?', '*']).next().unwrap_or_default(),
            Pattern::Regex(regex) => regex.literal(),
            Pattern::Near { term, fixed, .. } => {
                let fixed = term.char_indices().nth((*fixed).into());
                &term[..fixed.map_or(term.len(), |(end, _)| end)]
            }
            Pattern::NearStart { start, edits: 0 } => start,
            Pattern::NearStart { start, .. } => {
                let first = start.chars().next();
                &start[..first.map_or(0, char::len_utf8)]
            }
        }
    }
}

impl std::fmt::Display for Pattern {
    /// Writes the pattern as typed: `wor*`, `w?rd`, `word~1`, `/wo.+d/`; a beginning with errors is `wor*~1`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Pattern::Prefix(prefix) => write!(f, "{prefix}*"),
            Pattern::Wildcard(signs) => f.write_str(signs),
            Pattern::Near { term, edits, .. } => write!(f, "{term}~{edits}"),
            Pattern::NearStart { start, edits } => write!(f, "{start}*~{edits}"),
            Pattern::Regex(regex) => write!(f, "/{regex}/"),
        }
    }
}
