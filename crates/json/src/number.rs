//! Number of JSON, as it was written.

use std::borrow::Cow;
use std::fmt;

/// Number of JSON. Two are equal where they are written alike: `1.0` is not `1.00`.
#[derive(Clone, PartialEq, Eq)]
pub struct Number(Form);

/// Forms of a number. Each text of a number has one form, so numbers are equal exactly when their texts are.
#[derive(Clone, PartialEq, Eq)]
enum Form {
    Unsigned(u64),
    /// Below 0.
    Negative(i64),
    /// Anything else: with a fraction or an exponent, `-0`, and integers beyond 64 bits.
    Written(Box<str>),
}

impl Number {
    /// Returns the number that a text is; `None` where the grammar of JSON has no such number.
    pub fn parse(text: &str) -> Option<Number> {
        let end = scan(text.as_bytes())?;
        (end == text.len()).then(|| Number::of_scanned(text))
    }

    /// Makes a number of a text that the grammar has.
    pub(crate) fn of_scanned(text: &str) -> Number {
        let is_integer = !text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
        if is_integer && let Ok(number) = text.parse() {
            return Number(Form::Unsigned(number));
        }
        match text.parse() {
            Ok(number) if is_integer && text != "-0" => Number(Form::Negative(number)),
            _ => Number(Form::Written(text.into())),
        }
    }

    /// Returns the shortest number that is read as a float; `None` for infinities and NaN.
    pub fn from_f64(number: f64) -> Option<Number> {
        let shortest = serde_json::Number::from_f64(number)?.to_string();
        Some(Number::of_scanned(&shortest))
    }

    /// Returns the number as it was written.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.0 {
            Form::Unsigned(number) => Cow::Owned(number.to_string()),
            Form::Negative(number) => Cow::Owned(number.to_string()),
            Form::Written(text) => Cow::Borrowed(text),
        }
    }

    /// Returns the number where it is written as an integer and has 64 bits with a sign.
    pub fn as_i64(&self) -> Option<i64> {
        match &self.0 {
            Form::Unsigned(number) => i64::try_from(*number).ok(),
            Form::Negative(number) => Some(*number),
            Form::Written(text) => (**text == *"-0").then_some(0),
        }
    }

    /// Returns the number where it is written as an integer and has 64 bits without a sign.
    pub fn as_u64(&self) -> Option<u64> {
        match &self.0 {
            Form::Unsigned(number) => Some(*number),
            _ => self.as_i64().and_then(|number| u64::try_from(number).ok()),
        }
    }

    /// Returns the nearest float; `None` where that is infinite.
    pub fn as_f64(&self) -> Option<f64> {
        match &self.0 {
            Form::Unsigned(number) => Some(*number as f64),
            Form::Negative(number) => Some(*number as f64),
            Form::Written(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
        }
    }

    /// Returns the text of a number that serializers of integers would change.
    pub(crate) fn written(&self) -> Option<&str> {
        match &self.0 {
            Form::Written(text) => Some(text),
            _ => None,
        }
    }
}

impl From<u64> for Number {
    fn from(number: u64) -> Number {
        Number(Form::Unsigned(number))
    }
}

impl From<i64> for Number {
    fn from(number: i64) -> Number {
        match u64::try_from(number) {
            Ok(number) => Number(Form::Unsigned(number)),
            Err(_) => Number(Form::Negative(number)),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Number({})", self.text())
    }
}

/// Returns the end of the number that `bytes` begin with; `None` where they begin with none.
///
/// `number := -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`
pub(crate) fn scan(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        let end = from + rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (end > from).then_some(end)
    };
    let start = usize::from(bytes.first() == Some(&b'-'));
    let mut end = match bytes.get(start)? {
        b'0' => start + 1,
        _ => digits(start)?,
    };
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let signed = matches!(bytes.get(end + 1), Some(b'+' | b'-'));
        end = digits(end + 1 + usize::from(signed))?;
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_kept_as_they_are_written() {
        for text in [
            "0",
            "-0",
            "7",
            "-7",
            "1.10",
            "1E5",
            "1e+05",
            "1e-5000",
            "1e400",
            "18446744073709551615",
            "18446744073709551616",
            "-9223372036854775808",
            "-9223372036854775809",
            "12345678901234567890123",
            "0.1000000000000000055511151231257827021181583404541015625",
        ] {
            let number = Number::parse(text).unwrap();
            assert_eq!(number.to_string(), text);
        }
        for text in [
            "", "-", "01", "+1", ".5", "5.", "1e", "1e+", "0x1", "1 ", "NaN", "--1",
        ] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_integers_or_floats() {
        let of = |text: &str| Number::parse(text).unwrap();
        assert_eq!(of("-0").as_i64(), Some(0));
        assert_eq!(of("9223372036854775807").as_i64(), Some(i64::MAX));
        assert_eq!(of("9223372036854775808").as_i64(), None);
        assert_eq!(of("9223372036854775808").as_u64(), Some(1 << 63));
        assert_eq!(of("1.0").as_i64(), None);
        assert_eq!(of("1E5").as_f64(), Some(1e5));
        assert_eq!(of("1e400").as_f64(), None);
        assert_eq!(Number::from(-5i64), of("-5"));
        assert_eq!(Number::from(5i64), Number::from(5u64));
        assert_eq!(Number::from_f64(1.5), Some(of("1.5")));
        assert_eq!(Number::from_f64(f64::NAN), None);
    }
}
