//! Value of a visit by importance, change rate and age.

/// Value of visiting a page of importance `m` and `d` changes a day, `t` days after the last visit.
/// Rises with `t` from 0 to `m / d`.
pub fn value(m: f64, d: f64, t: f64) -> f64 {
    let x = d * t;
    if x < 1e-3 {
        // The closed form cancels here: its series is x²/2 − x³/3.
        return m * d * t * t * (0.5 - x / 3.0);
    }
    m / d * (1.0 - (-x).exp() * (1.0 + x))
}

/// Age in days at which the value reaches `threshold`, or `None` if that is after `age_max`.
pub fn age_at_value(m: f64, d: f64, threshold: f64, age_max: f64) -> Option<f64> {
    if value(m, d, age_max) < threshold {
        return None;
    }
    let (mut low, mut high) = (0.0, age_max);
    for _ in 0..48 {
        let middle = (low + high) / 2.0;
        if value(m, d, middle) < threshold {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_rises_with_age_to_its_limit() {
        for d in [1e-6, 1e-4, 0.01, 1.0, 50.0] {
            let mut before = 0.0;
            for step in 1..2_000 {
                let now = value(3.0, d, f64::from(step) * 0.05);
                assert!(now >= before * (1.0 - 1e-9), "d {d} step {step}");
                before = now;
            }
            assert!(before <= 3.0 / d * (1.0 + 1e-9));
        }
        assert!((value(2.0, 1.0, 60.0) - 2.0).abs() < 1e-9);
        // The series and the closed form meet.
        let (series, closed) = (value(1.0, 9.999e-4, 1.0), value(1.0, 1.0001e-3, 1.0));
        assert!((series / closed - 1.0).abs() < 1e-2);
    }

    #[test]
    fn the_age_at_a_value_is_its_inverse() {
        for age in [0.5, 3.0, 41.0] {
            let threshold = value(1.5, 0.2, age);
            let found = age_at_value(1.5, 0.2, threshold, 60.0).unwrap_or(f64::NAN);
            assert!((found - age).abs() < 1e-3, "{found} {age}");
        }
        assert_eq!(age_at_value(1.0, 10.0, 0.2, 60.0), None);
    }
}
