//! Options of `shorttail load`, and the settings of its run.

use crate::trace_file::read_trace;
use ::load::{
    Arrivals, Load, QueryStream, RateSearch, SearchTime, Settings, Target, Think, Writes,
};
use anyhow::{Context, bail};
use clap::builder::RangedU64ValueParser;
use console::query_file::read_queries;
use corpus::open_decompressed;
use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;
use units::Times;

const EXAMPLES: &str = "\
URL is http://HOST:PORT of a Shorttail server, or a template in which {query} stands for the query:
http://HOST:PORT/INDEX/_search?q={query} for OpenSearch, .../select?q={query} for Solr.

Response time counts from the instant at which a request was due, not from the one at which it was
sent: requests that become due while the server stands still wait, and their wait is included.
Service time counts from sending. A percentile is shown if at least ten samples lie beyond it.

Exit codes: 0 measured; 1 no answer, target not kept, or stopped; 2 wrong usage; 3 measured, but the
figures are not those of a server that keeps up: unanswered (requests failed or were refused),
client-limited (sent late, or dropped) or unstable, unless --despite names it.

EXAMPLES:
    shorttail load http://127.0.0.1:7700 --queries queries.txt --rate 150 --duration 60s
        Offer 150 queries a second at random instants, as independent users would
    shorttail load http://127.0.0.1:7700 --queries queries.txt --clients 8 --think exp:50ms
        Eight clients that send a query, wait for its answer and think
    shorttail load http://127.0.0.1:7700 --queries queries.txt --arrivals ramp --from 10 --to 400 \\
        --duration 5m --save ramp
        Raise the rate beyond the capacity, and keep every sample
    shorttail load http://127.0.0.1:7700 --queries queries.txt --rate 150 \\
        --writes docs.jsonl --write-to http://127.0.0.1:7701 --write-rate 1000
        The same while a thousand documents a second are written to a server with --writable
    shorttail load http://127.0.0.1:7700 --queries queries.txt --search p99=300ms
        Find the highest rate that keeps a target
    shorttail load 'http://127.0.0.1:7700/search?q={query}&k=1' --queries queries.txt --rate 150 \\
        --search-time 0.5ms,5ms
        Join given queries until a search takes half a millisecond on average, and 5 ms at p99";

