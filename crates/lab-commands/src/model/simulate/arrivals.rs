//! Arrivals of simulated queries, in the words of `shorttail load`.

use crate::model::parse_positive;
use crate::model::rates::{Rates, parse_rates};
use crate::trace_file::read_trace;
use anyhow::bail;
use model::simulate::{Arrivals, Times};
use std::path::PathBuf;

/// Default number of queries of a run.
const QUERIES: usize = 50_000;

#[derive(Debug, clap::Args)]
pub(super) struct ArrivalArguments {
    /// Arrival rates in queries a second: 150, or 50,100,150, or 20..400 (ten rates), or 20..400/5
    /// [default: ten rates up to 95 % of the capacity of the cores]
    #[arg(long, value_name = "RATES", value_parser = parse_rates, help_heading = "Arrivals")]
    rate: Option<Rates>,
    /// Arrival process
    #[arg(long, default_value = "poisson", help_heading = "Arrivals")]
    arrivals: ArrivalsName,
    /// Rate of a ramp at the start of a run, in queries a second
    #[arg(long, value_name = "PER_S", requires = "to", value_parser = parse_positive, help_heading = "Arrivals")]
    from: Option<f64>,
    /// Rate of a ramp at the end of a run, in queries a second
    #[arg(long, value_name = "PER_S", requires = "from", value_parser = parse_positive, help_heading = "Arrivals")]
    to: Option<f64>,
    /// File of the arrival times of a trace, one a line, in seconds
    #[arg(long, value_name = "FILE", help_heading = "Arrivals")]
    trace: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ArrivalsName {
    /// Independent of each other, at a constant rate
    Poisson,
    /// At equal intervals
    Constant,
    /// Independent, at a rate that changes over the run (--from, --to)
    Ramp,
    /// As recorded (--trace); a run longer than the trace repeats it
    Trace,
}

impl ArrivalArguments {
    /// Returns whether nothing was said about arrivals.
    pub(super) fn is_default(&self) -> bool {
        let is_poisson = self.arrivals == ArrivalsName::Poisson;
        is_poisson && self.rate.is_none() && self.from.is_none() && self.trace.is_none()
    }

    /// The arrivals of each simulation, one after the other. `most_per_s` is what the cores can take.
    pub(super) fn list(&self, most_per_s: f64) -> anyhow::Result<Vec<Arrivals>> {
        let is_ramp = self.arrivals == ArrivalsName::Ramp;
        let is_trace = self.arrivals == ArrivalsName::Trace;
        if self.from.is_some() && !is_ramp {
            bail!("--from and --to belong to --arrivals ramp");
        }
        if self.trace.is_some() && !is_trace {
            bail!("--trace belongs to --arrivals trace");
        }
        if self.rate.is_some() && (is_ramp || is_trace) {
            bail!("--rate belongs to --arrivals poisson and constant; a ramp has --from and --to");
        }
        Ok(match self.arrivals {
            ArrivalsName::Poisson => self
                .rates(most_per_s)
                .into_iter()
                .map(|rate_per_s| Arrivals::Poisson { rate_per_s })
                .collect(),
            ArrivalsName::Constant => self
                .rates(most_per_s)
                .into_iter()
                .map(|rate_per_s| Arrivals::Constant { rate_per_s })
                .collect(),
            ArrivalsName::Ramp => match self.from.zip(self.to) {
                Some((from_per_s, to_per_s)) => vec![Arrivals::Ramp {
                    from_per_s,
                    to_per_s,
                }],
                None => bail!("--arrivals ramp needs --from PER_S and --to PER_S"),
            },
            ArrivalsName::Trace => match &self.trace {
                Some(path) => {
                    let instants = read_trace(path)?;
                    let ms = instants.iter().map(|instant| instant.as_secs_f64() * 1e3);
                    vec![Arrivals::Trace(ms.collect())]
                }
                None => bail!("--arrivals trace needs --trace FILE"),
            },
        })
    }

    /// Returns the rates of the option; by default ten whole numbers up to 95 % of the capacity of the cores.
    fn rates(&self, most_per_s: f64) -> Vec<f64> {
        if let Some(Rates(rates)) = &self.rate {
            return rates.clone();
        }
        let rate = |tenth: u32| 0.095 * f64::from(tenth) * most_per_s;
        (1..=10)
            .map(rate)
            .map(|rate| if rate > 20.0 { rate.round() } else { rate })
            .collect()
    }
}

/// Returns the queries of a run: as asked, else as many as recorded or measured, else [`QUERIES`].
pub(super) fn queries_of(
    queries: Option<usize>,
    replays: bool,
    arrivals: &Arrivals,
    times: &Times,
) -> usize {
    queries.unwrap_or(match (arrivals, times) {
        (Arrivals::Trace(instants_ms), _) => instants_ms.len(),
        (_, Times::Measured { searches, .. }) if replays => searches.queries(),
        _ => QUERIES,
    })
}
