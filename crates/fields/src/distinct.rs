//! Number of distinct values: exact to ten thousand, then estimated.
//!
//! ```text
//! up to 10,000 values   their hashes, as a set
//! more                  HyperLogLog of 2^14 registers (Flajolet, Fusy, Gandouet and Meunier, 2007), read by Ertl's
//!                       estimator ("New cardinality estimation algorithms for HyperLogLog sketches", 2017, section 4)
//! ```
//!
//! Both are sets, so parts may be joined in any order, and which of the two it is depends on the values alone: the set of
//! all is large if and only if all parts together are.

use crate::value::Value;
use xxhash_rust::xxh3::xxh3_64;

/// Values up to which their number is exact.
pub const DISTINCT_EXACT_MAX: usize = 10_000;

/// Bits of a hash that choose its register.
const REGISTER_BITS: u32 = 14;
/// Number of registers.
const REGISTERS: usize = 1 << REGISTER_BITS;
/// Greatest value of a register.
const RANK_MAX: u8 = (64 - REGISTER_BITS + 1) as u8;

/// Distinct values of a part.
#[derive(Debug, Clone, PartialEq)]
pub enum DistinctValues {
    /// Hashes of the values, increasing.
    Exact(Vec<u64>),
    /// Registers of a HyperLogLog.
    Estimated(Vec<u8>),
}

impl Default for DistinctValues {
    fn default() -> DistinctValues {
        DistinctValues::Exact(Vec::new())
    }
}

impl DistinctValues {
    /// Collects values.
    pub fn of(values: impl IntoIterator<Item = Value>) -> DistinctValues {
        let mut all = DistinctValues::default();
        let mut gathered = Vec::new();
        for value in values {
            gathered.push(hash(&value));
            if gathered.len() > DISTINCT_EXACT_MAX {
                all.join(DistinctValues::of_hashes(std::mem::take(&mut gathered)));
            }
        }
        all.join(DistinctValues::of_hashes(gathered));
        all
    }

    fn of_hashes(mut hashes: Vec<u64>) -> DistinctValues {
        hashes.sort_unstable();
        hashes.dedup();
        DistinctValues::Exact(hashes).bounded()
    }

    /// Makes the values of a message; `None` where they are none.
    pub fn of_parts(hashes: Vec<u64>, registers: Vec<u8>) -> Option<DistinctValues> {
        if !registers.is_empty() {
            let are_registers =
                registers.len() == REGISTERS && registers.iter().all(|&rank| rank <= RANK_MAX);
            return (are_registers && hashes.is_empty())
                .then_some(DistinctValues::Estimated(registers));
        }
        let is_set = hashes.is_sorted_by(|a, b| a < b) && hashes.len() <= DISTINCT_EXACT_MAX;
        is_set.then_some(DistinctValues::Exact(hashes))
    }

    /// Returns the hashes and the registers, one of them empty.
    pub fn parts(&self) -> (&[u64], &[u8]) {
        match self {
            DistinctValues::Exact(hashes) => (hashes, &[]),
            DistinctValues::Estimated(registers) => (&[], registers),
        }
    }

    /// Adds the values of another part.
    pub fn join(&mut self, other: DistinctValues) {
        let own = std::mem::take(self);
        *self = match (own, other) {
            (DistinctValues::Exact(own), DistinctValues::Exact(others)) => match own.is_empty() {
                true => DistinctValues::Exact(others),
                false => DistinctValues::of_hashes([own, others].concat()),
            },
            (DistinctValues::Exact(hashes), DistinctValues::Estimated(mut registers))
            | (DistinctValues::Estimated(mut registers), DistinctValues::Exact(hashes)) => {
                hashes
                    .into_iter()
                    .for_each(|hash| register(&mut registers, hash));
                DistinctValues::Estimated(registers)
            }
            (DistinctValues::Estimated(mut own), DistinctValues::Estimated(others)) => {
                own.iter_mut()
                    .zip(others)
                    .for_each(|(own, other)| *own = (*own).max(other));
                DistinctValues::Estimated(own)
            }
        };
    }

    /// Keeps registers where the hashes are too many.
    fn bounded(self) -> DistinctValues {
        match self {
            DistinctValues::Exact(hashes) if hashes.len() > DISTINCT_EXACT_MAX => {
                let mut registers = vec![0; REGISTERS];
                hashes
                    .into_iter()
                    .for_each(|hash| register(&mut registers, hash));
                DistinctValues::Estimated(registers)
            }
            bounded => bounded,
        }
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        match self {
            DistinctValues::Exact(hashes) => hashes.len() as u64,
            DistinctValues::Estimated(registers) => estimate(registers).round() as u64,
        }
    }

    /// Returns the name of the method, with its error.
    pub fn method(&self) -> &'static str {
        match self {
            DistinctValues::Exact(_) => "exact",
            DistinctValues::Estimated(_) => "HyperLogLog, standard error 0.8 %",
        }
    }
}

