//! Random numbers of a check, the same for the same seed.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of random numbers. Streams of one seed are independent of each other.
#[derive(Debug, Clone)]
pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(crate) fn new(seed: u64, stream: u64) -> Random {
        // An odd multiplier spreads neighbouring streams over all bits; `seed_from_u64` mixes them.
        let seed = seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Random(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Returns a number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(limit)) >> 64) as u64
    }

    /// Returns true with a probability of `millionths` in a million.
    pub(crate) fn chance(&mut self, millionths: u64) -> bool {
        self.below(1_000_000) < millionths
    }
}