/// Offer load to a search service and measure its response times
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct LoadArguments {
    /// URL of the service
    #[arg(value_name = "URL")]
    url: String,
    /// File of the queries: one a line, or id<TAB>query
    #[arg(long, value_name = "FILE", help_heading = "Queries")]
    queries: PathBuf,
    /// Order of the queries
    #[arg(
        long,
        value_name = "ORDER",
        default_value = "as-is",
        help_heading = "Queries"
    )]
    order: Order,
    /// Wanted search time of a query alone, mean or mean,p99: given queries are joined by OR and picked until they
    /// have it
    #[arg(long, value_name = "MEAN", value_parser = SearchTime::parse, help_heading = "Queries")]
    pub(super) search_time: Option<SearchTime>,
    /// Arrival process of requests
    #[arg(
        long,
        value_name = "PROCESS",
        default_value = "poisson",
        help_heading = "Arrivals"
    )]
    arrivals: Process,
    /// Requests a second: of the whole run, of a burst, or at the start of --search
    #[arg(long, value_name = "QPS",
          required_unless_present_any = ["clients", "from", "trace", "search"], help_heading = "Arrivals")]
    pub(super) rate: Option<f64>,
    /// Rate of a ramp at the start, in requests a second
    #[arg(long, value_name = "QPS", requires = "to", help_heading = "Arrivals")]
    from: Option<f64>,
    /// Rate of a ramp at the end, in requests a second
    #[arg(long, value_name = "QPS", requires = "from", help_heading = "Arrivals")]
    to: Option<f64>,
    /// Duration of a burst
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = Times::ANY.durations(), help_heading = "Arrivals")]
    on: Duration,
    /// Pause between two bursts
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = Times::ANY.durations(), help_heading = "Arrivals")]
    off: Duration,
    /// File of the arrival times of a trace, one a line, in seconds
    #[arg(long, value_name = "FILE", help_heading = "Arrivals")]
    trace: Option<PathBuf>,
    /// Number of clients of a closed loop, in place of arrivals; each waits for its answer before it sends the next
    /// request
    #[arg(long, alias = "closed", value_name = "N",
          conflicts_with_all = ["arrivals", "rate", "from", "trace", "search"],
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000), help_heading = "Closed loop")]
    clients: Option<usize>,
    /// Think time of a closed loop, from an answer to the next request: none, a TIME, exp:MEAN, FROM..TO
    #[arg(long, value_name = "THINK", requires = "clients", value_parser = parse_think, help_heading = "Closed loop")]
    think: Option<Think>,
    /// Find the highest rate at which a percentile keeps a target, such as p99=300ms
    #[arg(long, value_name = "TARGET", value_parser = RateSearch::parse,
          conflicts_with_all = ["arrivals", "from", "trace", "repeat"], help_heading = "Measurement")]
    pub(super) search: Option<RateSearch>,
    /// Duration of the measurement
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = Times::ANY.durations(), help_heading = "Measurement")]
    duration: Duration,
    /// Duration of the warm-up before it, whose requests are not counted
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = Times::ANY.durations(), help_heading = "Measurement")]
    warm_up: Duration,
    /// Number of repetitions, each with the next seed
    #[arg(long, value_name = "N", default_value = "1",
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000), help_heading = "Measurement")]
    pub(super) repeat: usize,
    /// Seed of arrivals, think times and orders
    #[arg(
        long,
        value_name = "SEED",
        default_value = "1",
        help_heading = "Measurement"
    )]
    seed: u64,
    /// Time limit of each answer
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = Times::ANY.durations(), help_heading = "Measurement")]
    timeout: Duration,
    /// Upper limit on open connections; a request without a free one is dropped
    #[arg(long, value_name = "N", default_value = "1000",
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=60_000), help_heading = "Measurement")]
    connections: usize,
    /// Folder in which every sample is kept, as run.json and samples.parquet; with --search, those of each rate in
    /// a folder of its own, probe-1, probe-2 and so on, beside search.json
    #[arg(long, value_name = "RUN")]
    pub(super) save: Option<PathBuf>,
    /// File of documents, lines of JSON, that are written beside the load
    #[arg(long, value_name = "FILE", requires_all = ["write_to", "write_rate"], conflicts_with = "search", help_heading = "Writes beside the load")]
    writes: Option<PathBuf>,
    /// Admin address of a server that writes, as http://HOST:PORT
    #[arg(
        long,
        value_name = "URL",
        requires = "writes",
        help_heading = "Writes beside the load"
    )]
    write_to: Option<String>,
    /// Changes a second, in ten batches
    #[arg(
        long,
        value_name = "N",
        requires = "writes",
        help_heading = "Writes beside the load"
    )]
    write_rate: Option<f64>,
    /// Percent of the changes that replace a document sent before
    #[arg(long, value_name = "PERCENT", default_value = "0", value_parser = clap::value_parser!(u8).range(0..=100), help_heading = "Writes beside the load")]
    write_replacing: u8,
    /// Percent of the changes that delete a document sent before
    #[arg(long, value_name = "PERCENT", default_value = "0", value_parser = clap::value_parser!(u8).range(0..=100), help_heading = "Writes beside the load")]
    write_deleting: u8,
    /// Labels with which a run is good enough, so that the exit code is 0: client-limited, unanswered, unstable
    #[arg(long, value_name = "LABEL,...", value_delimiter = ',',
          value_parser = ["client-limited", "unanswered", "unstable"], help_heading = "Measurement")]
    pub(super) despite: Vec<String>,
    /// Skip the measurement of this client's own limits, against a server that does nothing
    #[arg(long, help_heading = "Measurement")]
    pub(super) no_self_check: bool,
    /// Print one object of JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Process {
    /// Independent of each other, at a constant rate
    Poisson,
    /// At equal intervals
    Constant,
    /// Independent, at a rate that grows (--from, --to)
    Ramp,
    /// Independent, in bursts (--on, --off)
    Bursts,
    /// As recorded (--trace)
    Trace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Order {
    /// All queries in the order of the file
    AsIs,
    /// Each query once, in the order of the file
    Unique,
    /// All queries of the file, shuffled
    Real,
    /// All queries of the file, sorted by their words
    Sorted,
    /// Drawn at random, the query of rank r with a probability proportional to 1/r
    Zipf,
}

/// Number of requests of a stream with Zipf popularity before it repeats.
const ZIPF_LENGTH: usize = 1_000_000;

impl LoadArguments {
    /// Returns the settings of the run.
    pub(super) fn settings(&self) -> anyhow::Result<Settings> {
        let target = Target::parse(&self.url)?;
        let queries = self.stream()?;
        let mut settings = match self.clients {
            Some(clients) => {
                let think = self.think.unwrap_or(Think::None);
                Settings::closed(target, queries, clients, think, self.duration)
            }
            None => Settings::open(target, queries, self.process()?, self.duration),
        };
        settings.warm_up = self.warm_up;
        settings.seed = self.seed;
        settings.timeout = self.timeout;
        settings.drain = self.timeout;
        settings.connections_max = self.connections;
        if let Load::Open { arrivals } = &settings.load {
            // Reports an invalid process before the first request.
            arrivals.draw(Duration::from_millis(1), self.seed)?;
        }
        Ok(settings)
    }

