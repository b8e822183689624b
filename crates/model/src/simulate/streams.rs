//! Random streams of a simulation.

use rand_core::SeedableRng;
pub(crate) use rand_xoshiro::Xoshiro256PlusPlus as Stream;

/// Non-overlapping streams of random numbers from one seed, 2^128 numbers apart.
pub(crate) struct Streams {
    pub(crate) arrivals: Stream,
    pub(crate) times: Stream,
    pub(crate) machine: Stream,
}

impl Streams {
    pub(crate) fn of(seed: u64) -> Streams {
        let arrivals = Stream::seed_from_u64(seed);
        let mut times = arrivals.clone();
        times.jump();
        let mut machine = times.clone();
        machine.jump();
        Streams {
            arrivals,
            times,
            machine,
        }
    }
}

/// Returns a uniform number in [0, 1) from 53 random bits.
pub(crate) fn uniform(stream: &mut Stream) -> f64 {
    use rand_core::Rng;
    (stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns an exponential time of mean 1.
pub(crate) fn exponential(stream: &mut Stream) -> f64 {
    use rand_distr::Distribution;
    rand_distr::Exp1.sample(stream)
}

/// Returns a normal number of mean 0 and deviation 1.
pub(crate) fn normal(stream: &mut Stream) -> f64 {
    use rand_distr::Distribution;
    rand_distr::StandardNormal.sample(stream)
}
