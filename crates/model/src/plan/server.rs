//! Response times of one server of a fleet at a given rate.
//!
//! The parts of a query are equal and the partitions divide the cores, so all parts of a query begin
//! and end together. The server is therefore a queue with cores / partitions places, and each query
//! goes to the place that is free first (Kiefer & Wolfowitz 1955). The results equal those of
//! [`simulate::run`](crate::simulate::run) number by number, at a tenth of the cost; a test compares
//! the two.

use super::Request;
use crate::error::ModelError;
use crate::fan_out;
use crate::simulate::{Arrivals, Earliest, Order, Searches, Streams, Times, sorted_quantile};

/// Times of the queries of a request, prepared once for all fleets.
pub(super) struct Works {
    /// Work of the search of whole queries and time beside it, in the order of measurement.
    times: Times,
    /// The same pairs, in ms.
    pairs_ms: Vec<[f64; 2]>,
}

impl Works {
    pub(super) fn of(request: &Request) -> Result<Works, ModelError> {
        let works_ms = request.searches.rows().map(|row| row.iter().sum::<f64>());
        let rest_ms = request
            .rest_ms
            .iter()
            .copied()
            .chain(std::iter::repeat(0.0));
        let pairs_ms: Vec<[f64; 2]> = works_ms.zip(rest_ms).map(Into::into).collect();
        let searches = Searches::new(pairs_ms.iter().map(|pair| pair.to_vec()))?;
        Ok(Works {
            times: Times::Measured {
                searches,
                order: Order::Shuffled,
            },
            pairs_ms,
        })
    }

    /// Returns the response time at the target's share of queries without any load.
    pub(super) fn unloaded_ms(&self, request: &Request, slices: usize, partitions: usize) -> f64 {
        let independent = request.independent_slices(slices);
        let share = fan_out::server_share(request.target.share, independent);
        let faster = request.speed_up(partitions) / request.slice_factor(slices);
        let of_query =
            |&[search_ms, rest_ms]: &[f64; 2]| search_ms / faster + rest_ms / request.speed;
        let mut times_ms: Vec<f64> = self.pairs_ms.iter().map(of_query).collect();
        times_ms.sort_unstable_by(f64::total_cmp);
        sorted_quantile(&times_ms, share) + request.overhead_ms / request.speed + request.fixed_ms
    }
}

/// Returns the capacity of a server of one of `slices`, in queries per second.
pub(super) fn limit_per_s(request: &Request, slices: usize, partitions: usize) -> f64 {
    let lost = partitions as f64 / request.speed_up(partitions);
    let search_ms = request.searches.work_ms() * request.slice_factor(slices) * lost;
    let rest_ms = request.rest_mean_ms() / slices as f64;
    let work_ms = search_ms + partitions as f64 * (request.overhead_ms + rest_ms) / request.speed;
    1e3 * request.cores as f64 / work_ms
}

/// Load of one server of a slice.
pub(super) struct ServerLoad<'a> {
    works: &'a Works,
    /// Queries that can run at the same time.
    places: usize,
    /// Speed-up of a query over its work on one core of the measurement.
    speed_up: f64,
    overhead_ms: f64,
    fixed_ms: f64,
    /// Fraction of a query's time beside the search that this server spends, divided by the speed of a core.
    rest_here: f64,
    /// Fraction of that time that servers of other slices spend.
    rest_elsewhere: f64,
    queries: usize,
    warm_up: usize,
    seed: u64,
    slowest_of: usize,
    target: super::Target,
    pub(super) limit_per_s: f64,
}

