//! Random streams of a simulation.

pub(crate) use stats::Random as Stream;

/// Non-overlapping streams of random numbers from one seed.
pub(crate) struct Streams {
    pub(crate) arrivals: Stream,
    pub(crate) times: Stream,
    pub(crate) machine: Stream,
}

impl Streams {
    pub(crate) fn of(seed: u64) -> Streams {
        let [arrivals, times, machine] = Stream::apart(seed);
        Streams {
            arrivals,
            times,
            machine,
        }
    }
}
