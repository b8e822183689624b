//! Load from the load generator, and its outcome.

use crate::stage::frequent_words;
use anyhow::Context;
use load::{Arrivals, Outcome, QueryStream, Sample, Settings, Target, Think};
use std::net::SocketAddr;
use std::time::Duration;

/// Requests to one target, as paths.
#[derive(Debug, Clone)]
pub(crate) struct Offer {
    pub(crate) target: Target,
    pub(crate) queries: QueryStream,
    pub(crate) seed: u64,
}

impl Offer {
    /// Creates queries to a server, each with the same `parameters`, such as `&k=5`.
    pub(crate) fn new(
        address: SocketAddr,
        queries: &[String],
        parameters: &str,
        seed: u64,
    ) -> anyhow::Result<Offer> {
        Ok(Offer {
            target: Target::parse(&format!("http://{address}/search?q={{query}}{parameters}"))?,
            queries: QueryStream::as_is(queries.iter().cloned()),
            seed,
        })
    }

    /// Creates queries of one frequent word each, of which no part may be missing.
    pub(crate) fn of_frequent_words(address: SocketAddr, seed: u64) -> anyhow::Result<Offer> {
        Offer::new(address, &frequent_words(200), "&partial=0&any=1", seed)
    }

    /// Runs open-loop load: Poisson arrivals, independent of the server.
    pub(crate) async fn open(&self, rate_qps: f64, duration: Duration) -> anyhow::Result<Came> {
        let arrivals = Arrivals::Poisson { rate_qps };
        let (target, queries) = (self.target.clone(), self.queries.clone());
        let mut settings = Settings::open(target, queries, arrivals, duration);
        settings.connections_max = 4_000;
        self.run(settings).await
    }

    /// Runs closed-loop load: `clients` clients, each sending as soon as it is answered.
    pub(crate) async fn closed(&self, clients: usize, duration: Duration) -> anyhow::Result<Came> {
        let (target, queries) = (self.target.clone(), self.queries.clone());
        self.run(Settings::closed(
            target,
            queries,
            clients,
            Think::None,
            duration,
        ))
        .await
    }

    async fn run(&self, mut settings: Settings) -> anyhow::Result<Came> {
        settings.seed = self.seed;
        settings.timeout = Duration::from_secs(10);
        settings.drain = Duration::from_secs(10);
        let ran = tokio::task::spawn_blocking(move || load::run(&settings)).await;
        let outcome = ran.context("the load generator ended")??;
        Ok(Came { outcome })
    }
}

/// Outcome of an offered load.
#[derive(Debug, Clone)]
pub(crate) struct Came {
    pub(crate) outcome: Outcome,
}

impl Came {
    pub(crate) fn samples(&self) -> &[Sample] {
        &self.outcome.samples
    }

    pub(crate) fn count(&self, of: impl Fn(&Sample) -> bool) -> u64 {
        self.samples().iter().filter(|sample| of(sample)).count() as u64
    }

    /// Returns the response times of the selected requests, from their intended instants.
    pub(crate) fn times_ms(&self, of: impl Fn(&Sample) -> bool) -> Percentiles {
        let samples = self.samples().iter().filter(|sample| of(sample));
        samples.filter_map(Sample::response_ns).collect()
    }

    /// Returns the answers a second within a client's deadline.
    pub(crate) fn goodput_qps(&self, deadline: Duration) -> f64 {
        let in_time = |sample: &Sample| {
            let limit_ns = deadline.as_nanos() as u64;
            sample.ending.is_answer() && sample.response_ns().is_some_and(|ns| ns <= limit_ns)
        };
        self.count(in_time) as f64 / self.outcome.measured.as_secs_f64().max(1e-9)
    }
}

/// Times, sorted for percentiles.
#[derive(Debug, Clone, Default)]
pub(crate) struct Percentiles {
    sorted_ns: Vec<u64>,
}

impl FromIterator<u64> for Percentiles {
    fn from_iter<I: IntoIterator<Item = u64>>(times_ns: I) -> Percentiles {
        let mut sorted_ns: Vec<u64> = times_ns.into_iter().collect();
        sorted_ns.sort_unstable();
        Percentiles { sorted_ns }
    }
}

impl Percentiles {
    /// Returns the smallest time that `percent` percent of the times do not exceed, in milliseconds; NaN without times.
    pub(crate) fn ms(&self, percent: f64) -> f64 {
        stats::nearest_rank(&self.sorted_ns, percent / 100.0).map_or(f64::NAN, |ns| ns as f64 / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let times: Percentiles = (1..=1000u64).rev().map(|ms| ms * 1_000_000).collect();
        assert_eq!(times.ms(99.0), 990.0);
        assert_eq!(times.ms(100.0), 1000.0);
        assert_eq!(times.ms(0.0), 1.0);
        assert!(Percentiles::default().ms(50.0).is_nan());
    }
}
