//! Rates and other positive numbers on the command line.

/// Rates in queries a second, ascending.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rates(pub(super) Vec<f64>);

/// Number of rates of a range without a count.
const STEPS: usize = 10;
/// Distance of the loads of a range.
const STEP: f64 = 0.1;

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

/// Reads loads, shares of what can be done: `0.5`, `0.1,0.3`, `0.1..0.9` (in tenths) or `0.1..0.9/5` (five).
pub(super) fn parse_loads(text: &str) -> Result<Rates, String> {
    const WANTED: &str =
        "write 0.5, or 0.1,0.3, or 0.1..0.9, or 0.1..0.9/5; loads are above 0, at most 2";
    let in_tenths = match text.split_once("..") {
        Some((from, to)) if !to.contains('/') => {
            let [from, to] = [from, to].map(|text| text.trim().parse::<f64>());
            let (from, to) = from.ok().zip(to.ok()).ok_or(WANTED)?;
            let steps = (to - from) / STEP;
            if !(0.5..100.0).contains(&steps) {
                return Err(WANTED.to_owned());
            }
            let at = |number: u32| ((from + STEP * f64::from(number)) * 1e9).round() / 1e9;
            Some(Rates((0..=(steps + 1e-6) as u32).map(at).collect()))
        }
        _ => None,
    };
    let loads = match in_tenths {
        Some(loads) => loads,
        None => parse_rates(text).map_err(|_| WANTED)?,
    };
    match loads.0.iter().all(|&load| load > 0.0 && load <= 2.0) {
        true => Ok(loads),
        false => Err(WANTED.to_owned()),
    }
}

/// Parses a share between 0 and 1, both excluded.
pub(super) fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("give a number between 0 and 1".to_owned()),
    }
}

/// Parses a rate or a factor: finite and above 0.
pub(crate) fn parse_positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("give a number above 0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_read_or_refused() {
        let check =
            |text: &str, expected: &[f64]| assert_eq!(parse_loads(text).unwrap().0, expected);
        check("0.5", &[0.5]);
        check("0.1..0.4", &[0.1, 0.2, 0.3, 0.4]);
        check("0.2..0.6/3", &[0.2, 0.4, 0.6]);
        check("0.8,0.3", &[0.3, 0.8]);
        assert_eq!(parse_loads("0.1..0.9").unwrap().0.len(), 9);
        for bad in [
            "", "0", "-1", "2.1", "0.9..0.1", "0.1..", "x", "0.1..NaN", "0..0.5",
        ] {
            assert!(parse_loads(bad).is_err(), "{bad}");
        }
        assert!(parse_share("0.99").is_ok());
        for bad in ["0", "1", "NaN", "99"] {
            assert!(parse_share(bad).is_err(), "{bad}");
        }
    }

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
