//! Decimal numbers as texts: what they are exactly, and which float is nearest.

use crate::value::Value;

/// Upper limit on the digits of a number that is compared digit by digit: no 64-bit number has more.
const DIGITS_MAX: usize = 400;

/// Number in decimal notation: `-12.50`, `1e5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decimal<'t> {
    text: &'t str,
    is_negative: bool,
    whole: &'t str,
    fraction: &'t str,
    exponent: i64,
    has_exponent: bool,
}

impl<'t> Decimal<'t> {
    /// Returns the number that a text is: `[+-] digits [. digits] [e [+-] digits]`, with digits before or after the point.
    pub(crate) fn parse(text: &'t str) -> Option<Decimal<'t>> {
        let (is_negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (rest, None),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (mantissa, ""),
        };
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let has_digits = !(whole.is_empty() && fraction.is_empty());
        if !has_digits || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let exponent_of = |text: &str| {
            let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
            let limit = if text.starts_with('-') {
                i64::MIN / 4
            } else {
                i64::MAX / 4
            };
            let is_number = !digits.is_empty() && is_digits(digits);
            is_number.then(|| {
                text.parse()
                    .unwrap_or(limit)
                    .clamp(i64::MIN / 4, i64::MAX / 4)
            })
        };
        Some(Decimal {
            text,
            is_negative,
            whole,
            fraction,
            exponent: match exponent {
                Some(text) => exponent_of(text)?,
                None => 0,
            },
            has_exponent: exponent.is_some(),
        })
    }

    /// Returns whether the text is an integer, without point and exponent.
    pub(crate) fn is_integer_text(&self) -> bool {
        self.fraction.is_empty() && !self.has_exponent
    }

    /// Returns whether the text begins as identifiers do and numbers do not: `01234`, `+49`.
    pub(crate) fn is_coded(&self) -> bool {
        self.text.starts_with('+') || self.whole.len() > 1 && self.whole.starts_with('0')
    }

    /// Returns the digits after the point, where the number has no exponent.
    pub(crate) fn fraction(&self) -> Option<&'t str> {
        (!self.has_exponent && !self.fraction.is_empty()).then_some(self.fraction)
    }

    fn is_zero(&self) -> bool {
        let mut digits = self.whole.bytes().chain(self.fraction.bytes());
        digits.all(|digit| digit == b'0')
    }

    /// Returns the digits of the size of the integer that the number is, and where it is none, of the integer below that size;
    /// and whether it is one. `None` where there are too many.
    fn whole_digits(&self) -> Option<(String, bool)> {
        let digits = format!("{}{}", self.whole, self.fraction);
        let zeros = digits.len() - digits.trim_start_matches('0').len();
        let point = self.whole.len() as i64 + self.exponent - zeros as i64;
        let digits = &digits[zeros..];
        if digits.is_empty() {
            return Some(("0".to_owned(), true));
        }
        if point <= 0 {
            return Some(("0".to_owned(), false));
        }
        let point = usize::try_from(point)
            .ok()
            .filter(|&point| point <= DIGITS_MAX)?;
        let whole = digits.get(..point).unwrap_or(digits);
        let rest = digits.get(point..).unwrap_or_default();
        let padding = "0".repeat(point - whole.len());
        let is_whole = rest.bytes().all(|digit| digit == b'0');
        Some((format!("{whole}{padding}"), is_whole))
    }

    /// Returns the integer that the number is.
    pub(crate) fn integer(&self) -> Option<i64> {
        match self.around_integer() {
            (Some(below), Some(above)) if below == above => Some(below),
            _ => None,
        }
    }

    /// Returns the greatest integer that is not above the number, and the least that is not below; `None` where it has
    /// more than 64 bits.
    pub(crate) fn around_integer(&self) -> (Option<i64>, Option<i64>) {
        let beyond = match self.is_negative {
            true => (None, Some(i64::MIN)),
            false => (Some(i64::MAX), None),
        };
        let Some((digits, is_whole)) = self.whole_digits() else {
            return beyond;
        };
        let Ok(size) = digits.parse::<i128>() else {
            return beyond;
        };
        let next = size + i128::from(!is_whole);
        let (below, above) = match self.is_negative {
            true => (-next, -size),
            false => (size, next),
        };
        match (i64::try_from(below), i64::try_from(above)) {
            (Ok(below), Ok(above)) => (Some(below), Some(above)),
            (Ok(below), Err(_)) => (Some(below), None),
            (Err(_), Ok(above)) => (None, Some(above)),
            (Err(_), Err(_)) => beyond,
        }
    }

    /// Returns the nearest float; `None` where no float can stand for the number: beyond all floats, so small that 0 is
    /// nearest, or an integer that is no float.
    pub(crate) fn float(&self) -> Option<f64> {
        let nearest = self.nearest()?;
        let is_lost = nearest == 0.0 && !self.is_zero();
        let is_rounded = self.is_integer_text() && self.order_of(nearest).is_ne();
        (!is_lost && !is_rounded).then_some(nearest)
    }

