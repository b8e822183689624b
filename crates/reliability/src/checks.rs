//! The checks, by the names under which docs/reliability.md reports them.

mod equal;
mod killed;
mod partial;
mod rolling;

use crate::verdict::Verdict;

/// How checks are run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    /// Full size, or small.
    pub(crate) full: bool,
    /// Without what the check guards.
    pub(crate) sabotage: bool,
    pub(crate) seed: u64,
}

impl Run {
    /// A size that depends on how much is tried.
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
    /// What an answer lacks is told, whatever happens to index servers
    V4,
    /// No query fails while replicas are killed and stopped
    V5,
    /// No query fails while everything is restarted in turn
    V6,
}

impl Check {
    pub(crate) const ALL: &[Check] = &[Check::Equal, Check::V4, Check::V5, Check::V6];

    pub(crate) async fn run(self, run: &Run) -> anyhow::Result<Verdict> {
        match self {
            Check::Equal => equal::run(run).await,
            Check::V4 => partial::run(run).await,
            Check::V5 => killed::run(run).await,
            Check::V6 => rolling::run(run).await,
        }
    }
}
