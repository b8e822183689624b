//! Statistics of the values of a part, and their merge.
//!
//! Sums do not depend on the order of values and parts. Those of integers have 128 bits. Those of floats are kept as several
//! floats that add up to them exactly (Shewchuk, "Adaptive precision floating-point arithmetic", 1997, section 2.4) and are
//! rounded once, at the end.

use crate::value::Value;
use std::cmp::Ordering;

/// Least size of large floats: 2^64 smaller ones are far from the end of all floats.
const LARGE: f64 = f64::from_bits((1023 + 800) << 52);
/// 2^200, by which large floats are divided.
const SCALE: f64 = f64::from_bits((1023 + 200) << 52);

/// Statistics of numbers, which may be dates.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    /// Number of values.
    pub values_count: u64,
    /// Least value.
    pub least: Option<Value>,
    /// Greatest value.
    pub greatest: Option<Value>,
    /// Sum of integers and dates.
    pub integer_sum: i128,
    /// Floats by increasing size, whose exact sum is the sum of all float values that are not large.
    pub float_parts: Vec<f64>,
    /// Floats by increasing size, whose exact sum is the sum of the large values, each divided by 2^200, so that no sum
    /// is beyond all floats.
    pub large_parts: Vec<f64>,
}

impl Stats {
    /// Adds a value that stands `count` times.
    pub fn add(&mut self, value: &Value, count: u64) {
        self.values_count += count;
        match value {
            Value::Integer(number) | Value::Date(number) => {
                self.integer_sum += i128::from(*number) * i128::from(count);
            }
            Value::Float(number) => {
                let (parts, number) = match number.abs() >= LARGE {
                    true => (&mut self.large_parts, number / SCALE),
                    false => (&mut self.float_parts, *number),
                };
                // Counts beyond 2^53 are two floats, and a product of two floats is the sum of two floats, exactly.
                let high = (count & !0xffff_ffff) as f64;
                for count in [high, (count & 0xffff_ffff) as f64] {
                    let product = number * count;
                    add_float(parts, product);
                    add_float(parts, number.mul_add(count, -product));
                }
            }
            Value::Keyword(_) | Value::Bool(_) => {}
        }
        self.take_ends(value, value);
    }

    /// Adds the statistics of another part.
    pub fn join(&mut self, other: &Stats) {
        self.values_count += other.values_count;
        self.integer_sum += other.integer_sum;
        for &part in &other.float_parts {
            add_float(&mut self.float_parts, part);
        }
        for &part in &other.large_parts {
            add_float(&mut self.large_parts, part);
        }
        if let (Some(least), Some(greatest)) = (&other.least, &other.greatest) {
            self.take_ends(least, greatest);
        }
    }

    fn take_ends(&mut self, least: &Value, greatest: &Value) {
        let is_less = |known: &Value| least.order(known) == Ordering::Less;
        if self.least.as_ref().is_none_or(is_less) {
            self.least = Some(least.clone());
        }
        let is_greater = |known: &Value| greatest.order(known) == Ordering::Greater;
        if self.greatest.as_ref().is_none_or(is_greater) {
            self.greatest = Some(greatest.clone());
        }
    }

    /// Returns the sum of the float values, rounded once; infinite where it is beyond all floats.
    pub fn float_sum(&self) -> f64 {
        let Some(&largest) = self.large_parts.last() else {
            return rounded_sum(&self.float_parts);
        };
        if (largest * SCALE).is_finite() {
            let mut parts = self.float_parts.clone();
            for part in &self.large_parts {
                add_float(&mut parts, part * SCALE);
            }
            if parts.iter().all(|part| part.is_finite()) {
                return rounded_sum(&parts);
            }
        }
        // Beside a sum near the end of all floats, of the others only the sign may count.
        let mut parts = self.large_parts.clone();
        for part in &self.float_parts {
            let small = part / SCALE;
            add_float(
                &mut parts,
                if small == 0.0 {
                    f64::MIN_POSITIVE.copysign(*part)
                } else {
                    small
                },
            );
        }
        rounded_sum(&parts) * SCALE
    }

    /// Returns the mean of the values; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        if self.values_count == 0 {
            return None;
        }
        let count = self.values_count as f64;
        match self.least {
            Some(Value::Float(_)) => Some(self.float_sum() / count),
            _ => Some(self.integer_sum as f64 / count),
        }
    }
}

/// Adds a float to parts, which stay such that none overlaps another.
fn add_float(parts: &mut Vec<f64>, mut number: f64) {
    let mut kept = 0;
    for at in 0..parts.len() {
        let mut part = parts[at];
        if number.abs() < part.abs() {
            std::mem::swap(&mut number, &mut part);
        }
        let sum = number + part;
        let error = part - (sum - number);
        if error != 0.0 {
            parts[kept] = error;
            kept += 1;
        }
        number = sum;
    }
    parts.truncate(kept);
    if number != 0.0 {
        parts.push(number);
    }
}