impl<'a> ServerLoad<'a> {
    /// Returns the load of one server; `partitions` must divide the cores of the request.
    pub(super) fn new(
        request: &Request,
        works: &'a Works,
        slices: usize,
        partitions: usize,
    ) -> ServerLoad<'a> {
        // The slowest of many slices lies deep in the tail of one, so the simulation needs enough
        // queries to observe it.
        let slowest_of = request.independent_slices(slices);
        let beyond = 1.0 - fan_out::server_share(request.target.share, slowest_of);
        let queries = request.queries.max((25.0 / beyond) as usize);
        ServerLoad {
            works,
            places: request.cores / partitions,
            speed_up: request.speed_up(partitions) / request.slice_factor(slices),
            overhead_ms: request.overhead_ms / request.speed,
            fixed_ms: request.fixed_ms,
            rest_here: 1.0 / slices as f64 / request.speed,
            rest_elsewhere: (1.0 - 1.0 / slices as f64) / request.speed,
            queries,
            warm_up: queries / 10,
            seed: request.seed,
            slowest_of,
            target: request.target,
            limit_per_s: limit_per_s(request, slices, partitions),
        }
    }

    /// Passes the response times after the warm-up to `more`, in order of arrival, until it returns
    /// false.
    fn respond(
        &self,
        rate_per_s: f64,
        mut more: impl FnMut(f64) -> bool,
    ) -> Result<(), ModelError> {
        let arrivals = Arrivals::Poisson { rate_per_s };
        let mut clock = arrivals.clock(self.queries)?;
        let mut source = self.works.times.source()?;
        let mut streams = Streams::of(self.seed);
        let mut free = Earliest::new(self.places);
        (0..self.places).for_each(|place| free.set(place, 0.0));
        let mut work_ms = [0.0; 2];
        for number in 0..self.queries {
            let arrived_ms = clock.next_ms(&mut streams.arrivals);
            source.fill(&mut streams.times, &mut work_ms);
            let [search_ms, rest_ms] = work_ms;
            let here_ms = search_ms / self.speed_up + self.overhead_ms + rest_ms * self.rest_here;
            let end_ms = free.instant_ms().max(arrived_ms) + here_ms;
            free.set(free.core(), end_ms);
            let beside_ms = rest_ms * self.rest_elsewhere + self.fixed_ms;
            if number >= self.warm_up && !more(end_ms - arrived_ms + beside_ms) {
                break;
            }
        }
        Ok(())
    }

    fn responses_ms(&self, rate_per_s: f64) -> Result<Vec<f64>, ModelError> {
        let mut responses_ms = Vec::with_capacity(self.queries);
        self.respond(rate_per_s, |response_ms| {
            responses_ms.push(response_ms);
            true
        })?;
        responses_ms.sort_unstable_by(f64::total_cmp);
        Ok(responses_ms)
    }

    /// Returns the response time of the slowest slice at the target's share; `None` if the sample is
    /// too small to tell.
    pub(super) fn response_ms(&self, rate_per_s: f64) -> Result<Option<f64>, ModelError> {
        let responses_ms = self.responses_ms(rate_per_s)?;
        Ok(fan_out::quantile_ms(
            &responses_ms,
            self.slowest_of,
            self.target.share,
        ))
    }

    /// Returns whether that response time is within the target. The simulation ends early once too many
    /// queries are late.
    pub(super) fn keeps(&self, rate_per_s: f64) -> Result<bool, ModelError> {
        let counted = self.queries - self.warm_up;
        let Some(late_max) = fan_out::beyond_quantile(counted, self.slowest_of, self.target.share)
        else {
            return Ok(false);
        };
        let mut late = 0;
        self.respond(rate_per_s, |response_ms| {
            late += usize::from(response_ms > self.target.response_ms);
            late <= late_max
        })?;
        Ok(late <= late_max)
    }

    /// Returns the smallest number of replicas from `fewest` to `most` that meet the target at a total
    /// rate; `None` if `most` do not suffice.
    ///
    /// A lower rate never lengthens the wait of any query, since all rates use the same random streams,
    /// so bisection is exact.
    pub(super) fn replicas_needed(
        &self,
        rate_per_s: f64,
        fewest: usize,
        most: Option<usize>,
    ) -> Result<Option<usize>, ModelError> {
        let keeps = |replicas: usize| self.keeps(rate_per_s / replicas as f64);
        if keeps(fewest)? {
            return Ok(Some(fewest));
        }
        let (mut few, mut enough) = match most {
            Some(most) if most > fewest && keeps(most)? => (fewest, most),
            Some(_) => return Ok(None),
            None => {
                if !self.keeps(self.limit_per_s * 1e-3)? {
                    return Ok(None);
                }
                let (mut few, mut enough) = (fewest, 2 * fewest);
                while !keeps(enough)? {
                    (few, enough) = (enough, 2 * enough);
                }
                (few, enough)
            }
        };
        while enough - few > 1 {
            let middle = few + (enough - few) / 2;
            if keeps(middle)? {
                enough = middle;
            } else {
                few = middle;
            }
        }
        Ok(Some(enough))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Alike, Target};
    use crate::simulate::assignment::Fifo;
    use crate::simulate::{Machine, Settings, Split, run};

    fn request(cores: usize, alike: Alike) -> Request {
        let row = |idx: usize| vec![-30.0 * (1.0 - (idx as f64 + 0.5) / 997.0).ln(), 3.0];
        let target = Target {
            share: 0.95,
            response_ms: 60.0,
        };
        let searches = Searches::new((0..997).map(row)).unwrap();
        let mut request = Request::new(searches, 100.0, target, cores);
        request.queries = 4_000;
        request.fixed_ms = 0.7;
        request.alike = alike;
        request
    }

    /// Computes the same by the slow twin: a full simulation, partition by partition, and the quantile
    /// of all its responses.
    fn slow(request: &Request, slices: usize, partitions: usize, rate_per_s: f64) -> Vec<f64> {
        let split = Split {
            parts: partitions,
            speed_up: request.speed_up(partitions) / request.slice_factor(slices),
            independent: false,
        };
        let searches = request.searches.resplit(split).unwrap();
        let searches = searches.lengthened(request.overhead_ms / request.speed);
        // Every part is as long as the query holds its cores.
        let here = 1.0 / slices as f64 / request.speed;
        let beside = request
            .rest_ms
            .iter()
            .copied()
            .chain(std::iter::repeat(0.0));
        let rows = searches.unwrap();
        let rows = rows.rows().zip(beside);
        let rows = rows.map(|(row, rest_ms)| row.iter().map(|ms| ms + rest_ms * here).collect());
        let searches = Searches::new(rows);
        let works = Works::of(request).unwrap();
        let mut settings = Settings::new(
            Machine::of_cores(request.cores),
            Arrivals::Poisson { rate_per_s },
            Times::Measured {
                searches: searches.unwrap(),
                order: Order::Shuffled,
            },
            ServerLoad::new(request, &works, slices, partitions).queries,
        );
        // With several slices the time beside the search is equal for all queries here.
        let elsewhere = (1.0 - 1.0 / slices as f64) / request.speed;
        let beside_ms = request
            .rest_ms
            .first()
            .map_or(0.0, |rest_ms| rest_ms * elsewhere);
        settings.fixed_ms = beside_ms + request.fixed_ms;
        settings.seed = request.seed;
        let degree = partitions;
        run(&settings, &mut Fifo { degree }).unwrap().responses_ms
    }

    #[test]
    fn a_server_answers_as_the_whole_simulation_does() {
        let mut kept = 0;
        for alike in [Alike::Proportional { imbalance: 1.1 }, Alike::Independent] {
            for (cores, slices, partitions) in [(8, 1, 1), (8, 2, 4), (6, 3, 2), (4, 5, 4)] {
                let mut request = request(cores, alike);
                let differing = |idx: usize| if slices == 1 { (idx % 7) as f64 } else { 2.0 };
                request.rest_ms = (0..997).map(differing).collect();
                let works = Works::of(&request).unwrap();
                let server = ServerLoad::new(&request, &works, slices, partitions);
                for load in [0.001, 0.3, 0.7, 0.9, 0.99, 1.5] {
                    let rate_per_s = load * server.limit_per_s;
                    let expected = slow(&request, slices, partitions, rate_per_s);
                    let case = format!("{alike:?} {cores} {slices} {partitions} {load}");
                    assert_eq!(server.responses_ms(rate_per_s).unwrap(), expected, "{case}");
                    let quantile =
                        fan_out::quantile_ms(&expected, server.slowest_of, request.target.share);
                    let keeps = quantile.is_some_and(|ms| ms <= request.target.response_ms);
                    assert_eq!(server.keeps(rate_per_s).unwrap(), keeps, "{case}");
                    kept += usize::from(keeps);
                }
            }
        }
        assert!((10..40).contains(&kept), "{kept} of 48 kept the target");
    }

    #[test]
    fn bounded_replicas_are_those_of_the_unbounded_search() {
        let request = request(8, Alike::Proportional { imbalance: 1.0 });
        let works = Works::of(&request).unwrap();
        let server = ServerLoad::new(&request, &works, 1, 4);
        let rate_per_s = 40.0 * server.limit_per_s;
        let needed = server.replicas_needed(rate_per_s, 40, None).unwrap();
        let needed = needed.expect("idle servers keep the target");
        assert!(needed > 40);
        let within = |most| server.replicas_needed(rate_per_s, 40, Some(most)).unwrap();
        assert_eq!(within(needed + 30), Some(needed));
        assert_eq!(within(needed), Some(needed));
        assert_eq!(within(needed - 1), None);
        assert_eq!(within(3), None);
    }
}
