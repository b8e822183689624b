//! Matcher of terms to a pattern, in any order, fastest in that of a dictionary.
//!
//! It keeps a row of states for each character of the term read last, so that a term costs only the characters that it
//! does not share with the one before.
//!
//! ```text
//! wildcard   state j: the first j signs of the pattern can match the characters so far
//! near       state j: least edits between the first j characters of the word and those so far
//! near start the same, but the last state stays: characters after the beginning cost nothing
//! regex      one state of its automaton
//! ```
//!
//! Edits are insertions, deletions, replacements and swaps of neighbours; a swapped pair is not edited again (optimal
//! string alignment: Damerau, "A technique for computer detection and correction of spelling errors", CACM 7(3), 1964).

use super::forms::Pattern;
use super::regex::RegexMatcher;
use super::verdict::Verdict;

/// Matcher of terms one after another.
#[derive(Debug)]
pub struct PatternMatcher(Kind);

impl Pattern {
    /// Returns whether a term is in the set.
    pub fn matches(&self, term: &str) -> bool {
        match self {
            Pattern::Prefix(prefix) => term.starts_with(prefix.as_str()),
            Pattern::NearStart { start, edits: 0 } => term.starts_with(start.as_str()),
            _ => {
                term.starts_with(self.literal())
                    && PatternMatcher::new(self).judge(term) == Verdict::Match
            }
        }
    }
}

#[derive(Debug)]
enum Kind {
    Rows(RowMatcher),
    Regex(RegexMatcher),
}

impl PatternMatcher {
    /// Returns a matcher of a pattern.
    pub fn new(pattern: &Pattern) -> PatternMatcher {
        PatternMatcher(match pattern {
            Pattern::Prefix(prefix) => Kind::Rows(RowMatcher::new(Rules::Wildcard(
                prefix.chars().chain(std::iter::once('*')).collect(),
            ))),
            Pattern::Wildcard(signs) => {
                Kind::Rows(RowMatcher::new(Rules::Wildcard(signs.chars().collect())))
            }
            Pattern::Near { term, edits, .. } => Kind::Rows(RowMatcher::new(Rules::Near {
                word: term.chars().collect(),
                edits: *edits,
                is_start: false,
            })),
            Pattern::NearStart { start, edits } => {
                Kind::Rows(RowMatcher::of_beginning(start, *edits))
            }
            Pattern::Regex(regex) => Kind::Regex(RegexMatcher::new(regex)),
        })
    }

    /// Relates a term to the pattern. The term begins with [`Pattern::literal`].
    pub fn judge(&mut self, term: &str) -> Verdict {
        match &mut self.0 {
            Kind::Rows(rows) => rows.judge(term),
            Kind::Regex(regex) => regex.judge(term),
        }
    }
}

/// Matcher by rows of states.
#[derive(Debug)]
pub(super) struct RowMatcher {
    rules: Rules,
    /// Characters of the term read last, as far as they were needed, with the byte at which each ends.
    path: Vec<(char, usize)>,
    /// One row of states before all characters, and one after each of `path`.
    rows: Vec<u8>,
}

#[derive(Debug)]
enum Rules {
    Wildcard(Vec<char>),
    Near {
        word: Vec<char>,
        edits: u8,
        is_start: bool,
    },
}

impl RowMatcher {
    fn new(rules: Rules) -> RowMatcher {
        let rows = rules.first_row();
        RowMatcher {
            rules,
            path: Vec::new(),
            rows,
        }
    }

    /// Makes a judge of beginnings within some edits of another.
    pub(super) fn of_beginning(start: &str, edits: u8) -> RowMatcher {
        RowMatcher::new(Rules::Near {
            word: start.chars().collect(),
            edits,
            is_start: true,
        })
    }

    fn judge(&mut self, term: &str) -> Verdict {
        match self.read_until(term, |rules, row| !rules.is_alive(row)) {
            Some(bytes) => Verdict::Dead(bytes),
            None if self.rules.accepts(self.last_row()) => Verdict::Match,
            None => Verdict::Miss,
        }
    }

    /// Returns the fewest edits of any beginning of a term, where they are allowed, and the bytes of it after which they are
    /// the same whatever follows; `None` where longer terms may have fewer.
    pub(super) fn judge_beginning(&mut self, term: &str) -> (Option<u8>, Option<usize>) {
        let settled = self.read_until(term, Rules::is_settled);
        let row = self.last_row();
        let edits = row.last().copied();
        (edits.filter(|_| self.rules.accepts(row)), settled)
    }

