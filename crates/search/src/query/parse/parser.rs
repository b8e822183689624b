//! Parser of tokens into clauses, with a stack of open groups.
use super::as_you_type::AsYouType;
use super::clauses::{self, Clause, Frame, Join, Sign, Target};
use super::limits::{
    BOOST_MAX, BOOST_MIN, CLAUSES_MAX, DEPTH_MAX, PATTERNS_MAX, WAYS_MAX, Warnings, field_names,
    shortened,
};
use super::rules::ReadWith;
use super::scan::{Keyword, Scanner, Token};
use super::some_words::{by_telling, with_most_words};
use super::terms::{Operator, words_count};
use super::unobeyed::{NOT_SIGN, warn_of_signs};
use crate::query::tree::Query;
use fields::{FieldType, Schema};
use index::Field;
use std::collections::HashSet;
use text::{Analyzer, Pattern};

/// Counts words against [`CLAUSES_MAX`], other ways of writing phrases against [`WAYS_MAX`], and different patterns against
/// [`PATTERNS_MAX`].
#[derive(Debug, Default)]
pub(super) struct Words {
    count: usize,
    ways_count: usize,
    patterns: HashSet<(Field, Pattern)>,
}

impl Words {
    /// Admits up to `wanted` words; returns the number admitted.
    pub(super) fn admit(&mut self, wanted: usize, warnings: &mut Warnings) -> usize {
        let admitted = wanted.min(CLAUSES_MAX - self.count);
        if admitted < wanted {
            warnings.add(format!(
                "The query has more than {CLAUSES_MAX} words; the rest was ignored."
            ));
        }
        self.count += admitted;
        admitted
    }

    /// Admits up to `wanted` other ways of writing a phrase; returns the number admitted.
    pub(super) fn admit_ways(&mut self, wanted: usize, warnings: &mut Warnings) -> usize {
        let admitted = wanted.min(WAYS_MAX - self.ways_count);
        if admitted < wanted {
            warnings.add(format!(
                "The phrases of the query have more than {WAYS_MAX} other ways of writing; the rest was not looked for."
            ));
        }
        self.ways_count += admitted;
        admitted
    }

    /// Returns whether there is room for a pattern.
    pub(super) fn admit_pattern(
        &mut self,
        field: Field,
        pattern: &Pattern,
        warnings: &mut Warnings,
    ) -> bool {
        let key = (field, pattern.clone());
        if self.patterns.len() >= PATTERNS_MAX && !self.patterns.contains(&key) {
            warnings.add(format!(
                "The query has more than {PATTERNS_MAX} different prefixes and patterns; the rest was ignored."
            ));
            return false;
        }
        self.patterns.insert(key);
        true
    }
}

/// Parser of one query.
pub(super) struct Parser<'w> {
    analyzer: Analyzer,
    pub(super) schema: &'w Schema,
    operator: Operator,
    pub(super) words: Words,
    // Open groups, never empty: the query itself, then the open parentheses.
    frames: Vec<Frame>,
    // Number of open parentheses beyond the deepest allowed.
    ignored_depth: usize,
    /// Whether the text is a filter: it may only say what to leave out, and `name:` of keywords tests values.
    pub(super) is_filter: bool,
    pub(super) warnings: &'w mut Warnings,
    /// How the words of a text are read while it is typed.
    pub(super) as_you_type: Option<AsYouType>,
    pub(super) read_with: ReadWith<'w>,
    pub(super) synonyms_added: usize,
}

