//! Test of the values of a field, as a query has it.

use crate::dates;
use crate::decimal::Decimal;
use crate::field_type::FieldType;
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
mod tests;