    /// Returns the writes beside the load, where there are any.
    pub(super) fn writes(&self) -> anyhow::Result<Option<Writes>> {
        let (Some(file), Some(url), Some(rate)) = (&self.writes, &self.write_to, self.write_rate)
        else {
            return Ok(None);
        };
        let mut lines = Vec::new();
        open_decompressed(file)
            .and_then(|mut input| input.read_to_end(&mut lines))
            .with_context(|| format!("{}", file.display()))?;
        let shares =
            [self.write_replacing, self.write_deleting].map(|share| f64::from(share) / 100.0);
        Ok(Some(Writes::new(
            url,
            &lines,
            rate,
            (shares[0], shares[1]),
        )?))
    }

    fn stream(&self) -> anyhow::Result<QueryStream> {
        let queries = read_queries(&self.queries)?;
        if queries.is_empty() {
            bail!(
                "{}: no queries in it; write one a line, or id<TAB>query",
                self.queries.display()
            );
        }
        let stream = QueryStream::as_is(queries.into_iter().map(|query| query.text));
        Ok(self.ordered(stream))
    }

    /// Fails for orders that send made queries in other proportions than those which give the wanted search time.
    pub(super) fn check_order(&self) -> anyhow::Result<()> {
        if self.search_time.is_some() && matches!(self.order, Order::Unique | Order::Zipf) {
            bail!(
                "--search-time makes queries in proportions of their own; leave out --order, or give real or sorted"
            );
        }
        Ok(())
    }

    /// Returns queries in the order of sending.
    pub(super) fn ordered(&self, stream: QueryStream) -> QueryStream {
        match self.order {
            Order::AsIs => stream,
            Order::Unique => stream.unique(),
            Order::Real => stream.real(self.seed),
            Order::Sorted => stream.sorted(),
            Order::Zipf => stream.zipf(1.0, ZIPF_LENGTH, self.seed),
        }
    }

    fn process(&self) -> anyhow::Result<Arrivals> {
        let rate_qps = || match (self.rate, &self.search) {
            (Some(rate_qps), _) => rate_qps,
            (None, Some(search)) => search.from_qps,
            (None, None) => usage("--rate QPS is missing: how many requests a second"),
        };
        Ok(match self.arrivals {
            Process::Poisson if self.from.is_some() => {
                usage("--from and --to belong to --arrivals ramp")
            }
            Process::Poisson if self.trace.is_some() => {
                usage("--trace belongs to --arrivals trace")
            }
            Process::Poisson => Arrivals::Poisson {
                rate_qps: rate_qps(),
            },
            Process::Constant => Arrivals::Constant {
                rate_qps: rate_qps(),
            },
            Process::Bursts => Arrivals::Bursts {
                rate_qps: rate_qps(),
                on: self.on,
                off: self.off,
            },
            Process::Ramp => match (self.from, self.to) {
                (Some(from_qps), Some(to_qps)) => Arrivals::Ramp { from_qps, to_qps },
                _ => usage("--arrivals ramp needs --from QPS and --to QPS"),
            },
            Process::Trace => match &self.trace {
                Some(path) => Arrivals::Trace {
                    instants: read_trace(path)?,
                },
                None => usage("--arrivals trace needs --trace FILE"),
            },
        })
    }
}

/// Ends the program as clap does for wrong usage.
fn usage(message: &str) -> ! {
    clap::Error::raw(
        clap::error::ErrorKind::MissingRequiredArgument,
        format!("{message}; see `shorttail load --help`\n"),
    )
    .exit()
}

fn parse_think(text: &str) -> Result<Think, String> {
    let read = Times::ANY.durations();
    if text == "none" {
        return Ok(Think::None);
    }
    if let Some(mean) = text.strip_prefix("exp:") {
        return read(mean).map(Think::Exponential);
    }
    match text.split_once("..") {
        Some((from, to)) => {
            let (from, to) = (read(from)?, read(to)?);
            match from <= to {
                true => Ok(Think::Uniform(from, to)),
                false => Err("the first time is the shorter one; write 10ms..50ms".into()),
            }
        }
        None => read(text).map(Think::Fixed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn think_times_are_read_or_refused() {
        let ms = Duration::from_millis;
        assert_eq!(parse_think("none"), Ok(Think::None));
        assert_eq!(parse_think("50ms"), Ok(Think::Fixed(ms(50))));
        assert_eq!(parse_think("exp:50ms"), Ok(Think::Exponential(ms(50))));
        assert_eq!(
            parse_think("10ms..50ms"),
            Ok(Think::Uniform(ms(10), ms(50)))
        );
        for wrong in ["", "exp:", "5", "50ms..10ms", "..", "exp:-1s"] {
            assert!(parse_think(wrong).is_err(), "{wrong}");
        }
    }
}
