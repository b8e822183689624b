//! Arguments of the simulation of handlers.

use crate::model::rates::{Rates, parse_loads, parse_share};
use crate::model::simulate::arrivals::ArrivalArguments;
use crate::model::simulate::machine::MachineArguments;
use crate::times::{positive_ms, positive_us, us};
use clap::builder::RangedU64ValueParser;
use model::simulate::Times;
use schedule::board::Policy;
use std::sync::Arc;

#[derive(Debug, clap::Args)]
pub(in crate::model::simulate) struct HandlersArguments {
    /// Numbers of handlers of an index server that share the ranges of queries: 2,4,16. Policies are
    /// then those of the servers
    #[arg(long, value_name = "N,...", value_delimiter = ',',
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=4096),
        conflicts_with_all = ["cores", "smt_slowdown", "contention", "disturbances", "partitions",
            "speed_up", "layout", "degree", "queue"], help_heading = "With --handlers")]
    pub(in crate::model::simulate) handlers: Vec<usize>,
    /// Shares of the work that they can do: 0.5, or 0.1,0.3, or 0.1..0.9 in tenths,
    /// or 0.1..0.9/5 [default: 0.1..0.9]
    #[arg(long, value_name = "LOADS", value_parser = parse_loads, requires = "handlers",
        conflicts_with_all = ["rate", "arrivals", "from", "to", "trace"], help_heading = "With --handlers")]
    pub(in crate::model::simulate) loads: Option<Rates>,
    /// Quantiles of the response time, a table each
    #[arg(long, value_name = "SHARE,...", value_delimiter = ',', default_value = "0.99,0.999",
        value_parser = parse_share, requires = "handlers", help_heading = "With --handlers")]
    pub(in crate::model::simulate) quantile: Vec<f64>,
    /// Longest search time; longer ones take this time
    #[arg(long, value_name = "TIME", value_parser = positive_ms(), requires = "handlers", help_heading = "With --handlers")]
    pub(in crate::model::simulate) max: Option<f64>,
    /// Time of a range [default: what the policy wants, by the predicted time]
    #[arg(long, value_name = "TIME", value_parser = positive_us(), requires = "handlers", help_heading = "With --handlers")]
    pub(in crate::model::simulate) range: Option<f64>,
    /// Time from a wake-up to the first instruction of a sleeping handler
    #[arg(long, value_name = "TIME", default_value = "32us", value_parser = us(), requires = "handlers", help_heading = "With --handlers")]
    pub(in crate::model::simulate) wake: f64,
    /// Time that a joining handler takes before its first range
    #[arg(long, value_name = "TIME", default_value = "5us", value_parser = us(), requires = "handlers", help_heading = "With --handlers")]
    pub(in crate::model::simulate) join: f64,
    /// Time that each further range adds
    #[arg(long, value_name = "TIME", default_value = "0.3us", value_parser = us(), requires = "handlers", help_heading = "With --handlers")]
    pub(in crate::model::simulate) further_range: f64,
    /// Work of a helper in a unit of time, the first handler's being 1
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "0.9",
        requires = "handlers",
        help_heading = "With --handlers"
    )]
    pub(in crate::model::simulate) efficiency: f64,
    /// Standard deviation of the logarithm of predicted over true time
    #[arg(
        long,
        value_name = "SIGMA",
        default_value = "0.5",
        requires = "handlers",
        help_heading = "With --handlers"
    )]
    pub(in crate::model::simulate) prediction: f64,
    /// Longest wait of a query while others run; a tenth of --deadline at most
    #[arg(long, value_name = "TIME", value_parser = positive_ms(), requires = "handlers", help_heading = "With --handlers")]
    pub(in crate::model::simulate) parked_max: Option<f64>,
    /// Wake idle handlers in random order, not the fast ones first
    #[arg(long, requires = "handlers", help_heading = "With --handlers")]
    pub(in crate::model::simulate) random_wakes: bool,
}

/// What is asked: the arguments of `model simulate` that concern handlers.
pub(in crate::model::simulate) struct Asked<'a> {
    pub(in crate::model::simulate) given: &'a HandlersArguments,
    pub(in crate::model::simulate) arrivals: &'a ArrivalArguments,
    pub(in crate::model::simulate) machine: &'a MachineArguments,
    pub(in crate::model::simulate) times: &'a Times,
    pub(in crate::model::simulate) policies: &'a [Arc<dyn Policy>],
    pub(in crate::model::simulate) deadline_ms: Option<f64>,
    pub(in crate::model::simulate) queries: Option<usize>,
    pub(in crate::model::simulate) replays: bool,
    pub(in crate::model::simulate) runs: usize,
    pub(in crate::model::simulate) seed: u64,
    pub(in crate::model::simulate) json: bool,
}
