//! A query on the board of an index server in this process, as `serve` runs it, with the schedule of its search.

use anyhow::Context;
use engine::SearchOptions;
use index::Index;
use schedule::board::PolicyChoice;
use serve::{Cluster, FrontEnd, FrontEndOptions, Generations, HandlerOptions, Topology};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::SearchAnswer;

/// Upper limit on the runs, and on their total time, before the time of the query can be predicted. A server cuts no
/// search by a prediction that rests on fewer than 64.
const RUNS_MAX: u64 = 100;
const RUNS_TIME_MAX: Duration = Duration::from_secs(5);

/// Runs a query until its time is known, and returns its last answer with the number of earlier runs.
pub(super) fn explain_schedule(
    index: Arc<Index>,
    query: &str,
    options: &SearchOptions,
    handlers: usize,
    policy: PolicyChoice,
) -> anyhow::Result<(SearchAnswer, u64)> {
    let topology = Topology {
        handlers,
        ..Topology::default()
    };
    let handlers = HandlerOptions {
        policy,
        ..HandlerOptions::default()
    };
    let cluster = Cluster::in_process(&Generations::fixed(index), &topology, &[], &handlers)?;
    let front_end = FrontEnd::new(cluster, FrontEndOptions::default());
    let options = SearchOptions {
        trace: true,
        ..options.clone()
    };
    let runtime = serve::io_runtime().context("cannot start the threads of a server")?;
    runtime.block_on(async {
        let begun = Instant::now();
        let mut earlier_runs = 0;
        loop {
            let answer = front_end.search(query, &options).await?;
            let is_known = |one: &wire::Schedule| one.prediction_is_trusted;
            let is_last = answer.schedule.iter().all(is_known)
                || earlier_runs >= RUNS_MAX
                || begun.elapsed() > RUNS_TIME_MAX;
            if is_last {
                return Ok((answer, earlier_runs));
            }
            earlier_runs += 1;
        }
    })
}