/// Returns the sum of parts that do not overlap, rounded once.
fn rounded_sum(parts: &[f64]) -> f64 {
    let mut parts = parts.iter().rev();
    let Some(&first) = parts.next() else {
        return 0.0;
    };
    let (mut sum, mut error) = (first, 0.0);
    for &part in parts.by_ref() {
        let before = sum;
        sum = before + part;
        error = part - (sum - before);
        if error != 0.0 {
            break;
        }
    }
    // Half-way cases go the way of the remaining parts.
    if let Some(&next) = parts.next()
        && (error < 0.0 && next < 0.0 || error > 0.0 && next > 0.0)
    {
        let twice = error * 2.0;
        let rounded = sum + twice;
        if twice == rounded - sum {
            sum = rounded;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(numbers: &[f64]) -> f64 {
        let mut stats = Stats::default();
        for &number in numbers {
            stats.add(&Value::float(number).unwrap(), 1);
        }
        stats.float_sum()
    }

    /// Sums of rational numbers, rounded once, found with Python's fractions; in a hundred orders and any parts.
    #[test]
    fn sums_of_extremes_are_rational() {
        let max = f64::MAX;
        let two_53 = 2f64.powi(53);
        let cases: [(&[f64], f64); 12] = [
            (&[1e308, 1e308, -1e308], 1e308),
            (&[max, max, -max, -max, 5e-324], 5e-324),
            (&[max, -max, 1.0], 1.0),
            (&[max, max], f64::INFINITY),
            (&[-max, -max, max], -max),
            (&[max, 2f64.powi(969)], max),
            (&[max, 2f64.powi(970), -5e-324], max),
            (&[max, 2f64.powi(970)], f64::INFINITY),
            (&[two_53, 1.0, 5e-324], two_53 + 2.0),
            (&[two_53, 1.0, -5e-324], two_53),
            (
                &[-0.0, 0.0, 2.2250738585072014e-308, -2.225073858507201e-308],
                5e-324,
            ),
            (&[2f64.powi(800), 1.0, -(2f64.powi(800)), 0.1, 0.2], 1.3),
        ];
        let mut state = 1u64;
        for (numbers, expected) in cases {
            for _ in 0..100 {
                let mut shuffled = numbers.to_vec();
                for at in (1..shuffled.len()).rev() {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(99);
                    shuffled.swap(at, (state >> 33) as usize % (at + 1));
                }
                assert_eq!(sum(&shuffled), expected, "{shuffled:?}");
                let (front, back) =
                    shuffled.split_at((state >> 40) as usize % (shuffled.len() + 1));
                let part = |numbers: &[f64]| {
                    let mut stats = Stats::default();
                    numbers
                        .iter()
                        .for_each(|&number| stats.add(&Value::float(number).unwrap(), 1));
                    stats
                };
                let mut joined = part(back);
                joined.join(&part(front));
                assert_eq!(joined.float_sum(), expected, "{shuffled:?}");
            }
        }
        let mut often = Stats::default();
        often.add(&Value::Float(0.1), (1 << 60) + 1);
        assert_eq!(often.float_sum(), 0.1 * (1u64 << 60) as f64);
        often.add(&Value::Float(-0.1), 1 << 60);
        assert_eq!(often.float_sum(), 0.1);
    }

    #[test]
    fn sums_of_floats_are_rounded_once() {
        assert_eq!(sum(&[0.1; 10]), 1.0);
        assert_eq!(sum(&[1e100, 1.0, -1e100]), 1.0);
        assert_eq!(sum(&[1e308, -1e308, 5e-324]), 5e-324);
        assert_eq!(sum(&[2f64.powi(53), 1.0, 1.0]), 2f64.powi(53) + 2.0);
        assert_eq!(sum(&[]), 0.0);
    }

    proptest! {
        /// Values times powers of two are integers, whose sum is exact.
        #[test]
        fn sums_do_not_depend_on_the_order(
            numbers in prop::collection::vec((-1_000_000_000_000i64..1_000_000_000_000, 0i32..40, 1u64..5), 0..40),
            cut in any::<prop::sample::Index>(),
        ) {
            let value = |&(number, power, _): &(i64, i32, u64)| number as f64 / 2f64.powi(power);
            let exact: i128 = numbers.iter().map(|one| (i128::from(one.0) << (40 - one.1)) * i128::from(one.2)).sum();
            let of = |numbers: &[(i64, i32, u64)]| {
                let mut stats = Stats::default();
                numbers.iter().for_each(|one| stats.add(&Value::float(value(one)).unwrap(), one.2));
                stats
            };
            let expected = exact as f64 / 2f64.powi(40);
            prop_assert_eq!(of(&numbers).float_sum(), expected);
            let (front, back) = numbers.split_at(cut.index(numbers.len() + 1));
            let mut joined = of(back);
            joined.join(&of(front));
            prop_assert_eq!(joined.float_sum(), expected);
            prop_assert_eq!(joined.values_count, numbers.iter().map(|one| one.2).sum::<u64>());
        }
    }
}
