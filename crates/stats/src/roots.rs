//! Root finding by bisection.

/// Returns the point between `low` and `high` where `value` changes its sign, by bisection down to two
/// neighbouring floating-point numbers. `value(low)` and `value(high)` must differ in sign; if they do
/// not, returns the end with the value nearer to zero.
pub fn crossing(low: f64, high: f64, value: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (low, high);
    let low_is_negative = value(low) < 0.0;
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return if value(low).abs() <= value(high).abs() {
                low
            } else {
                high
            };
        }
        if (value(middle) < 0.0) == low_is_negative {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// Returns the time at which a falling function of time, 1 or less at 0, reaches `level`. Doubles from
/// `scale` until the level is passed, then bisects.
pub fn time_at_level(level: f64, scale: f64, exceeds: impl Fn(f64) -> f64) -> f64 {
    if exceeds(0.0) <= level {
        return 0.0;
    }
    let mut high = scale;
    while exceeds(high) > level {
        high *= 2.0;
        // Every survival function of a distribution falls, so this limit is never reached.
        assert!(high.is_finite(), "a survival function that never falls");
    }
    crossing(0.0, high, |time| exceeds(time) - level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossings_are_found_to_the_last_bit() {
        let root = crossing(0.0, 2.0, |x| x * x - 2.0);
        assert!((root - 2f64.sqrt()).abs() <= f64::EPSILON * 2.0, "{root}");
        let time = time_at_level(0.5, 1.0, |t| (-t / 1e6).exp());
        assert!((time / (1e6 * 2f64.ln()) - 1.0).abs() < 1e-14, "{time}");
        assert_eq!(time_at_level(0.5, 1.0, |_| 0.25), 0.0);
    }
}
