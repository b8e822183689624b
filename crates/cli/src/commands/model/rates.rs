//! Rates and other positive numbers on the command line.

/// Rates in queries a second, ascending.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rates(pub(super) Vec<f64>);

/// Number of rates of a range without a count.
const STEPS: usize = 10;

/// Reads `150`, `50,100,150`, `20..400` (ten rates at equal distances) or `20..400/5` (five).
pub(super) fn parse_rates(text: &str) -> Result<Rates, String> {
    const WANTED: &str = "write 150, or 50,100,150, or 20..400, or 20..400/5; rates are above 0";
    let positive = |text: &str| match text.trim().parse::<f64>() {
        Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(rate),
        _ => Err(WANTED.to_owned()),
    };
    let mut rates = match text.split_once("..") {
        None => text
            .split(',')
            .map(positive)
            .collect::<Result<Vec<f64>, _>>()?,
        Some((from, to)) => {
            let (to, steps) = match to.split_once('/') {
                Some((to, steps)) => (to, steps.parse().map_err(|_| WANTED.to_owned())?),
                None => (to, STEPS),
            };
            let (from, to) = (positive(from)?, positive(to)?);
            if from >= to || !(2..=1000).contains(&steps) {
                return Err(WANTED.to_owned());
            }
            let step = (to - from) / (steps - 1) as f64;
            (0..steps)
                .map(|number| from + step * number as f64)
                .collect()
        }
    };
    rates.sort_by(f64::total_cmp);
    Ok(Rates(rates))
}

/// Parses a rate or a factor: finite and above 0.
pub(in crate::commands) fn parse_positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("give a number above 0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_or_refused() {
        let check =
            |text: &str, expected: &[f64]| assert_eq!(parse_rates(text).unwrap().0, expected);
        check("150", &[150.0]);
        check("100,50", &[50.0, 100.0]);
        check("20..40/5", &[20.0, 25.0, 30.0, 35.0, 40.0]);
        assert_eq!(parse_rates("10..100").unwrap().0.len(), 10);
        for bad in [
            "", "0", "-1", "x", "1..", "..2", "2..1", "1..2/1", "1..2/x", "1,,2", "NaN", "inf",
        ] {
            assert!(parse_rates(bad).is_err(), "{bad}");
        }
    }
}
