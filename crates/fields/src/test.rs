//! Test of the values of a field, as a query has it.

use crate::dates;
use crate::decimal::Decimal;
use crate::schema::FieldType;
use crate::value::Value;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

/// Upper limit on the characters of a text that an error message repeats.
const SHOWN_CHARS_MAX: usize = 40;

/// Remedy in the error for a comparison of long texts.
const TEXTS_ARE_LONG: &str = "its texts are long: search for their words instead";

/// End of a range of values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// The value at the end.
    pub value: Value,
    /// Whether the value itself is in the range.
    pub inclusive: bool,
}

/// Test of a value. A document passes if any of its values does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Test {
    /// Any value.
    Exists,
    /// Keywords that begin with a text.
    Prefix(String),
    /// Values between two limits; `None` is no limit.
    Range {
        /// Lower limit.
        low: Option<Limit>,
        /// Upper limit.
        high: Option<Limit>,
    },
}

/// End of a range as it is typed, for [`Test::between`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeEnd<'t> {
    /// The value.
    pub text: &'t str,
    /// Whether the value itself is in the range.
    pub inclusive: bool,
}

/// A text that is no test of its field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadTest {
    /// Cause and remedy.
    pub reason: String,
}

impl fmt::Display for BadTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for BadTest {}

/// Values that a text names in a field, by their limits. A number that no value of the field is lies between two that
/// do not overlap, so that comparisons with it are exact.
struct Named {
    /// First value, or the last one before it.
    first: Limit,
    /// Last value, or the first one after it.
    end: Limit,
}

impl Test {
    /// Reads the test of a field of type `kind`.
    ///
    /// ```text
    /// test := * | value | value* | >value | >=value | <value | <=value | [value]..[value]
    /// ```
    ///
    /// Both ends of `a..b` are included. A date may be a year, a month, a day or an instant; `..2024` includes all of
    /// 2024. `value*` is for keywords.
    pub fn parse(kind: FieldType, text: &str) -> Result<Test, BadTest> {
        if !kind.is_columnar() {
            return Err(bad(TEXTS_ARE_LONG));
        }
        if text == "*" {
            return Ok(Test::Exists);
        }
        for (sign, is_low, inclusive) in [
            (">=", true, true),
            ("<=", false, true),
            (">", true, false),
            ("<", false, false),
        ] {
            let Some(rest) = text.strip_prefix(sign) else {
                continue;
            };
            let named = Named::parse(kind, rest)?;
            return Ok(match (is_low, inclusive) {
                (true, true) => range(Some(named.first), None),
                (true, false) => range(Some(named.end.flipped()), None),
                (false, true) => range(None, Some(named.end)),
                (false, false) => range(None, Some(named.first.flipped())),
            });
        }
        if let Some((low, high)) = text.split_once("..")
            && (kind != FieldType::Keyword || !(low.is_empty() && high.is_empty()))
        {
            let named = |text: &str| match text {
                "" | "*" => Ok(None),
                text => Named::parse(kind, text).map(Some),
            };
            let (low, high) = (named(low)?, named(high)?);
            return range_of_some(low.map(|named| named.first), high.map(|named| named.end));
        }
        if let Some(prefix) = text.strip_suffix('*')
            && kind == FieldType::Keyword
        {
            return Ok(Test::Prefix(prefix.to_owned()));
        }
        let named = Named::parse(kind, text)?;
        // No integer equals a number with a fraction. One beyond 64 bits is a number like others, and no value equals it.
        let is_between = named.first.inclusive
            && named.end.inclusive
            && named.first.value.order(&named.end.value) == Ordering::Greater;
        if kind == FieldType::Integer && is_between {
            return Err(bad(format!(
                "`{}` is no whole number, as in 42 or -7",
                shown(text)
            )));
        }
        Ok(range(Some(named.first), Some(named.end)))
    }

