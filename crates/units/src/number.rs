//! The number of a quantity, and the text after it.

/// Splits a quantity into its number and its unit, without the space around them. The number is finite and not negative;
/// `None` for text that does not begin with one.
pub(crate) fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .find(|c: char| c != '.' && !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().ok()?;
    number.is_finite().then_some((number, unit.trim()))
}

/// Converts a number of one unit to another. Units are whole multiples of the smaller ones, so the result is the nearest
/// number: 300 µs are 0.3 ms, and what stays in its unit stays as it is.
pub(crate) fn convert(number: f64, from: u64, to: u64) -> f64 {
    match from >= to {
        true => number * (from / to) as f64,
        false => number / (to / from) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_where_units_begin() {
        assert_eq!(split("300ms"), Some((300.0, "ms")));
        assert_eq!(split(" 1.5 s "), Some((1.5, "s")));
        assert_eq!(split("7"), Some((7.0, "")));
        assert_eq!(split("1e9h"), Some((1.0, "e9h")));
        for wrong in ["", "s", "-1s", "1.2.3s", ".", "NaN", "inf"] {
            assert_eq!(split(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn conversions_give_the_nearest_number() {
        assert_eq!(convert(300.0, 1_000, 1_000_000), 0.3);
        assert_eq!(convert(0.1, 1_000_000, 1_000_000), 0.1);
        assert_eq!(convert(2.0, 1_000_000_000, 1_000_000), 2000.0);
    }
}
