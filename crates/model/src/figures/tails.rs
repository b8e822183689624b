//! Figure 15 of Hadjilambrou et al. 2019: simulated tails with and without partitions.

use super::{Series, point};
use crate::error::ModelError;
use crate::simulate::assignment::Fifo;
use crate::simulate::{self, Arrivals, Distribution, Settings, Split, Times, summarise};

/// Mean search time, in ms, at which 8 cores carry 320 queries/s, the highest rate of figure 15.
pub const MEAN_MS: f64 = 24.0;

/// Returns search times of the published shape (figure 4: 99th percentile 7.4 times the mean) with the
/// mean [`MEAN_MS`].
pub fn published_shape(split: Split) -> Times {
    Times::Drawn {
        mean_ms: MEAN_MS,
        distribution: Distribution::Lognormal { cv2: 2.66 },
        split,
    }
}

/// Returns figure 15 of Hadjilambrou et al. 2019: simulated p99 of two partitions with a speed-up of
/// 1.8, 1.9 and 2, beside the unpartitioned server, over 10 to 320 queries/s. `searches` are measured
/// times of whole queries, or `None` for [`published_shape`].
///
/// The publication says in words: with a speed-up of 2.0 partitioning never loses; below it the curves
/// cross, the earlier the lower the speed-up.
///
/// # Errors
/// [`ModelError`] if a setting is out of range.
pub fn partition_tails(
    searches: Option<&simulate::Searches>,
    cores: usize,
    queries: usize,
    runs: usize,
) -> Result<Vec<Series>, ModelError> {
    let mut list = Vec::new();
    for (name, parts, speed_up) in [
        ("1 partition", 1, 1.0),
        ("2 partitions, speed-up 1.8", 2, 1.8),
        ("2 partitions, speed-up 1.9", 2, 1.9),
        ("2 partitions, speed-up 2", 2, 2.0),
    ] {
        let split = Split {
            parts,
            speed_up,
            independent: false,
        };
        let times = match searches {
            Some(searches) => Times::Measured {
                searches: searches.resplit(split)?,
                order: simulate::Order::Shuffled,
            },
            None => published_shape(split),
        };
        let mut points = Vec::new();
        for step in 0..=31 {
            let rate_per_s = 10.0 + 10.0 * f64::from(step);
            let arrivals = Arrivals::Poisson { rate_per_s };
            let settings = Settings::new(
                simulate::Machine::of_cores(cores),
                arrivals,
                times.clone(),
                queries,
            );
            let summary = summarise(&settings, runs, || Fifo { degree: parts })?;
            let ours = summary
                .quantile_ms(0.99)
                .filter(|_| !summary.is_overloaded());
            points.push(point(rate_per_s, ours));
        }
        list.push(Series {
            figure: "Hadjilambrou et al. 2019, 15",
            title: "99th percentile with and without partitions",
            name: name.to_owned(),
            x: "queries/s",
            y: "ms",
            note: match searches {
                Some(_) => format!("simulated from measured search times, {cores} cores"),
                None => format!(
                    "simulated, lognormal search times, mean 24 ms, cv² 2.66, {cores} cores"
                ),
            },
            points,
        });
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_with_a_perfect_speed_up_never_lose_and_others_cross_in_order() {
        let list = partition_tails(None, 8, 20_000, 3).unwrap();
        let p99 =
            |series: usize, step: usize| list[series].points[step].ours.unwrap_or(f64::INFINITY);
        // The search for the crossing stops where statistical error exceeds the difference.
        let crossing =
            |series: usize| (0..32).find(|&step| p99(series, step) > 1.02 * p99(0, step));
        assert!(
            (0..24).all(|step| p99(3, step) <= p99(0, step)),
            "{:?}",
            list[3]
        );
        let (slow, middle) = (crossing(1).unwrap(), crossing(2).unwrap());
        assert!(slow < middle, "{slow} {middle}");
    }
}