    /// Makes the test of a range in a field of type `kind`, `[low TO high]`; `None` is no limit. A date means what it
    /// means in [`Test::parse`]: without its ends, `2024` to `2026` is all of 2025.
    ///
    /// # Errors
    /// An end that cannot be read, and a range between whose ends nothing can lie.
    pub fn between(
        kind: FieldType,
        low: Option<RangeEnd<'_>>,
        high: Option<RangeEnd<'_>>,
    ) -> Result<Test, BadTest> {
        if !kind.is_columnar() {
            return Err(bad(TEXTS_ARE_LONG));
        }
        let named = |end: Option<RangeEnd<'_>>| {
            let read = |end: RangeEnd<'_>| Ok((Named::parse(kind, end.text)?, end.inclusive));
            end.map(read).transpose()
        };
        let low = named(low)?.map(|(named, inclusive)| match inclusive {
            true => named.first,
            false => named.end.flipped(),
        });
        let high = named(high)?.map(|(named, inclusive)| match inclusive {
            true => named.end,
            false => named.first.flipped(),
        });
        match (&low, &high) {
            (None, None) => Ok(Test::Exists),
            _ => range_of_some(low, high),
        }
    }

    /// Returns the test for exactly one value.
    pub fn equals(value: Value) -> Test {
        let limit = |value| {
            Some(Limit {
                value,
                inclusive: true,
            })
        };
        range(limit(value.clone()), limit(value))
    }

    /// Returns the value that alone passes, if the test is for one value.
    pub fn only_value(&self) -> Option<&Value> {
        match self {
            Test::Range {
                low: Some(low),
                high: Some(high),
            } => {
                let is_one = low.inclusive && high.inclusive && low.value == high.value;
                is_one.then_some(&low.value)
            }
            _ => None,
        }
    }

    /// Returns whether a value passes.
    pub fn passes(&self, value: &Value) -> bool {
        match self {
            Test::Exists => true,
            Test::Prefix(prefix) => {
                matches!(value, Value::Keyword(text) if text.starts_with(prefix.as_str()))
            }
            Test::Range { low, high } => {
                let above = low
                    .as_ref()
                    .is_none_or(|low| low.admits(Ordering::Greater, value));
                above
                    && high
                        .as_ref()
                        .is_none_or(|high| high.admits(Ordering::Less, value))
            }
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(value) = self.only_value() {
            return write!(f, "{value}");
        }
        match self {
            Test::Exists => f.write_str("*"),
            Test::Prefix(prefix) => write!(f, "{prefix}*"),
            Test::Range { low, high } => {
                let sign = |limit: &Limit| if limit.inclusive { "=" } else { "" };
                match (low, high) {
                    (None, None) => f.write_str("*"),
                    (Some(low), None) => write!(f, ">{}{}", sign(low), low.value),
                    (None, Some(high)) => write!(f, "<{}{}", sign(high), high.value),
                    (Some(low), Some(high)) if low.inclusive && high.inclusive => {
                        write!(f, "{}..{}", low.value, high.value)
                    }
                    (Some(low), Some(high)) => {
                        let (from, to) = (sign(low), sign(high));
                        write!(f, ">{from}{} <{to}{}", low.value, high.value)
                    }
                }
            }
        }
    }
}

impl Limit {
    /// Returns whether a value lies on the side `inside` of the limit.
    fn admits(&self, inside: Ordering, value: &Value) -> bool {
        let order = value.order(&self.value);
        order == inside || self.inclusive && order == Ordering::Equal
    }

    /// Returns the limit of the values on the other side.
    fn flipped(self) -> Limit {
        Limit {
            inclusive: !self.inclusive,
            ..self
        }
    }
}

impl Named {
    fn parse(kind: FieldType, text: &str) -> Result<Named, BadTest> {
        let including = |value| Limit {
            value,
            inclusive: true,
        };
        let between = |first, end| Named {
            first: including(first),
            end: including(end),
        };
        let one = |value: Value| between(value.clone(), value);
        let shown = shown(text);
        let no = |what: &str| bad(format!("`{shown}` is {what}"));
        match kind {
            FieldType::Keyword => Value::keyword(text).map(one).ok_or_else(|| no("too long")),
            FieldType::Integer => {
                let number = Decimal::parse(text);
                let number = number.ok_or_else(|| no("no whole number, as in 42 or -7"))?;
                let beyond = |value| Limit {
                    value: Value::Integer(value),
                    inclusive: false,
                };
                Ok(match number.around_integer() {
                    (Some(below), Some(above)) => {
                        between(Value::Integer(above), Value::Integer(below))
                    }
                    (below, None) => Named {
                        first: beyond(i64::MAX),
                        end: including(Value::Integer(below.unwrap_or(i64::MAX))),
                    },
                    (None, above) => Named {
                        first: including(Value::Integer(above.unwrap_or(i64::MIN))),
                        end: beyond(i64::MIN),
                    },
                })
            }
            FieldType::Float => {
                let around = Decimal::parse(text).and_then(|number| number.around_float());
                let (below, above) = around.ok_or_else(|| no("no number, as in 1.5 or -7"))?;
                match (Value::float(below), Value::float(above)) {
                    (Some(below), Some(above)) => Ok(between(above, below)),
                    _ => Err(no("beyond all numbers of 64 bits")),
                }
            }
            FieldType::Bool => match text {
                "true" | "yes" => Ok(one(Value::Bool(true))),
                "false" | "no" => Ok(one(Value::Bool(false))),
                _ => Err(no("neither true nor false")),
            },
            FieldType::Date => {
                let no_date =
                    || no("no date, as in 2024, 2024-05, 2024-05-06 or 2024-05-06T12:30:00Z");
                let (first, end) = dates::span(text).ok_or_else(no_date)?;
                let end = match end {
                    // What follows the last instant has no text.
                    dates::END => including(Value::Date(end - 1)),
                    _ => Limit {
                        value: Value::Date(end),
                        inclusive: false,
                    },
                };
                Ok(Named {
                    first: including(Value::Date(first)),
                    end,
                })
            }
            FieldType::Text => Err(no("not searched as a value")),
        }
    }
}

