//! Scanner of a typed query: tokens of signs, quotation marks and fields, without their meaning.
use super::brackets::{Brackets, brackets, closed_bytes};
use super::clauses::Sign;
use super::unobeyed::starts_word;
use fields::{FieldType, Schema};
use index::Field;

/// Token of a typed query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'a> {
    Open,
    Close,
    /// The text between two quotation marks, and the digits after a `~`.
    Quoted {
        content: &'a str,
        slop: Option<&'a str>,
    },
    StrayQuote,
    /// `+` or `-` directly before a clause.
    Sign(Sign),
    /// `+` or `-` before a blank.
    StraySign(char),
    /// Several signs in a row, as in `--release`: punctuation.
    LongSign(&'a str),
    /// Field whose value follows directly.
    Field(Field),
    /// Field of the schema whose value follows directly.
    Typed(&'a str, FieldType),
    UnknownField(&'a str),
    /// Field before a blank.
    EmptyField(&'a str),
    Keyword(Keyword),
    /// Range in brackets, and the number after a `^` behind it.
    Range {
        range: Brackets<'a>,
        boost: Option<&'a str>,
    },
    /// Range of a field of texts, or of one that is not there.
    RangeWithoutValues {
        name: &'a str,
        typed: &'a str,
    },
    /// Value that begins with a bracket and is no range.
    NoRange(&'a str),
    /// Regular expression, with the `/` around it.
    Regex(&'a str),
    /// Number after `^`, directly behind a quotation mark or a parenthesis.
    Boost(&'a str),
    /// `!` before something, alone.
    NotSign,
    /// `~`, `^` and the like behind a quotation mark, a parenthesis or a regular expression, which is no distance or weight.
    Misplaced(&'a str),
    /// Characters up to the next blank, parenthesis or quotation mark.
    Words(&'a str),
}

/// Word that joins clauses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Keyword {
    And,
    Or,
    Not,
}

impl Keyword {
    fn of(word: &str) -> Option<Keyword> {
        match word {
            "AND" => Some(Keyword::And),
            "OR" => Some(Keyword::Or),
            "NOT" => Some(Keyword::Not),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Keyword::And => "AND",
            Keyword::Or => "OR",
            Keyword::Not => "NOT",
        }
    }
}

/// Curved quotation marks, which telephones type, count too.
fn is_quote(character: char) -> bool {
    matches!(character, '"' | '“' | '”' | '„' | '‟')
}

fn ends_words(character: char) -> bool {
    character.is_whitespace() || character == '(' || character == ')' || is_quote(character)
}

/// Returns the length of the regular expression that a text begins with: from a `/` to the next one outside of brackets,
/// without blanks, behind which the clause ends. So `/etc/passwd` is none.
fn regex_bytes(text: &str) -> Option<usize> {
    let (mut is_escaped, mut in_class) = (false, false);
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            _ if character.is_whitespace() => return None,
            '\\' => is_escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => {
                let rest = &text[at + 1..];
                let is_end =
                    rest.is_empty() || rest.starts_with(|c| c == '^' || c == '~' || ends_words(c));
                return (is_end && at > 1).then_some(at + 1);
            }
            _ => {}
        }
    }
    None
}

/// Returns whether a text begins with `!` that is to exclude what follows: a phrase, a parenthesis, or what stands behind a
/// blank.
fn is_not_sign(text: &str) -> bool {
    let after = &text[1..];
    let is_before_words = after.trim_start().len() < after.len() && starts_word(after.trim_start());
    is_before_words || after.starts_with(|c| c == '(' || is_quote(c))
}

/// Returns whether a value is one that a field could have: not the rest of an address or of a name of a program.
fn is_like_a_value(value: &str) -> bool {
    let is_other = value.starts_with("//") || value.starts_with([':', '\\', ',', ';', ')']);
    !is_other && (value.contains(char::is_alphanumeric) || value.starts_with('*'))
}

/// Scanner that walks a query token by token.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    rest: &'a str,
    // Whether a clause may start here with a sign: at the start, after a blank and after a `(`.
    fresh: bool,
    // Whether a field was just read, so that the next text is its value.
    after_field: bool,
    // Whether a distance of a phrase was just read.
    after_slop: bool,
    // Token found together with the last one.
    pending: Option<Token<'a>>,
    schema: &'a Schema,
}

impl<'a> Iterator for Scanner<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        if let Some(token) = self.pending.take() {
            return Some(token);
        }
        let trimmed = self.rest.trim_start();
        let fresh = self.fresh || trimmed.len() < self.rest.len();
        self.rest = trimmed;
        let first = trimmed.chars().next()?;
        let after_field = std::mem::take(&mut self.after_field);
        let after_slop = std::mem::take(&mut self.after_slop) && !fresh;
        self.fresh = first == '(';
        Some(match first {
            '(' => {
                self.skip(1);
                Token::Open
            }
            ')' => {
                self.skip(1);
                self.pending = self.boost();
                Token::Close
            }
            '+' | '-' if fresh => self.signs(first),
            '!' if fresh && is_not_sign(trimmed) => {
                self.skip(1);
                self.fresh = true;
                Token::NotSign
            }
            mark if is_quote(mark) => self.quoted(mark),
            '~' | '^' if !fresh && !after_field => {
                let end = trimmed.find(ends_words).unwrap_or(trimmed.len());
                Token::Misplaced(self.skip(end))
            }
            '.' if after_slop && trimmed[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                let end = trimmed.find(ends_words).unwrap_or(trimmed.len());
                Token::Misplaced(self.skip(end))
            }
            '[' | '{' => self.bracket(after_field),
            '/' if let Some(bytes) = regex_bytes(trimmed) => {
                let typed = self.skip(bytes);
                self.pending = self.boost();
                Token::Regex(typed)
            }
            _ => self.words(after_field),
        })
    }
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str, schema: &'a Schema) -> Scanner<'a> {
        Scanner {
            schema,
            rest: text,
            fresh: true,
            after_field: false,
            after_slop: false,
            pending: None,
        }
    }

    fn skip(&mut self, bytes: usize) -> &'a str {
        let (head, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        head
    }

    fn quoted(&mut self, mark: char) -> Token<'a> {
        self.skip(mark.len_utf8());
        let Some(end) = self.rest.find(is_quote) else {
            return Token::StrayQuote;
        };
        let content = self.skip(end);
        if let Some(mark) = self.rest.chars().next() {
            self.skip(mark.len_utf8());
        }
        let slop = self.rest.strip_prefix('~').and_then(|after| {
            let digits = after.bytes().take_while(u8::is_ascii_digit).count();
            (digits > 0).then(|| &after[..digits])
        });
        if let Some(digits) = slop {
            self.skip(1 + digits.len());
            self.after_slop = true;
        }
        self.pending = self.boost();
        Token::Quoted { content, slop }
    }

    /// Reads a range. A bracket of a value that begins none ends at its partner; another is a sign among words.
    fn bracket(&mut self, after_field: bool) -> Token<'a> {
        if let Some(range) = brackets(self.rest) {
            self.skip(range.typed.len());
            let boost = match self.boost() {
                Some(Token::Boost(number)) => Some(number),
                _ => None,
            };
            return Token::Range { range, boost };
        }
        if !after_field {
            return self.words(false);
        }
        let word_bytes = self.rest.find(ends_words).unwrap_or(self.rest.len());
        let bytes = closed_bytes(self.rest).unwrap_or(word_bytes.max(1));
        Token::NoRange(self.skip(bytes))
    }

    /// Reads `^` and a number, if the rest begins with them.
    fn boost(&mut self) -> Option<Token<'a>> {
        let after = self.rest.strip_prefix('^')?;
        let is_part = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
        let bytes = after.bytes().take_while(|byte| is_part(byte)).count();
        (bytes > 0).then(|| Token::Boost(&self.skip(1 + bytes)[1..]))
    }

    fn signs(&mut self, sign: char) -> Token<'a> {
        let is_sign = |character: char| character == '+' || character == '-';
        let end = self.rest.find(|c| !is_sign(c)).unwrap_or(self.rest.len());
        let run = self.skip(end);
        let before_nothing = match self.rest.chars().next() {
            Some(next) => next.is_whitespace() || next == ')',
            None => true,
        };
        match (run.len(), before_nothing) {
            (_, true) => Token::StraySign(sign),
            (1, false) if sign == '-' => Token::Sign(Sign::Excluded),
            (1, false) => Token::Sign(Sign::Required),
            _ => Token::LongSign(run),
        }
    }

    fn words(&mut self, after_field: bool) -> Token<'a> {
        let end = self.rest.find(ends_words).unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        if !after_field {
            if let Some(keyword) = Keyword::of(word) {
                self.skip(end);
                return Token::Keyword(keyword);
            }
            if let Some((name, value)) = word.split_once(':')
                && let Some(token) = self.field(word, name, value)
            {
                return token;
            }
        }
        Token::Words(self.skip(end))
    }

    /// Reads the range of a field without values, and the weight behind it.
    fn range_without_values(&mut self, name: &'a str, range: Brackets<'a>) -> Token<'a> {
        self.skip(name.len() + 1 + range.typed.len());
        self.boost();
        Token::RangeWithoutValues {
            name,
            typed: range.typed,
        }
    }

    /// Reads a field at the beginning of the rest, which starts with `word`, that is `name:value`; `None` if `name` is
    /// no field.
    fn field(&mut self, word: &'a str, name: &'a str, value: &str) -> Option<Token<'a>> {
        let next = self.rest[word.len()..].chars().next();
        let grouped = next.is_some_and(|next| next == '(' || is_quote(next));
        let follows = !value.is_empty() || grouped;
        let range = brackets(&self.rest[name.len() + 1..]);
        let token = match () {
            _ if name.eq_ignore_ascii_case("title") => Token::Field(Field::Title),
            _ if name.eq_ignore_ascii_case("site") => Token::Field(Field::Site),
            _ if let Some(kind) = self.schema.get(name) => {
                if kind == FieldType::Text
                    && let Some(range) = range
                {
                    return Some(self.range_without_values(name, range));
                }
                match self.schema.searched(name) {
                    Some(searched) if kind == FieldType::Text => {
                        Token::Field(Field::of_number(searched.number))
                    }
                    _ => Token::Typed(name, kind),
                }
            }
            _ => {
                // `12:30` and `http://…` are no fields.
                let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
                let named = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
                    && name.ends_with(|c: char| c.is_alphanumeric() || c == '_')
                    && name.chars().all(is_of_name);
                if named && let Some(range) = range {
                    return Some(self.range_without_values(name, range));
                }
                let valued = is_like_a_value(value) || (value.is_empty() && grouped);
                if !named || !valued {
                    return None;
                }
                self.skip(word.len());
                self.pending = Some(Token::Words(word));
                return Some(Token::UnknownField(name));
            }
        };
        self.skip(name.len() + 1);
        if follows {
            self.after_field = true;
            return Some(token);
        }
        self.pending = Some(Token::Words(name));
        Some(Token::EmptyField(name))
    }
}
