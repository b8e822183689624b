//! Runs without blanks: the clauses of their words and patterns.

use super::as_you_type::{AsYouType, TypedWord, Typing, pattern_of, typed_words};
use super::clauses::Target;
use super::limits::shortened;
use super::parser::Parser;
use super::pieces::{Piece, pieces};
use super::terms::{near_query, term_query, word_query};
use crate::query::tree::Query;
use index::Field;
use text::{Analyzer, EDITS_MAX, Pattern, QueryWord, Way};

/// Returns the words of a text as prefixes. Beside each that would not find all that the word finds, the word: a stem may end
/// otherwise, and parts of a compound may stand apart.
pub fn prefixes_of(analyzer: Analyzer, typed: &str) -> Vec<(String, Option<QueryWord>)> {
    let prefixes = analyzer.prefixes(typed);
    let mut words = Vec::with_capacity(prefixes.len());
    analyzer.each_query_word(typed, |word| words.push(word));
    if words.len() != prefixes.len() {
        // Pairs of letters, all of which are wanted.
        words.clear();
    }
    let mut words = words.into_iter();
    let with_word = |prefix: String| {
        let begins = |way: &Way| matches!(&way[..], [term] if term.starts_with(&*prefix));
        let is_found = |word: &QueryWord| word.is_prefix || word.forms.iter().all(begins);
        let word = words.next().filter(|word| !is_found(word));
        (prefix, word)
    };
    prefixes.into_iter().map(with_word).collect()
}

/// Makes the query for words that begin so, and for a word of [`prefixes_of`].
pub fn prefix_query(field: Field, pattern: Pattern, word: Option<QueryWord>) -> Query {
    let word = word.map(|word| word_query(field, word));
    match word.filter(|word| *word != Query::Nothing) {
        Some(word) => Query::BestOf {
            clauses: vec![word, Query::Pattern { field, pattern }],
            tie_breaker: 0.0,
        },
        None => Query::Pattern { field, pattern },
    }
}

/// Characters of a word from which `word~` allows two edits rather than one.
const LONG_WORD_CHARACTERS: usize = 6;

