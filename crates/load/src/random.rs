//! Seeded random numbers, identical on every machine.
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of random numbers. Streams of one seed are independent of each other, so a longer warm-up
/// does not change the schedule that follows it.
#[derive(Debug, Clone)]
pub(crate) struct Random(Xoshiro256PlusPlus);

/// Purpose of a stream.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    Arrivals,
    WarmUp,
    Queries,
    Resample,
    Writes,
    Probes,
    Joins,
    Order,
    Think { client: u64 },
}

impl Random {
    pub(crate) fn new(seed: u64, purpose: Purpose) -> Random {
        let stream = match purpose {
            Purpose::Arrivals => 1,
            Purpose::WarmUp => 2,
            Purpose::Queries => 3,
            Purpose::Resample => 4,
            Purpose::Writes => 5,
            Purpose::Probes => 6,
            Purpose::Joins => 7,
            Purpose::Order => 8,
            Purpose::Think { client } => 1000 + client,
        };
        // An odd multiplier spreads neighbouring streams over all bits; `seed_from_u64` mixes them.
        Random(Xoshiro256PlusPlus::seed_from_u64(
            seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        ))
    }

    /// Returns a uniform number in [0, 1) with 53 random bits.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns an exponential number of mean 1, by inversion. Not truncated, which would change the
    /// mean.
    pub(crate) fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }

    /// Returns a uniform number in `0..count`; `count` must not be 0.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        // The bias is below count / 2^53: negligible for any number of queries that fits into memory.
        ((self.uniform() * count as f64) as usize).min(count - 1)
    }

    /// Shuffles the items (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// Returns the numbers `0..count` in random order, the same for the same seed: the order of runs.
pub fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    Random::new(seed, Purpose::Order).shuffle(&mut order);
    order
}
