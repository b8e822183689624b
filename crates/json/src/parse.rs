//! Parser of JSON (RFC 8259), in one pass over a text.

use crate::number::{Number, scan};
use crate::value::{Map, Value};
use std::fmt;

/// Upper limit on the depth of lists and objects of the members of an object. Answers hold them four levels deeper, and most
/// readers of JSON read 128 levels.
pub const DEPTH_MAX: usize = 100;

/// Upper limits on the characters of a path in a message, and of one name in it.
const PATH_CHARS_MAX: usize = 160;
const NAME_CHARS_MAX: usize = 60;

/// Reason why a text is no JSON, or none that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// Offset of the problem in the text, in bytes.
    pub offset: usize,
    /// Names of the members that lead to the problem, joined by dots; empty at the top.
    pub path: String,
    /// The problem.
    pub problem: Problem,
}

/// Problem of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The grammar has no such text.
    Syntax(&'static str),
    /// The value is no object.
    NoObject,
    /// The name at the end of the path occurs twice.
    Twice,
    /// Lists and objects are nested deeper than [`DEPTH_MAX`].
    Deep,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParseError { offset, path, .. } = self;
        match self.problem {
            Problem::Syntax(what) => write!(f, "{what} at byte {offset}"),
            Problem::NoObject => f.write_str("not an object"),
            Problem::Twice => write!(f, "`{path}` occurs twice"),
            Problem::Deep => write!(
                f,
                "`{path}` is nested deeper than {DEPTH_MAX} levels; flatten it"
            ),
        }
    }
}

impl std::error::Error for ParseError {}

/// Parses a text that is one value.
pub fn parse(text: &str) -> Result<Value, ParseError> {
    let mut parser = Parser { text, at: 0 };
    // A value is a member of the document.
    let value = parser.value(DEPTH_MAX)?;
    parser.end()?;
    Ok(value)
}

/// Parses a text that is one object.
pub fn parse_object(text: &str) -> Result<Map, ParseError> {
    let mut parser = Parser { text, at: 0 };
    parser.skip_space();
    let value = parser.value(DEPTH_MAX + 1)?;
    parser.end()?;
    match value {
        Value::Object(map) => Ok(map),
        _ => Err(parser.error_at(0, Problem::NoObject)),
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn error_at(&self, offset: usize, problem: Problem) -> ParseError {
        ParseError {
            offset,
            path: String::new(),
            problem,
        }
    }

    fn syntax<T>(&self, what: &'static str) -> Result<T, ParseError> {
        let what = match self.at >= self.text.len() {
            true => "EOF while parsing",
            false => what,
        };
        Err(self.error_at(self.at, Problem::Syntax(what)))
    }

    fn end(&mut self) -> Result<(), ParseError> {
        self.skip_space();
        match self.peek() {
            None => Ok(()),
            Some(_) => self.syntax("trailing characters"),
        }
    }

    /// Parses a value with at most `depth` levels of lists and objects.
    fn value(&mut self, depth: usize) -> Result<Value, ParseError> {
        self.skip_space();
        match self.peek() {
            Some(b'"') => Ok(Value::String(self.string()?)),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            _ => self.syntax("expected value"),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, ParseError> {
        if !self.text[self.at..].starts_with(word) {
            return self.syntax("expected value");
        }
        self.at += word.len();
        Ok(value)
    }

    fn number(&mut self) -> Result<Value, ParseError> {
        let rest = &self.text[self.at..];
        let Some(end) = scan(rest.as_bytes()) else {
            return self.syntax("invalid number");
        };
        self.at += end;
        if let Some(b'0'..=b'9') = self.peek() {
            return self.syntax("invalid number");
        }
        Ok(Value::Number(Number::of_scanned(&rest[..end])))
    }

    fn list(&mut self, depth: usize) -> Result<Value, ParseError> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(self.error_at(self.at, Problem::Deep));
        };
        self.at += 1;
        let mut values = Vec::new();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(values));
        }
        loop {
            values.push(self.value(depth)?);
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Value::Array(values));
                }
                _ => return self.syntax("expected `,` or `]`"),
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, ParseError> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(self.error_at(self.at, Problem::Deep));
        };
        self.at += 1;
        let mut map = Map::new();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object(map));
        }
        loop {
            self.skip_space();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return self.syntax("key must be a string");
            }
            let name = self.string()?;
            self.skip_space();
            if self.peek() != Some(b':') {
                return self.syntax("expected `:`");
            }
            self.at += 1;
            let value = match self.value(depth) {
                Ok(value) => value,
                Err(error) => return Err(error.below(&name)),
            };
            if map.contains_key(&name) {
                return Err(self.error_at(start, Problem::Twice).below(&name));
            }
            map.insert(name, value);
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Value::Object(map));
                }
                _ => return self.syntax("expected `,` or `}`"),
            }
        }
    }

    fn string(&mut self) -> Result<String, ParseError> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            let end = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
            if let Some(control) = rest[..end].iter().position(|&byte| byte < 0x20) {
                self.at += control;
                return self.syntax("control character (\\u0000 to \\u001F) in a string");
            }
            // Both ends are beside ASCII.
            text.push_str(&self.text[self.at..self.at + end]);
            self.at += end;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(_) => text.push(self.escape()?),
                None => return self.syntax("EOF while parsing"),
            }
        }
    }

    /// Parses an escape, whose backslash is next.
    fn escape(&mut self) -> Result<char, ParseError> {
        self.at += 1;
        let plain = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return self.syntax("invalid escape"),
        };
        self.at += 1;
        Ok(plain)
    }

    fn unicode_escape(&mut self) -> Result<char, ParseError> {
        let first = self.unit()?;
        if let Some(character) = char::from_u32(first) {
            return Ok(character);
        }
        let is_leading = (0xd800..0xdc00).contains(&first);
        if is_leading && self.text[self.at..].starts_with("\\u") {
            self.at += 1;
            let second = self.unit()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        self.syntax("lone surrogate in an escape")
    }

    /// Parses `uXXXX`.
    fn unit(&mut self) -> Result<u32, ParseError> {
        let digits = self.text.as_bytes().get(self.at + 1..self.at + 5);
        let unit = digits
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let Some(unit) = unit else {
            return self.syntax("invalid escape");
        };
        self.at += 5;
        Ok(unit)
    }
}

