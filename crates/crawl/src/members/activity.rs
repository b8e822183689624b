//! End of a run: no member has anything to do, and nothing is on its way between two of them.
//!
//! A member is quiet when nothing is due, nothing under way, and each URL that it handed over is acknowledged. Each member
//! that has nothing to do asks all others in waves. Two waves one after the other with all members quiet and the same
//! activities prove the end (the argument of Mattern 1987, "Algorithms for distributed termination detection", section 6):
//! between them is an instant at which all were quiet, and a message on its way then would have kept its sender from being
//! quiet. Whoever finds this out tells the others before it ends.
use super::client::Client;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use wire::members::{ActivityReply, ActivityRequest, ConcludeRequest, Sender};

/// Time between two waves.
const WAVE_EVERY: Duration = Duration::from_millis(200);
/// Attempts to tell a member of the end.
const CONCLUDE_ATTEMPTS: usize = 3;

/// State of this member, as the others see it.
#[derive(Debug, Default)]
pub(crate) struct Figures(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    activity: u64,
    is_running: bool,
    is_idle: bool,
    is_quiet: bool,
    end: Option<RunEnd>,
}

/// Reason for the end of the run of a member that has nothing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// No member has anything to do.
    AllQuiet,
    /// Members that could not be reached within the time of the configuration.
    Unreachable(Vec<String>),
}

impl Figures {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts something that the member did or took.
    pub(crate) fn acted(&self) {
        self.set_busy();
        self.state().activity += 1;
    }

    /// Notes that the member has something to do.
    pub(crate) fn set_busy(&self) {
        let mut state = self.state();
        (state.is_running, state.is_idle, state.is_quiet) = (true, false, false);
        state.end = None;
    }

    /// Notes that the member has nothing to visit, and with `is_quiet` that nothing waits for another member either.
    /// Returns the reason for the end of the run, if it is over.
    pub(crate) fn set_idle(&self, is_quiet: bool) -> Option<RunEnd> {
        let mut state = self.state();
        (state.is_running, state.is_idle, state.is_quiet) = (true, true, is_quiet);
        state.end.take()
    }

    /// Notes that the run is over: nothing is taken any more.
    pub(crate) fn set_ended(&self) {
        *self.state() = State::default();
    }

    pub(super) fn is_running(&self) -> bool {
        self.state().is_running
    }

    fn is_idle(&self) -> bool {
        self.state().is_idle
    }

    /// Returns whether the member is quiet, and its activity.
    pub(super) fn activity(&self) -> (bool, u64) {
        let state = self.state();
        (state.is_quiet, state.activity)
    }

    /// Ends the run, if nothing has happened since the member had this activity.
    pub(super) fn conclude(&self, activity: u64) {
        let mut state = self.state();
        if state.is_quiet && state.activity == activity {
            state.end = Some(RunEnd::AllQuiet);
        }
    }

    fn give_up(&self, unreachable: Vec<String>) {
        let mut state = self.state();
        if state.is_idle {
            state.end = Some(RunEnd::Unreachable(unreachable));
        }
    }
}

/// Answers of all members at about one time.
enum Wave {
    /// All are quiet, with these activities; this member's is the last.
    Quiet(Vec<u64>),
    Busy,
    Unreachable(Vec<String>),
}

/// Task that asks the others whether the run is over.
pub(super) struct Watch {
    pub(super) others: Vec<(String, Client)>,
    pub(super) figures: std::sync::Arc<Figures>,
    pub(super) sender: Sender,
    /// Time for which a member may be unreachable.
    pub(super) patience: Duration,
}

impl Watch {
    pub(super) async fn run(mut self) {
        let mut before = None;
        let mut reached = Instant::now();
        loop {
            tokio::time::sleep(WAVE_EVERY).await;
            if !self.figures.is_idle() {
                (before, reached) = (None, Instant::now());
                continue;
            }
            match self.wave().await {
                Wave::Unreachable(names) => {
                    before = None;
                    if reached.elapsed() >= self.patience {
                        self.figures.give_up(names);
                    }
                }
                Wave::Busy => (before, reached) = (None, Instant::now()),
                Wave::Quiet(activities) if before.as_ref() == Some(&activities) => {
                    self.conclude(&activities).await;
                    before = None;
                }
                Wave::Quiet(activities) => (before, reached) = (Some(activities), Instant::now()),
            }
        }
    }

    async fn wave(&mut self) -> Wave {
        let (mut activities, mut unreachable, mut is_quiet) = (Vec::new(), Vec::new(), true);
        for (name, client) in &mut self.others {
            let request = ActivityRequest {
                sender: Some(self.sender.clone()),
            };
            match client.activity(request).await {
                Ok(reply) => {
                    let ActivityReply {
                        is_quiet: other_is_quiet,
                        activity,
                    } = reply.into_inner();
                    is_quiet &= other_is_quiet;
                    activities.push(activity);
                }
                Err(_) => unreachable.push(name.clone()),
            }
        }
        let (own_is_quiet, activity) = self.figures.activity();
        activities.push(activity);
        match (unreachable.is_empty(), is_quiet && own_is_quiet) {
            (false, _) => Wave::Unreachable(unreachable),
            (true, false) => Wave::Busy,
            (true, true) => Wave::Quiet(activities),
        }
    }

    async fn conclude(&mut self, activities: &[u64]) {
        for ((_, client), &activity) in self.others.iter_mut().zip(activities) {
            for _ in 0..CONCLUDE_ATTEMPTS {
                let request = ConcludeRequest {
                    sender: Some(self.sender.clone()),
                    activity,
                };
                if client.conclude(request).await.is_ok() {
                    break;
                }
            }
        }
        self.figures
            .conclude(activities.last().copied().unwrap_or_default());
    }
}