/// Returns the beginning of a text, for a message.
fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARS_MAX).collect()
}

fn range(low: Option<Limit>, high: Option<Limit>) -> Test {
    Test::Range { low, high }
}

/// Makes the test of a range; fails if no value can lie between its ends.
fn range_of_some(low: Option<Limit>, high: Option<Limit>) -> Result<Test, BadTest> {
    if let (Some(from), Some(to)) = (&low, &high) {
        let is_empty = match from.value.order(&to.value) {
            Ordering::Less => false,
            Ordering::Equal => !(from.inclusive && to.inclusive),
            Ordering::Greater => true,
        };
        if is_empty {
            return Err(bad(
                "nothing lies between its ends; the lower one comes first",
            ));
        }
    }
    Ok(range(low, high))
}

fn bad(reason: impl Into<String>) -> BadTest {
    BadTest {
        reason: reason.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passing(kind: FieldType, test: &str, values: &[&str]) -> Vec<String> {
        let parsed = Test::parse(kind, test).unwrap();
        let of = |text: &&&str| match kind {
            FieldType::Keyword => Value::keyword(text),
            _ => Value::of(kind, &serde_json::from_str(text).unwrap()),
        };
        let passes = |text: &&&str| parsed.passes(&of(text).unwrap());
        values
            .iter()
            .filter(passes)
            .map(|text| (*text).to_owned())
            .collect()
    }

    #[test]
    fn numbers_and_words_are_compared() {
        let numbers = ["-3", "0", "5", "10"];
        let of = |test| passing(FieldType::Integer, test, &numbers);
        assert_eq!(of(">=0"), ["0", "5", "10"]);
        assert_eq!(of(">0"), ["5", "10"]);
        assert_eq!(of("<5"), ["-3", "0"]);
        assert_eq!(of("<=5"), ["-3", "0", "5"]);
        assert_eq!(of("0..5"), ["0", "5"]);
        assert_eq!(of("..0"), ["-3", "0"]);
        assert_eq!(of("5.."), ["5", "10"]);
        assert_eq!(of("5"), ["5"]);
        assert_eq!(of("*"), numbers);
        assert_eq!(passing(FieldType::Float, "..1.5", &["1.5", "1.6"]), ["1.5"]);
        assert_eq!(
            passing(FieldType::Bool, "true", &["true", "false"]),
            ["true"]
        );
        let words = ["cs", "cs.LG", "cs.AI", "math", ".."];
        let of = |test| passing(FieldType::Keyword, test, &words);
        assert_eq!(of("cs"), ["cs"]);
        assert_eq!(of("cs*"), ["cs", "cs.LG", "cs.AI"]);
        assert_eq!(of("cs.B..math"), ["cs.LG", "math"]);
        assert_eq!(of(".."), [".."]);
    }

    #[test]
    fn numbers_between_values_are_compared_exactly() {
        let wide = [
            "9007199254740992",
            "9007199254740993",
            "9223372036854775807",
        ];
        let of = |test| passing(FieldType::Integer, test, &wide).len();
        assert_eq!(of("9007199254740993"), 1);
        assert_eq!(of(">9007199254740992.5"), 2);
        assert_eq!(of("<=9007199254740992.5"), 1);
        assert_eq!(
            (of(">18446744073709551614"), of("<18446744073709551614")),
            (0, 3)
        );
        assert_eq!((of(">=-1e30"), of("<-1e30"), of("<=1e30")), (3, 0, 3));
        assert_eq!((of("18446744073709551614"), of("-1e30")), (0, 0));
        assert_eq!((of("0..1e30"), of("-1e30..1e30")), (3, 3));
        let floats = ["9007199254740992", "9007199254740994", "0.1"];
        let of = |test| passing(FieldType::Float, test, &floats).len();
        assert_eq!((of("9007199254740993"), of("9007199254740992.0")), (0, 1));
        assert_eq!((of(">9007199254740993"), of(">=9007199254740993")), (1, 1));
        assert_eq!((of("<9007199254740993"), of("<=9007199254740993")), (2, 2));
        assert_eq!((of("0.1"), of("1E-1")), (1, 1));
        let ends = [
            "\"9999-12-31\"",
            "\"9999-12-31T23:59:59.999999Z\"",
            "\"2024-01-01\"",
        ];
        let of = |test| passing(FieldType::Date, test, &ends).len();
        assert_eq!(
            (of("9999"), of("9999-12-31"), of(">9999"), of("<=9999")),
            (2, 2, 0, 3)
        );
        let shown = Test::parse(FieldType::Date, "9999").unwrap().to_string();
        assert_eq!(of(&shown), 2, "{shown}");
    }

    #[test]
    fn dates_are_periods() {
        let days = [
            "\"2023-12-31\"",
            "\"2024-01-01\"",
            "\"2024-12-31T23:59:59.999999Z\"",
            "\"2025-01-01\"",
        ];
        let of = |test| passing(FieldType::Date, test, &days).len();
        assert_eq!(of("2024"), 2);
        assert_eq!(of(">2024"), 1);
        assert_eq!(of(">=2024"), 3);
        assert_eq!(of("<2024"), 1);
        assert_eq!(of("<=2024"), 3);
        assert_eq!(of("2023..2024-01"), 2);
        assert_eq!(of("2024-12-31"), 1);
    }

    #[test]
    fn ranges_in_brackets() {
        let end =
            |text: &'static str, inclusive| (text != "*").then_some(RangeEnd { text, inclusive });
        let between = |kind, low: (&'static str, bool), high: (&'static str, bool)| {
            Test::between(kind, end(low.0, low.1), end(high.0, high.1))
        };
        let shown = |kind, low, high| between(kind, low, high).unwrap().to_string();
        let (with, without) = (true, false);
        let number = FieldType::Integer;
        assert_eq!(shown(number, ("1", with), ("5", with)), "1..5");
        assert_eq!(shown(number, ("1", without), ("5", with)), ">1 <=5");
        assert_eq!(shown(number, ("*", with), ("5", without)), "<5");
        assert_eq!(shown(number, ("5", with), ("5", with)), "5");
        assert_eq!(shown(number, ("*", with), ("*", without)), "*");
        let date = FieldType::Date;
        let all_of_2025 = ">=2025-01-01 <2026-01-01";
        assert_eq!(
            shown(date, ("2024", without), ("2026", without)),
            all_of_2025
        );
        assert_eq!(shown(date, ("2025", with), ("2025", with)), all_of_2025);
        assert_eq!(
            shown(FieldType::Keyword, ("a", with), ("a*", with)),
            "a..a*"
        );
        for (kind, low, high, said) in [
            (number, ("5", with), ("4", with), "nothing lies between"),
            (number, ("5", with), ("5", without), "nothing lies between"),
            (
                date,
                ("2024", without),
                ("2024", with),
                "nothing lies between",
            ),
            (number, ("x", with), ("5", with), "no whole number"),
            (FieldType::Text, ("a", with), ("b", with), "long"),
        ] {
            let error = between(kind, low, high).unwrap_err();
            assert!(error.reason.contains(said), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_explained() {
        for (kind, text, said) in [
            (FieldType::Integer, "many", "no whole number"),
            (FieldType::Integer, "1.5", "no whole number"),
            (FieldType::Float, "NaN", "no number"),
            (FieldType::Bool, "maybe", "neither true nor false"),
            (FieldType::Date, ">=yesterday", "no date"),
            (FieldType::Date, "2024..soon", "no date"),
            (FieldType::Text, "x", "long"),
            (FieldType::Integer, "5..3", "nothing lies between"),
            (FieldType::Date, "2025..2024", "nothing lies between"),
            (FieldType::Keyword, "b..a", "nothing lies between"),
        ] {
            let error = Test::parse(kind, text).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn tests_are_shown_as_they_are_written() {
        for text in ["5", ">=5", ">5", "<5", "<=5", "1..5", "*"] {
            let test = Test::parse(FieldType::Integer, text).unwrap();
            assert_eq!(test.to_string(), text);
        }
        let year = Test::parse(FieldType::Date, "2024").unwrap();
        assert_eq!(year.to_string(), ">=2024-01-01 <2025-01-01");
        assert_eq!(
            Test::parse(FieldType::Keyword, "a*").unwrap().to_string(),
            "a*"
        );
    }
}