    /// Returns the greatest float that is not above the number, and the least that is not below. Of a number with a
    /// fraction or an exponent both are the nearest one, which stands for it.
    pub(crate) fn around_float(&self) -> Option<(f64, f64)> {
        let nearest = self.nearest()?;
        if !self.is_integer_text() {
            return Some((nearest, nearest));
        }
        Some(match self.order_of(nearest) {
            std::cmp::Ordering::Equal => (nearest, nearest),
            std::cmp::Ordering::Less => (nearest.next_down(), nearest),
            std::cmp::Ordering::Greater => (nearest, nearest.next_up()),
        })
    }

    fn nearest(&self) -> Option<f64> {
        let number: f64 = self.text.parse().ok()?;
        number.is_finite().then_some(number)
    }

    /// Compares an integer with an integral float, exactly.
    fn order_of(&self, float: f64) -> std::cmp::Ordering {
        // Below 2^53 every integer is a float.
        if float.abs() < 9_007_199_254_740_992.0 {
            return std::cmp::Ordering::Equal;
        }
        let digits = self.whole.trim_start_matches('0');
        let others = format!("{:.0}", float.abs());
        let order = digits
            .len()
            .cmp(&others.len())
            .then_with(|| digits.cmp(&others));
        match self.is_negative {
            true => order.reverse(),
            false => order,
        }
    }
}

impl Value {
    /// Returns the value of a text in an integer field.
    pub(crate) fn integer_of(text: &str) -> Option<Value> {
        Decimal::parse(text.trim())?.integer().map(Value::Integer)
    }

    /// Returns the value of a text in a float field.
    pub(crate) fn float_of(text: &str) -> Option<Value> {
        Value::float(Decimal::parse(text.trim())?.float()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(text: &str) -> Decimal<'_> {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn integers_are_exact() {
        for (text, integer) in [
            ("5", Some(5)),
            ("-0", Some(0)),
            ("5.0", Some(5)),
            ("1E5", Some(100_000)),
            ("12.50e1", Some(125)),
            ("0.05e2", Some(5)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808.0", Some(i64::MIN)),
            ("9223372036854775807.0", Some(i64::MAX)),
            ("9223372036854775808", None),
            ("9007199254740993.0", Some(9_007_199_254_740_993)),
            ("5.5", None),
            ("1e-5000", None),
            ("1e99999999999999999999", None),
            ("0e99999999999999999999", Some(0)),
            ("007", Some(7)),
            ("+7", Some(7)),
            (".5e1", Some(5)),
        ] {
            assert_eq!(of(text).integer(), integer, "{text}");
        }
        for text in [
            "", "-", ".", "5.", "1e", "1e+", "1,5", "1 5", "0x1", "NaN", "inf", "१२", "1.2.3",
            "--1",
        ] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }

    #[test]
    fn floats_stand_for_numbers_or_not() {
        for (text, float) in [
            ("0.1", Some(0.1)),
            ("1E5", Some(1e5)),
            ("-0", Some(0.0)),
            ("18446744073709551616", Some(18446744073709551616.0)),
            ("18446744073709551614", None),
            ("18446744073709551615", None),
            ("9007199254740993", None),
            ("-9007199254740993", None),
            ("9007199254740994", Some(9007199254740994.0)),
            ("1e23", Some(1e23)),
            ("1e400", None),
            ("1e-5000", None),
            ("0e-5000", Some(0.0)),
        ] {
            assert_eq!(of(text).float(), float, "{text}");
        }
    }

    #[test]
    fn numbers_lie_between_others() {
        assert_eq!(of("20.5").around_integer(), (Some(20), Some(21)));
        assert_eq!(of("-20.5").around_integer(), (Some(-21), Some(-20)));
        assert_eq!(of("-0.5").around_integer(), (Some(-1), Some(0)));
        assert_eq!(of("1e30").around_integer(), (Some(i64::MAX), None));
        assert_eq!(of("-1e3000").around_integer(), (None, Some(i64::MIN)));
        assert_eq!(
            of("9223372036854775807.5").around_integer(),
            (Some(i64::MAX), None)
        );
        assert_eq!(
            of("9007199254740993").around_float(),
            Some((9007199254740992.0, 9007199254740994.0))
        );
        assert_eq!(of("0.1").around_float(), Some((0.1, 0.1)));
    }

    proptest! {
        /// Slow twin: integers of 128 bits.
        #[test]
        fn integers_and_floats_agree_with_wide_integers(number in any::<i128>(), bits in 0u32..127) {
            let number = number >> bits;
            let text = number.to_string();
            prop_assert_eq!(of(&text).integer(), i64::try_from(number).ok());
            let nearest = number as f64;
            let is_exact = nearest as i128 == number && nearest < 2f64.powi(127);
            prop_assert_eq!(of(&text).float(), is_exact.then_some(nearest));
            let (below, above) = of(&text).around_float().unwrap();
            prop_assert!(below as i128 <= number && (number <= above as i128));
            prop_assert_eq!(below == above, is_exact);
        }
    }
}
