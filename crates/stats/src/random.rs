//! Seeded random numbers, the same on every machine.

use rand_core::{Rng, SeedableRng};
use rand_distr::{Distribution, Exp1, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers (xoshiro256++, Blackman & Vigna 2019).
#[derive(Debug, Clone)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// Returns stream number `stream` of a seed. Streams of one seed are independent of each other, so what one of them
    /// is used for changes no number of another.
    pub fn new(seed: u64, stream: u64) -> Random {
        // An odd multiplier spreads neighbouring streams over all bits; `seed_from_u64` mixes them.
        let seed = seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Random(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Returns `N` streams of a seed that are 2^128 numbers apart, so that they never overlap.
    pub fn apart<const N: usize>(seed: u64) -> [Random; N] {
        let mut next = Xoshiro256PlusPlus::seed_from_u64(seed);
        std::array::from_fn(|_| {
            let stream = Random(next.clone());
            next.jump();
            stream
        })
    }

    /// Returns a uniform number in [0, 1) with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns an exponential number of mean 1, not truncated, by the ziggurat method.
    pub fn exponential(&mut self) -> f64 {
        Exp1.sample(&mut self.0)
    }

    /// Returns an exponential number of mean 1, by inversion: slower, and of one uniform number. Schedules of load are
    /// drawn so, and recorded runs are compared by them.
    pub fn exponential_by_inversion(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }

    /// Returns a normal number of mean 0 and deviation 1.
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    /// Returns a uniform number below `limit`, with a bias of `limit` / 2^64 at most; 0 where `limit` is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(limit)) >> 64) as u64
    }

    /// Returns a uniform index of a slice of `length` items, with a bias of `length` / 2^53 at most; `length` is not 0.
    pub fn index(&mut self, length: usize) -> usize {
        ((self.uniform() * length as f64) as usize).min(length - 1)
    }

    /// Returns true with a probability of `millionths` in a million.
    pub fn chance(&mut self, millionths: u64) -> bool {
        self.below(1_000_000) < millionths
    }

    /// Shuffles the items (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.index(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBERS_OF_7_3: [u64; 3] = [381, 324, 415];

    fn mean(count: usize, mut draw: impl FnMut() -> f64) -> f64 {
        (0..count).map(|_| draw()).sum::<f64>() / count as f64
    }

    #[test]
    fn numbers_are_the_same_everywhere() {
        let mut random = Random::new(7, 3);
        let drawn = [random.below(1000), random.below(1000), random.below(1000)];
        let mut again = Random::new(7, 3);
        assert_eq!(drawn, [(); 3].map(|()| again.below(1000)));
        assert_eq!(drawn, NUMBERS_OF_7_3);
        let mut other = Random::new(7, 4);
        assert_ne!(drawn, [(); 3].map(|()| other.below(1000)));
    }

    #[test]
    fn distributions_have_their_means() {
        let mut random = Random::new(1, 1);
        let count = 100_000;
        assert!((mean(count, || random.uniform()) - 0.5).abs() < 0.005);
        assert!((mean(count, || random.exponential()) - 1.0).abs() < 0.02);
        assert!((mean(count, || random.exponential_by_inversion()) - 1.0).abs() < 0.02);
        assert!((mean(count, || random.index(11) as f64) - 5.0).abs() < 0.05);
        assert!(mean(count, || random.normal()).abs() < 0.02);
        assert!((mean(count, || random.normal().powi(2)) - 1.0).abs() < 0.03);
        let quarter = mean(count, || f64::from(u8::from(random.chance(250_000))));
        assert!((quarter - 0.25).abs() < 0.01);
        assert!((mean(count, || random.below(11) as f64) - 5.0).abs() < 0.05);
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn streams_apart_begin_with_that_of_the_seed() {
        let [mut first, mut second] = Random::apart(9);
        let mut plain = Random::new(9, 0);
        let numbers = |random: &mut Random| [(); 4].map(|()| random.below(u64::MAX));
        let of_first = numbers(&mut first);
        assert_eq!(of_first, numbers(&mut plain));
        assert_ne!(of_first, numbers(&mut second));
    }

    #[test]
    fn a_shuffle_keeps_the_items() {
        let mut items: Vec<u32> = (0..100).collect();
        Random::new(2, 0).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