impl<'w> Parser<'w> {
    pub(super) fn new(
        analyzer: Analyzer,
        schema: &'w Schema,
        operator: Operator,
        warnings: &'w mut Warnings,
    ) -> Parser<'w> {
        Parser {
            analyzer,
            schema,
            operator,
            words: Words::default(),
            frames: vec![Frame::default()],
            ignored_depth: 0,
            is_filter: false,
            warnings,
            as_you_type: None,
            read_with: ReadWith::default(),
            synonyms_added: 0,
        }
    }

    /// Returns the parser of a text that is read with rules.
    pub(super) fn with_rules(mut self, read_with: ReadWith<'w>) -> Parser<'w> {
        self.read_with = read_with;
        self
    }

    /// Parses `text`, whose length is within the limit. Returns the query and, with [`Operator::Auto`], the one for
    /// documents with some of the words.
    pub(super) fn parse(mut self, text: &str) -> (Query, Option<Query>) {
        for token in Scanner::new(text, self.schema) {
            self.take(token);
        }
        self.finish()
    }

    /// Returns the analyzer of the words of a field.
    pub(super) fn analyzer(&self, field: Field) -> Analyzer {
        match field {
            Field::Further(number) => self.schema.analyzer_of(number).unwrap_or(self.analyzer),
            _ => self.analyzer,
        }
    }

    fn take(&mut self, token: Token<'_>) {
        match token {
            Token::Open => self.open(),
            Token::Close => self.close(),
            Token::Quoted { content, slop } => self.quoted(content, slop),
            Token::StrayQuote => self
                .warnings
                .add("A quotation mark has no partner and was ignored."),
            Token::Sign(sign) => self.top().sign = Some(sign),
            Token::StraySign(sign) => self.warnings.add(format!(
                "`{sign}` stands alone and was ignored; write it right before a word."
            )),
            Token::LongSign(typed) => self.warnings.add(format!(
                "`{}` was ignored; one `-` before a word excludes it.",
                shortened(typed)
            )),
            Token::Field(field) => self.top().field = Some(Target::Words(field)),
            Token::Typed(name, FieldType::Text) => self.warnings.add(format!(
                "The field `{}` holds long texts, which are stored and not compared; its words were searched as words.",
                shortened(name)
            )),
            Token::Typed(name, kind) => {
                self.top().field = Some(Target::Values(name.to_owned(), kind));
            }
            Token::UnknownField(name) => self.warnings.add(format!(
                "There is no field `{}`; its words were searched as words. The fields are {}.",
                shortened(name),
                field_names(self.schema)
            )),
            Token::EmptyField(name) => self.warnings.add(format!(
                "`{name}:` has nothing right after it, so `{name}` was searched as a word."
            )),
            Token::Keyword(keyword) => self.keyword(keyword),
            Token::Boost(number) => {
                let boost = self.boost(number);
                if let (Some(boost), Some(last)) = (boost, self.top().clauses.last_mut()) {
                    last.query = boosted(last.query.clone(), boost);
                }
            }
            Token::Range { range, boost } => self.range(&range, boost),
            Token::RangeWithoutValues { name, typed } => self.range_without_values(name, typed),
            Token::NoRange(typed) => self.no_range(typed),
            Token::Regex(typed) => self.regex(typed),
            Token::NotSign => self.warnings.add(NOT_SIGN),
            Token::Misplaced(typed) => self.misplaced(typed),
            Token::Words(words) => self.bare(words),
        }
    }

    /// Returns the innermost open group.
    pub(super) fn top(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// Returns whether the next clause is excluded, or within a group that is.
    pub(super) fn excludes(&self) -> bool {
        let mut frames = self.frames.iter();
        frames.any(|frame| frame.sign == Some(Sign::Excluded))
    }

    fn keyword(&mut self, keyword: Keyword) {
        let frame = self.top();
        let joinable = frame.can_join();
        match keyword {
            Keyword::Or if joinable => frame.join = Join::Or,
            Keyword::And if joinable => frame.join = Join::And,
            Keyword::Not if frame.sign.is_none() => frame.sign = Some(Sign::Excluded),
            _ => self.stray_keyword(keyword.name()),
        }
    }

    fn stray_keyword(&mut self, name: &str) {
        self.warnings.add(format!(
            "`{name}` has nothing to join and was ignored; write it in small letters to search \
             for the word."
        ));
    }

    fn open(&mut self) {
        if self.frames.len() > DEPTH_MAX || self.ignored_depth > 0 {
            self.ignored_depth += 1;
            self.warnings.add(format!(
                "Parentheses nest deeper than {DEPTH_MAX}; the inner ones were ignored."
            ));
            return;
        }
        let inherited = self.top().field_in_force();
        self.frames.push(Frame::inside(inherited));
    }

    fn close(&mut self) {
        if self.ignored_depth > 0 {
            self.ignored_depth -= 1;
        } else if self.frames.len() > 1 {
            self.close_group();
        } else {
            self.warnings.add("A `)` has no partner and was ignored.");
        }
    }

    /// Ends the innermost group and makes it a clause of the group around it.
    fn close_group(&mut self) {
        let Some(mut frame) = self.frames.pop() else {
            return;
        };
        self.warn_dangling(&frame);
        clauses::leave_out_stars(&mut frame.clauses, self.warnings);
        if frame.clauses.is_empty() {
            self.warnings.add("Empty parentheses were ignored.");
            self.top().drop_clause();
            return;
        }
        self.obey_rules(&mut frame.clauses);
        let group = clauses::combine(frame.clauses, self.operator, self.warnings);
        match group {
            Query::Boolean {
                required,
                optional,
                excluded,
            } if required.is_empty() && optional.is_empty() => self.only_excluded(excluded),
            group => self.top().push(group),
        }
    }

    /// Moves a group that only excludes one level up, where it means the same. A negated group, or an alternative, is
    /// ignored: "everything but" is not something to look for.
    fn only_excluded(&mut self, excluded: Vec<Query>) {
        let top = self.top();
        if top.sign == Some(Sign::Excluded) || top.join == Join::Or {
            top.drop_clause();
            self.warnings.add(
                "Parentheses that hold only excluded words cannot be excluded or an alternative, \
                 and were ignored.",
            );
            return;
        }
        for query in excluded {
            top.clauses.push(Clause {
                join: Join::None,
                sign: Some(Sign::Excluded),
                is_run: false,
                query,
            });
        }
        top.drop_clause();
    }

    pub(super) fn bare(&mut self, words: &str) {
        let field = match self.top().field_in_force() {
            Target::Words(Field::Site) => return self.site(words, false),
            Target::Words(field) => field,
            Target::Values(name, kind) => return self.value(name, kind, words, false),
        };
        self.warn_of_sign_after_field(words);
        let (words, boost) = self.split_boost(words);
        if matches!(words, "*" | "*:*") && field == Field::Text {
            return match self.words.admit(1, self.warnings) {
                0 => self.top().drop_clause(),
                _ => self.top().push(Query::All),
            };
        }
        self.warn_of_unknown_syntax(words);
        let mut queries = self.word_queries(field, words);
        if let Some(boost) = boost {
            queries = queries
                .into_iter()
                .map(|query| boosted(query, boost))
                .collect();
        }
        let mut kept = queries.len();
        for (number, query) in queries.iter().enumerate() {
            let words_count = words_count(query);
            if self.words.admit(words_count, self.warnings) < words_count {
                kept = number;
                break;
            }
        }
        queries.truncate(kept);
        match clauses::simplified(queries, Vec::new(), Vec::new()) {
            Query::Nothing => {
                self.warn_of_no_word(words);
                self.top().drop_clause();
            }
            query => self.top().push_run(query),
        }
    }

    /// Splits `^` and a number off the end of a run.
    fn split_boost<'t>(&mut self, words: &'t str) -> (&'t str, Option<f32>) {
        let is_number = |text: &str| {
            text.starts_with(|first: char| first.is_ascii_digit() || first == '.')
                && text
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || byte == b'.')
        };
        match words.rsplit_once('^') {
            Some((words, number)) if !words.is_empty() && is_number(number) => {
                (words, self.boost(number))
            }
            _ => (words, None),
        }
    }

    /// Returns a value or a site without `^` and a number behind it, which would weigh nothing.
    pub(super) fn without_weight<'t>(&mut self, typed: &'t str, is_quoted: bool) -> &'t str {
        match typed.rsplit_once('^') {
            Some((value, number))
                if !is_quoted && !value.is_empty() && number.parse::<f32>().is_ok() =>
            {
                self.warnings.add(format!(
                    "`^{}` was ignored: `{}` adds nothing to the score.",
                    shortened(number),
                    shortened(value)
                ));
                value
            }
            _ => typed,
        }
    }

    /// Returns the factor that a text of digits and dots is, within the limits; `None` with a warning for no number.
    fn boost(&mut self, number: &str) -> Option<f32> {
        let boost: f32 = match number.parse() {
            Ok(boost) => boost,
            Err(_) => {
                self.warnings.add(format!(
                    "`^{}` is no number, as in `word^2`, and was ignored.",
                    shortened(number)
                ));
                return None;
            }
        };
        let kept = boost.clamp(BOOST_MIN, BOOST_MAX);
        if kept != boost {
            self.warnings.add(format!(
                "The weight of a word is from {BOOST_MIN} to {BOOST_MAX}; `^{}` was changed to that.",
                shortened(number)
            ));
        }
        Some(kept)
    }

    /// Warns of syntax that other engines obey and this one does not.
    fn warn_of_unknown_syntax(&mut self, words: &str) {
        if words.starts_with(['[', '{']) && words.chars().nth(1).is_some() {
            self.warnings.add(
                "Brackets without a range, as in `date:[2024 TO 2025]`, have no meaning; their \
                 words were searched.",
            );
        }
        warn_of_signs(words, self.schema, self.warnings);
    }

    /// Warns of a sign between a field and its word, where it is text.
    pub(super) fn warn_of_sign_after_field(&mut self, words: &str) {
        let is_signed = words.starts_with(['-', '+'])
            && words.chars().nth(1).is_some_and(char::is_alphanumeric);
        if is_signed && self.top().field.is_some() {
            let (sign, word) = words.split_at(1);
            self.warnings.add(format!(
                "`{sign}` behind a field has no meaning; write it before the field, as in `{sign}title:{}`.",
                shortened(word)
            ));
        }
    }

    /// Warns where a field or a sign is left without a word.
    fn warn_of_no_word(&mut self, words: &str) {
        let frame = self.top();
        if frame.field.is_some() || frame.sign.is_some() {
            self.warnings.add(format!(
                "`{}` has no letter or digit and was ignored, with what stands before it.",
                shortened(words)
            ));
        }
    }

    /// Leaves out a `~` or `^` that stands behind something and is no distance or weight.
    fn misplaced(&mut self, typed: &str) {
        self.warnings.add(format!(
            "`{}` has no meaning there and was ignored: a distance is written as in `\"two words\"~2`, a weight as in `(a b)^2`.",
            shortened(typed)
        ));
    }

    fn warn_dangling(&mut self, frame: &Frame) {
        match frame.join {
            Join::Or => self.stray_keyword("OR"),
            Join::And => self.stray_keyword("AND"),
            Join::None => {}
        }
        if frame.sign == Some(Sign::Excluded) {
            self.warnings
                .add("A `-` or `NOT` has nothing after it and was ignored.");
        }
    }

    /// Returns the parser of a filter.
    pub(super) fn of_filter(self) -> Parser<'w> {
        Parser {
            is_filter: true,
            ..self
        }
    }

    pub(super) fn finish(mut self) -> (Query, Option<Query>) {
        if self.frames.len() > 1 || self.ignored_depth > 0 {
            self.warnings
                .add("A `(` has no partner; the query was read as if it closed at the end.");
        }
        while self.frames.len() > 1 {
            self.close_group();
        }
        let mut frame = std::mem::take(self.top());
        self.warn_dangling(&frame);
        clauses::leave_out_stars(&mut frame.clauses, self.warnings);
        if frame.clauses.is_empty() {
            self.warnings.add("The query has no words to look for.");
            return (Query::Nothing, None);
        }
        self.obey_rules(&mut frame.clauses);
        let by_telling = match (self.operator, &self.as_you_type) {
            (Operator::Auto, None) => by_telling(&frame.clauses),
            _ => None,
        };
        let most_words = match self.operator {
            Operator::Most(least) => with_most_words(&frame.clauses, least),
            _ => None,
        };
        let query = match clauses::combine(frame.clauses, self.operator, self.warnings) {
            Query::Boolean {
                required, optional, ..
            } if required.is_empty() && optional.is_empty() && !self.is_filter => {
                self.warnings
                    .add("The query only says what to leave out; add a word to look for, or `*` for all documents.");
                Query::Nothing
            }
            query => most_words.unwrap_or(query),
        };
        match by_telling {
            Some(by_telling) => (by_telling.all, Some(by_telling.any)),
            None => (query, None),
        }
    }
}

fn boosted(query: Query, boost: f32) -> Query {
    Query::Boosted {
        boost,
        clause: Box::new(query),
    }
}