    /// Reads a term until `is_settled` says of a row that it tells all of the terms that begin so, and returns how many bytes that
    /// took; `None` where no row does. It never says so of a row and not of the next.
    fn read_until(
        &mut self,
        term: &str,
        is_settled: impl Fn(&Rules, &[u8]) -> bool,
    ) -> Option<usize> {
        let known = self.path.iter().zip(term.char_indices());
        let shared = known
            .take_while(|&(&(known, end), (start, character))| {
                known == character && end == start + character.len_utf8()
            })
            .count();
        self.cut(shared);
        let mut characters = term.char_indices().skip(shared);
        loop {
            // Only the last row can be settled.
            if is_settled(&self.rules, self.last_row()) {
                return Some(self.path.last().map_or(0, |&(_, end)| end));
            }
            let (start, character) = characters.next()?;
            self.push(character, start + character.len_utf8());
        }
    }

    fn last_row(&self) -> &[u8] {
        &self.rows[self.path.len() * self.rules.width()..]
    }

    /// Forgets all but the first `count` characters.
    fn cut(&mut self, count: usize) {
        self.path.truncate(count);
        self.rows.truncate((count + 1) * self.rules.width());
    }

    fn push(&mut self, character: char, end: usize) {
        let before = self.path.last().map(|&(before, _)| before);
        self.rules.push_row(&mut self.rows, character, before);
        self.path.push((character, end));
    }
}

impl Rules {
    /// Returns the number of states.
    fn width(&self) -> usize {
        match self {
            Rules::Wildcard(signs) => signs.len() + 1,
            Rules::Near { word, .. } => word.len() + 1,
        }
    }

    fn first_row(&self) -> Vec<u8> {
        match self {
            Rules::Wildcard(signs) => {
                let stars = signs.iter().take_while(|&&sign| sign == '*').count();
                (0..=signs.len()).map(|at| u8::from(at <= stars)).collect()
            }
            // More edits than a byte holds are as dead as 255.
            Rules::Near { word, .. } => (0..=word.len()).map(|at| at.min(255) as u8).collect(),
        }
    }

    /// Adds the row after `character`, which follows `before`.
    fn push_row(&self, rows: &mut Vec<u8>, character: char, before: Option<char>) {
        let width = self.width();
        let last = rows.len() - width;
        match self {
            Rules::Wildcard(signs) => {
                rows.push(0);
                for (at, &sign) in signs.iter().enumerate() {
                    let can = match sign {
                        // The star takes the character, or takes none and the sign before it has matched.
                        '*' => rows[last + at + 1] | rows[last + width + at],
                        '?' => rows[last + at],
                        _ => rows[last + at] * u8::from(sign == character),
                    };
                    rows.push(can);
                }
            }
            Rules::Near { word, is_start, .. } => {
                rows.push(rows[last].saturating_add(1));
                for (at, &expected) in word.iter().enumerate() {
                    let replaced = rows[last + at].saturating_add(u8::from(expected != character));
                    let inserted = rows[last + at + 1].saturating_add(1);
                    let deleted = rows[last + width + at].saturating_add(1);
                    let mut least = replaced.min(inserted).min(deleted);
                    if at > 0
                        && last >= width
                        && Some(expected) == before
                        && word[at - 1] == character
                    {
                        let swapped = rows[last - width + at - 1].saturating_add(1);
                        least = least.min(swapped);
                    }
                    if *is_start && at + 1 == word.len() {
                        least = least.min(rows[last + word.len()]);
                    }
                    rows.push(least);
                }
            }
        }
    }

    /// Returns whether any continuation can match.
    fn is_alive(&self, row: &[u8]) -> bool {
        match self {
            Rules::Wildcard(_) => row.contains(&1),
            Rules::Near { edits, .. } => row.iter().any(|state| state <= edits),
        }
    }

    /// Returns whether the edits of a beginning are the same for any continuation, or more than are allowed. No state falls below
    /// the least of the row before.
    fn is_settled(&self, row: &[u8]) -> bool {
        row.last() == row.iter().min() || !self.is_alive(row)
    }

    fn accepts(&self, row: &[u8]) -> bool {
        let Some(&last) = row.last() else {
            return false;
        };
        match self {
            Rules::Wildcard(_) => last == 1,
            Rules::Near { edits, .. } => last <= *edits,
        }
    }
}