impl ParseError {
    /// Returns the error of a member, given that of its value.
    fn below(mut self, name: &str) -> ParseError {
        let mut path: String = name.chars().take(NAME_CHARS_MAX).collect();
        if name.chars().nth(NAME_CHARS_MAX).is_some() {
            path.push('…');
        }
        if !self.path.is_empty() {
            path.push('.');
            path.push_str(&self.path);
        }
        if let Some((end, _)) = path.char_indices().nth(PATH_CHARS_MAX) {
            path.truncate(end);
            path.push('…');
        }
        self.path = path;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reason(text: &str) -> String {
        parse_object(text).unwrap_err().to_string()
    }

    #[test]
    fn reasons_name_the_place() {
        assert_eq!(reason(r#"{"a":{"b":1,"b":2}}"#), "`a.b` occurs twice");
        assert_eq!(reason("[1]"), "not an object");
        for (text, said) in [
            ("", "EOF while parsing"),
            ("{", "EOF while parsing"),
            ("{\"a\":1,}", "key must be a string at byte 7"),
            ("{\"a\" 1}", "expected `:`"),
            ("{\"a\":[1 2]}", "expected `,` or `]` at byte 8"),
            ("{\"a\":01}", "invalid number"),
            ("{\"a\":.5}", "expected value"),
            ("{\"a\":tru}", "expected value"),
            ("{\"a\":\"\\x\"}", "invalid escape"),
            ("{\"a\":\"\\u12\"}", "invalid escape"),
            ("{\"a\":\"\\udc00\"}", "surrogate"),
            ("{\"a\":\"\\ud800\\ud800\"}", "surrogate"),
            ("{\"a\":\"\n\"}", "control character"),
            ("{} {}", "trailing characters"),
        ] {
            assert!(reason(text).contains(said), "{text}: {}", reason(text));
        }
        let long = format!("{{\"{0}\":1,\"{0}\":2}}", "x".repeat(100_000));
        assert!(reason(&long).len() < 400);
    }

    #[test]
    fn depth_has_a_limit_that_names_the_path() {
        let nested = |depth: usize| {
            format!(
                "{{\"a\":{{\"b\":{}{}}}}}",
                "[".repeat(depth),
                "]".repeat(depth)
            )
        };
        assert!(parse_object(&nested(DEPTH_MAX - 1)).is_ok());
        let refused = reason(&nested(DEPTH_MAX));
        assert_eq!(
            refused,
            "`a.b` is nested deeper than 100 levels; flatten it"
        );
        assert!(reason(&nested(2_000_000)).contains("deeper"));
        let objects = "{\"a\":".repeat(2_000_000);
        assert!(reason(&objects).len() < 400);
    }

    proptest! {
        /// Slow twin: `serde_json`, over texts that it makes.
        #[test]
        fn texts_come_back(value in any_value()) {
            let text = value.to_string();
            let parsed = parse(&text).unwrap();
            prop_assert_eq!(parsed.to_string(), text);
            prop_assert_eq!(&parsed, &value);
        }

        #[test]
        fn what_is_accepted_is_what_serde_json_accepts(text in "[\\[\\]{}:,\"\\\\u0-9a-f.eE+ tn-]{0,14}") {
            let ours = parse(&text);
            let theirs: Result<serde_json::Value, _> = serde_json::from_str(&text);
            match (ours, theirs) {
                (Ok(ours), Ok(theirs)) => {
                    // Floats may be written in other ways.
                    let again: serde_json::Value = serde_json::from_str(&ours.to_string()).unwrap();
                    prop_assert_eq!(again, theirs);
                }
                (Err(_), Err(_)) => {}
                (Ok(_), Err(error)) => prop_assert!(error.to_string().contains("out of range"), "{}", error),
                (Err(error), Ok(_)) => prop_assert_eq!(error.problem, Problem::Twice),
            }
        }
    }

    fn any_value() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<u64>().prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            any::<String>().prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 30, 5, |inner| {
            let list = prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into);
            let map = prop::collection::btree_map(any::<String>(), inner, 0..4);
            let map = map.prop_map(|map| serde_json::Value::Object(map.into_iter().collect()));
            prop_oneof![list, map]
        })
    }
}