impl Parser<'_> {
    /// Returns the parser of a text that is being typed.
    pub(super) fn of_unfinished(mut self, text: &str, tolerates: bool) -> Self {
        self.as_you_type = Some(AsYouType {
            text_end: text.as_bytes().as_ptr_range().end,
            tolerates,
        });
        self
    }

    /// Returns the queries of the words of a run without blanks, some of them patterns.
    pub(super) fn word_queries(&mut self, field: Field, typed: &str) -> Vec<Query> {
        let mut queries = Vec::new();
        for piece in pieces(typed) {
            match piece {
                Piece::Words(words) if self.as_you_type.is_some() => {
                    self.push_typed(field, words, &mut queries);
                }
                Piece::Words(words) => {
                    self.analyzer(field).each_query_word(words, |word| {
                        let query = word_query(field, word);
                        let is_admitted = match &query {
                            Query::Pattern { field, pattern } => {
                                self.words.admit_pattern(*field, pattern, self.warnings)
                            }
                            _ => true,
                        };
                        queries.extend(Some(query).filter(|_| is_admitted));
                    });
                }
                Piece::Prefix(start) => {
                    for (prefix, word) in prefixes_of(self.analyzer(field), start) {
                        let pattern = Pattern::Prefix(prefix);
                        if self.words.admit_pattern(field, &pattern, self.warnings) {
                            queries.push(prefix_query(field, pattern, word));
                        }
                    }
                }
                Piece::Wildcard(signs) => match self.analyzer(field).wildcard(signs) {
                    Some(pattern) => self.push_pattern(field, pattern, &mut queries),
                    None => self.warnings.add(format!(
                        "`{}` would match any word and was ignored.",
                        shortened(signs)
                    )),
                },
                Piece::Near { word, digits } => {
                    queries.extend(self.near(field, word, digits));
                }
                Piece::Star => self
                    .warnings
                    .add("A `*` alone stands for no word and was ignored; `wor*` is a beginning."),
            }
        }
        queries
    }

    /// Adds words of a text that is being typed.
    pub(super) fn push_typed(&mut self, field: Field, text: &str, queries: &mut Vec<Query>) {
        // What is excluded is left out as it is typed.
        let typing = match self.as_you_type.filter(|_| !self.excludes()) {
            Some(as_you_type) => {
                let is_last = text.as_bytes().as_ptr_range().end == as_you_type.text_end;
                Typing {
                    is_unfinished: is_last && text.ends_with(char::is_alphanumeric),
                    tolerates: as_you_type.tolerates,
                    is_exact: false,
                }
            }
            None => Typing::default(),
        };
        for TypedWord { word, more } in typed_words(field, self.analyzer(field), text, typing) {
            let admitted = more.filter(|more| {
                pattern_of(more).is_none_or(|(field, pattern)| {
                    self.words.admit_pattern(field, pattern, self.warnings)
                })
            });
            queries.push(admitted.unwrap_or(word));
        }
    }

    fn push_pattern(&mut self, field: Field, pattern: Pattern, queries: &mut Vec<Query>) {
        if self.words.admit_pattern(field, &pattern, self.warnings) {
            queries.push(Query::Pattern { field, pattern });
        }
    }

    /// Reads a regular expression between two `/`.
    pub(super) fn regex(&mut self, typed: &str) {
        let field = match self.top().field_in_force() {
            // A folder, or a value of its own.
            Target::Words(Field::Site) | Target::Values(..) => return self.bare(typed),
            Target::Words(field) => field,
        };
        let inner = typed.trim_start_matches('/');
        let inner = inner.strip_suffix('/').unwrap_or(inner);
        match self.analyzer(field).regex(inner) {
            Ok(regex) if regex.is_everything() => {
                self.warnings.add(format!(
                    "`{}` would match any word and was ignored.",
                    shortened(typed)
                ));
                self.top().drop_clause();
            }
            Ok(regex) => {
                let pattern = Pattern::Regex(regex);
                let is_admitted = self.words.admit_pattern(field, &pattern, self.warnings)
                    && self.words.admit(1, self.warnings) == 1;
                match is_admitted {
                    true => self.top().push_run(Query::Pattern { field, pattern }),
                    false => self.top().drop_clause(),
                }
            }
            Err(error) => {
                self.warnings.add(format!(
                    "`{}` was not read as a regular expression: {error}; its words were searched.",
                    shortened(typed)
                ));
                self.bare(typed);
            }
        }
    }

    /// Returns the clause of a word that may differ in some letters.
    fn near(&mut self, field: Field, word: &str, digits: &str) -> Option<Query> {
        let edits = match digits.parse() {
            Ok(edits) if edits <= EDITS_MAX => edits,
            Err(_) if digits.is_empty() => edits_of(word),
            _ => {
                self.warnings.add(format!(
                    "In `{}~{}`, at most {EDITS_MAX} letters may differ; that was used.",
                    shortened(word),
                    shortened(digits)
                ));
                EDITS_MAX
            }
        };
        let term = self.analyzer(field).terms(word).into_iter().next()?;
        let exact = term_query(field, term);
        if edits == 0 {
            return Some(exact);
        }
        let pattern = Pattern::near(&self.analyzer(field).prefixes(word).concat(), edits);
        if !self.words.admit_pattern(field, &pattern, self.warnings) {
            return Some(exact);
        }
        Some(near_query(exact, field, pattern))
    }
}

/// Returns the edits that a word allows where none are given.
pub fn edits_of(word: &str) -> u8 {
    match word.chars().count() < LONG_WORD_CHARACTERS {
        true => 1,
        false => EDITS_MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, check_warned};
    use super::super::{Operator, parse};
    use text::Analyzer;

    #[test]
    fn sites_without_subdomains() {
        check("site:\"Example.com\"", "site:example.com");
        check("site:10.0.0.1", "site:10.0.0.1");
        check("site:example.com:8080", "site:example.com:8080");
    }

    #[test]
    fn regular_expressions() {
        check("/colou?r/", "/colou?r/");
        check("/Colou?R/", "/colou?r/");
        check("a /b(c|d)/^2", "(+a +/b(c|d)/^^2)");
        check("a -/b.*d/", "(+a -/b.*d/)");
        check("title:/b[/]c/", "title:/b[/]c/");
        check("(/ab?/ OR c)", "(/ab?/ c)");
        // Paths are words.
        check("/usr/share", "(+usr +share)");
        check("/usr/share/", "(+usr +share)");
        check("and/or", "(+and +or)");
        check("/a b/", "(+a +b)");
        check_warned("//", "nothing");
        check("site:/usr/", "site:/usr/");
        check_warned("/a(b/", "(+a +b)");
        check_warned(r"/a\bc/", "(+a +bc)");
        check_warned("x /.*/", "x");
        check_warned("/(.{1,60}x){30}/ y", "(+1 +60 +x +30 +y)");
        let typed: Vec<String> = (0..20).map(|number| format!("/a{number}?/")).collect();
        let parsed = parse(&typed.join(" "), Analyzer::Plain, Operator::And);
        assert!(
            parsed.warnings[0].contains("more than 16 different"),
            "{parsed:?}"
        );
    }
}