/// Returns the hash of a value: of the text of a keyword, of the key of any other.
fn hash(value: &Value) -> u64 {
    match value {
        Value::Keyword(text) => xxh3_64(text.as_bytes()),
        other => xxh3_64(&other.key().unwrap_or_default().to_le_bytes()),
    }
}

/// Raises the register of a hash to the number of zeros that the rest of it begins with, and one.
fn register(registers: &mut [u8], hash: u64) {
    let own = (hash >> (64 - REGISTER_BITS)) as usize;
    // The bit after the last ends the zeros of a rest of zeros.
    let rest = hash << REGISTER_BITS | 1 << (REGISTER_BITS - 1);
    let rank = rest.leading_zeros() as u8 + 1;
    registers[own] = registers[own].max(rank);
}

/// Returns Ertl's estimate: a sum over the numbers of registers of each value, in a fixed order.
fn estimate(registers: &[u8]) -> f64 {
    let mut of_rank = [0u32; RANK_MAX as usize + 1];
    for &rank in registers {
        of_rank[usize::from(rank.min(RANK_MAX))] += 1;
    }
    let m = registers.len() as f64;
    let mut z = m * tau(1.0 - f64::from(of_rank[usize::from(RANK_MAX)]) / m);
    for rank in (1..usize::from(RANK_MAX)).rev() {
        z = 0.5 * (z + f64::from(of_rank[rank]));
    }
    z += m * sigma(f64::from(of_rank[0]) / m);
    m * m / (2.0 * std::f64::consts::LN_2 * z)
}

/// x + Σ x^(2^k) 2^(k−1), for the empty registers.
fn sigma(mut x: f64) -> f64 {
    if x >= 1.0 {
        return f64::INFINITY;
    }
    let (mut sum, mut weight) = (x, 1.0);
    loop {
        x *= x;
        let before = sum;
        sum += x * weight;
        weight *= 2.0;
        if sum == before {
            return sum;
        }
    }
}

/// (1 − x − Σ (1 − x^(2^−k))² 2^−k) / 3, for the full registers.
fn tau(mut x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return 0.0;
    }
    let (mut sum, mut weight) = (1.0 - x, 1.0);
    loop {
        x = x.sqrt();
        let before = sum;
        weight *= 0.5;
        sum -= (1.0 - x) * (1.0 - x) * weight;
        if sum == before {
            return sum / 3.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(numbers: std::ops::Range<i64>) -> DistinctValues {
        DistinctValues::of(numbers.map(Value::Integer))
    }

    #[test]
    fn the_number_is_exact_to_ten_thousand_and_near_above() {
        for count in [0, 1, 9_999, 10_000] {
            let counted = of(0..count);
            assert_eq!((counted.count(), counted.method()), (count as u64, "exact"));
        }
        for count in [10_001, 20_000, 100_000, 1_000_000] {
            let counted = of(0..count);
            assert!(matches!(counted, DistinctValues::Estimated(_)));
            let error = (counted.count() as f64 / count as f64 - 1.0).abs();
            assert!(error <= 0.025, "{count}: {}", counted.count());
        }
    }

    #[test]
    fn parts_give_the_same_values_in_any_order() {
        for (whole, cuts) in [
            (9_999, [10, 5_000]),
            (10_001, [9_000, 9_500]),
            (30_000, [200, 29_000]),
        ] {
            // The parts overlap, and hold some values twice.
            let parts = [of(0..cuts[1]), of(cuts[0]..whole), of(0..cuts[0])];
            for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
                let mut joined = DistinctValues::default();
                order
                    .iter()
                    .for_each(|&part| joined.join(parts[part].clone()));
                assert_eq!(joined, of(0..whole));
            }
        }
    }

    #[test]
    fn kinds_of_values_are_told_apart_from_messages() {
        let all = of(0..20_000);
        let (hashes, registers) = all.parts();
        assert_eq!(
            DistinctValues::of_parts(hashes.to_vec(), registers.to_vec()),
            Some(all)
        );
        assert_eq!(DistinctValues::of_parts(vec![2, 1], Vec::new()), None);
        assert_eq!(DistinctValues::of_parts(Vec::new(), vec![0; 5]), None);
        assert_eq!(
            DistinctValues::of_parts(Vec::new(), vec![99; REGISTERS]),
            None
        );
    }

    proptest! {
        #[test]
        fn small_sets_are_counted(words in prop::collection::vec("[a-c]{0,3}", 0..60)) {
            let set: std::collections::BTreeSet<&String> = words.iter().collect();
            let counted = DistinctValues::of(words.iter().map(|word| Value::Keyword(word.clone())));
            prop_assert_eq!(counted.count(), set.len() as u64);
        }
    }
}
