//! Random streams of a run, one for each purpose: a longer warm-up does not change the schedule that follows it.

pub(crate) use stats::Random;

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

impl Purpose {
    /// Returns the stream of a seed for this purpose.
    pub(crate) fn stream(self, seed: u64) -> Random {
        let number = match self {
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
        Random::new(seed, number)
    }
}

/// Returns the numbers `0..count` in random order, the same for the same seed: the order of runs.
pub fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    Purpose::Order.stream(seed).shuffle(&mut order);
    order
}
