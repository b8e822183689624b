//! The checks, by the names under which docs/reliability.md reports them.

mod abandoned;
mod bounded;
mod complete;
mod damage;
mod equal;
mod heavy;
mod hedging;
mod hostile;
mod killed;
mod overload;
mod partial;
mod rolling;

use crate::verdict::Verdict;

/// Upper limit on the attempts at a check whose times fail.
const TRIES_MAX: u32 = 3;

/// Settings of a run of checks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    /// Whether the run has the full size; otherwise it is small.
    pub(crate) full: bool,
    /// Whether the protection that the check guards is removed.
    pub(crate) sabotage: bool,
    pub(crate) seed: u64,
}

impl Run {
    /// Returns a time limit in milliseconds. The small size gets more, because it runs beside other work wherever tests
    /// run.
    pub(crate) fn limit_ms(&self, limit_ms: f64) -> f64 {
        limit_ms * self.size(4.0, 1.0)
    }

    /// Returns `small` or `full`, according to the size of the run.
    pub(crate) fn size<T>(&self, small: T, full: T) -> T {
        if self.full { full } else { small }
    }
}

/// A check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "verbatim")]
pub(crate) enum Check {
    /// Processes answer as one process does
    #[value(name = "equal")]
    Equal,
    /// Ten times too much leaves the server as good as its best
    V1,
    /// Work that nobody waits for is given up
    V2,
    /// A few heavy queries do not slow the light ones down
    V3,
    /// What an answer lacks is told, whatever happens to index servers
    V4,
    /// No query fails while replicas are killed and stopped
    V5,
    /// No query fails while everything is restarted in turn
    V6,
    /// A second call pays where a replica stalls now and then
    V7,
    /// Clients that stall cost the others nothing
    V8,
    /// An answer that flags nothing equals the one without a time limit
    #[value(name = "complete")]
    Complete,
    /// The worst requests keep their bounds of bytes, memory and time
    #[value(name = "bounded")]
    Bounded,
    /// No answer is wrong while files change under the servers
    V9,
}

impl Check {
    pub(crate) const ALL: &[Check] = &[
        Check::Equal,
        Check::V1,
        Check::V2,
        Check::V3,
        Check::V4,
        Check::V5,
        Check::V6,
        Check::V7,
        Check::V8,
        Check::Complete,
        Check::Bounded,
        Check::V9,
    ];

    /// Runs the check, and repeats it where only times failed: other work on the machine may have disturbed them. A
    /// violated invariant is never retried, nor is a check under sabotage.
    pub(crate) async fn run(self, run: &Run) -> anyhow::Result<Verdict> {
        let mut tries = 1;
        loop {
            let mut verdict = self.run_once(run).await?;
            verdict.tries = tries;
            if tries == TRIES_MAX || run.sabotage || !verdict.may_be_noise() {
                return Ok(verdict);
            }
            eprintln!("{}", verdict.line());
            tries += 1;
        }
    }

    async fn run_once(self, run: &Run) -> anyhow::Result<Verdict> {
        match self {
            Check::Equal => equal::run(run).await,
            Check::V1 => overload::run(run).await,
            Check::V2 => abandoned::run(run).await,
            Check::V3 => heavy::run(run).await,
            Check::V4 => partial::run(run).await,
            Check::V5 => killed::run(run).await,
            Check::V6 => rolling::run(run).await,
            Check::V7 => hedging::run(run).await,
            Check::V8 => hostile::run(run).await,
            Check::Complete => complete::run(run).await,
            Check::Bounded => bounded::run(run).await,
            Check::V9 => damage::run(run).await,
        }
    }
}
