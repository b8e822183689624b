//! Form of a text that stands for a value: a date, a number, a code, or nothing.

use crate::dates;
use crate::decimal::Decimal;

/// Texts that stand for a missing value, in any case of their letters. They say nothing of the type of a field.
const MISSING: [&str; 8] = ["n/a", "na", "nan", "nil", "none", "null", "-", "\\n"];

/// Form of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextForm {
    /// No text, or a word for a missing value.
    Missing,
    Date,
    /// Integer of 64 bits.
    Integer(i64),
    /// Integer beyond 64 bits.
    Beyond,
    /// Number with a fraction of `digits`; `is_padded` where the last of several is 0, as in `1.10`.
    Fraction {
        digits: usize,
        is_padded: bool,
    },
    /// Number with an exponent.
    Exponent,
    /// Digits that identify and do not count: `01234`, `+4930123`.
    Code,
    /// Anything else.
    Words,
}

impl TextForm {
    /// Returns the form of a text.
    pub(crate) fn of(text: &str) -> TextForm {
        let text = text.trim();
        if text.is_empty() || MISSING.iter().any(|word| text.eq_ignore_ascii_case(word)) {
            return TextForm::Missing;
        }
        if dates::parse(text).is_some() {
            return TextForm::Date;
        }
        let Some(decimal) = Decimal::parse(text) else {
            return TextForm::Words;
        };
        if decimal.is_coded() {
            return TextForm::Code;
        }
        if decimal.is_integer_text() {
            return decimal
                .integer()
                .map_or(TextForm::Beyond, TextForm::Integer);
        }
        match (decimal.fraction(), decimal.float()) {
            (_, None) => TextForm::Words,
            (None, Some(_)) => TextForm::Exponent,
            (Some(fraction), Some(_)) => TextForm::Fraction {
                digits: fraction.len(),
                is_padded: fraction.len() > 1 && fraction.ends_with('0'),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_forms() {
        let fraction = |digits, is_padded| TextForm::Fraction { digits, is_padded };
        for (text, form) in [
            ("", TextForm::Missing),
            ("  ", TextForm::Missing),
            ("N/A", TextForm::Missing),
            ("\\N", TextForm::Missing),
            ("2024-05-06", TextForm::Date),
            (" 2024-05-06T10:00:00Z ", TextForm::Date),
            ("9999-12-31", TextForm::Date),
            ("2024", TextForm::Integer(2024)),
            (" 7", TextForm::Integer(7)),
            ("0", TextForm::Integer(0)),
            ("-9223372036854775808", TextForm::Integer(i64::MIN)),
            ("9223372036854775808", TextForm::Beyond),
            ("25.5", fraction(1, false)),
            ("100.0", fraction(1, false)),
            ("1.10", fraction(2, true)),
            (".5", fraction(1, false)),
            ("1e5", TextForm::Exponent),
            ("1e400", TextForm::Words),
            ("01234", TextForm::Code),
            ("00", TextForm::Code),
            ("+4930123", TextForm::Code),
            ("030/123", TextForm::Words),
            ("1.2.3", TextForm::Words),
            ("1,234", TextForm::Words),
            ("$5", TextForm::Words),
        ] {
            assert_eq!(TextForm::of(text), form, "{text}");
        }
    }
}
