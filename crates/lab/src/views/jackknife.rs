//! Interval of a figure of rounds that are too short for it one by one.
use load::{Interval, Times, p_of_mean};

/// A figure of all rounds, with its spread over them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Jackknifed {
    pub(crate) figure: f64,
    /// 95 % interval.
    pub(crate) interval: Option<Interval>,
    /// p value of a figure of 0.
    pub(crate) p_value: Option<f64>,
}

/// Leaves out each of `count` independent rounds in turn (Tukey 1958). `figure` takes the round that is left out.
pub(crate) fn jackknife(
    count: usize,
    figure: impl Fn(Option<usize>) -> Option<f64>,
) -> Option<Jackknifed> {
    let whole = figure(None)?;
    let pseudo_value = |without: usize| {
        let rest = figure(Some(without))?;
        Some(count as f64 * whole - (count - 1) as f64 * rest)
    };
    let pseudo_values: Option<Vec<f64>> = (0..count).map(pseudo_value).collect();
    let pseudo_values = pseudo_values.unwrap_or_default();
    let half = Interval::of_mean(&pseudo_values).map(|found| (found.high - found.low) / 2.0);
    // The interval stands around the figure, whose bias is far less than its spread; so does the test.
    let mean = pseudo_values.iter().sum::<f64>() / pseudo_values.len().max(1) as f64;
    Some(Jackknifed {
        figure: whole,
        interval: half.map(|half| Interval {
            low: whole - half,
            high: whole + half,
        }),
        p_value: p_of_mean(&pseudo_values, mean - whole),
    })
}

/// Merges the times of all rounds, or of all but one.
pub(crate) fn merged<'a>(
    rounds: impl IntoIterator<Item = &'a Times>,
    without: Option<usize>,
) -> Times {
    let mut times = Times::default();
    for (number, round) in rounds.into_iter().enumerate() {
        if Some(number) != without {
            times.merge(round);
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_the_interval_of_student() {
        let values = [1.0, 2.0, 4.0, 3.0, 5.0];
        let mean = |without: Option<usize>| {
            let kept = (0..values.len()).filter(|at| Some(*at) != without);
            let kept: Vec<f64> = kept.map(|at| values[at]).collect();
            Some(kept.iter().sum::<f64>() / kept.len() as f64)
        };
        let found = jackknife(values.len(), mean).unwrap();
        let student = Interval::of_mean(&values).unwrap();
        let interval = found.interval.unwrap();
        assert!((interval.low - student.low).abs() < 1e-9, "{found:?}");
        let p_value = p_of_mean(&values, 0.0).unwrap();
        assert!((found.p_value.unwrap() - p_value).abs() < 1e-9);
        assert_eq!(jackknife(3, |_| None), None);
        assert_eq!(jackknife(1, |_| Some(2.0)).unwrap().interval, None);
    }
}
