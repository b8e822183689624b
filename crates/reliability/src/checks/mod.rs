//! The checks, by the names under which docs/reliability.md reports them.

mod abandoned;
mod bodies;
mod bounded;
mod complete;
mod damage;
mod durable;
mod equal;
mod full_disk;
mod heavy;
mod hedging;
mod hostile;
mod indexes;
mod killed;
mod overload;
mod partial;
mod rolling;
mod seats;
mod settings;
mod soak;
mod storm;

use crate::verdict::Verdict;
pub(crate) use settings::Run;

/// Upper limit on the attempts at a check whose times fail.
const TRIES_MAX: u32 = 3;

/// A check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "verbatim")]
pub(crate) enum Check {
    /// Processes answer as one process does
    #[value(name = "equal")]
    Equal,
    /// Ten times too much leaves the server as good as its best
    V1,
    /// Work of disconnected clients is cancelled
    V2,
    /// A few heavy queries do not slow the light ones down
    V3,
    /// Every incomplete answer says so, whatever happens to index servers
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
    /// Bodies of any shape keep the limit on memory
    #[value(name = "bodies")]
    Bodies,
    /// Silent and slow connections close no port
    #[value(name = "seats")]
    Seats,
    /// No answer is wrong while files change under the servers
    V9,
    /// What a server that writes has acknowledged is there after it was killed
    #[value(name = "durable")]
    Durable,
    /// No query fails, or waits, while generations change a hundred times a second
    #[value(name = "storm")]
    Storm,
    /// Many indexes in one process answer for themselves, as fast as one alone
    #[value(name = "indexes")]
    Indexes,
    /// A full disk loses nothing acknowledged and fails no query
    #[value(name = "full-disk")]
    FullDisk,
    /// Writes, merges and searches for a long time: nothing grows, nothing is left behind
    #[value(name = "soak")]
    Soak,
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
        Check::Bodies,
        Check::Seats,
        Check::V9,
        Check::Durable,
        Check::Storm,
        Check::Indexes,
        Check::FullDisk,
        Check::Soak,
    ];

    /// Returns whether other work on the machine would spoil the check: it is about times, and little else.
    pub(crate) fn judges_times(self) -> bool {
        match self {
            Check::V1
            | Check::V2
            | Check::V3
            // Its share of errors depends on the timeouts of searches.
            | Check::V4
            | Check::V7
            | Check::V8
            | Check::Bounded
            | Check::Seats
            | Check::Storm
            | Check::Indexes => true,
            Check::Equal
            | Check::V5
            | Check::V6
            | Check::Complete
            | Check::Bodies
            | Check::V9
            | Check::Durable
            | Check::FullDisk
            | Check::Soak => false,
        }
    }

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
            Check::Bodies => bodies::run(run).await,
            Check::Seats => seats::run(run).await,
            Check::V9 => damage::run(run).await,
            Check::Durable => durable::run(run).await,
            Check::Storm => storm::run(run).await,
            Check::Indexes => indexes::run(run).await,
            Check::FullDisk => full_disk::run(run).await,
            Check::Soak => soak::run(run).await,
        }
    }
}
