//! Figures of the whole crawl in the progress of a run: URLs by state, hosts that wait, the rate.

use super::crawl::Crawl;
use super::setup::{now, time_text};
use crate::frontier::{Failure, Waiting};
use std::time::Instant;
use wire::{UrlsInState, WaitingHost};

/// Waiting hosts that are named.
const WAITING_MAX: usize = 20;

impl Crawl {
    /// Counts URLs and hosts anew, and the rate of this moment.
    pub(super) fn count(&mut self) {
        let now = now();
        let counts = self.frontier.counts(now);
        let states = counts.states.iter().map(|(state, urls)| UrlsInState {
            state: state.name().to_owned(),
            reason: state.reason().to_owned(),
            explanation: state.to_string(),
            urls: *urls,
        });
        let waiting = self.frontier.waiting(now, WAITING_MAX).into_iter();
        let waiting = waiting.map(
            |Waiting {
                 origin,
                 until,
                 reason,
             }| WaitingHost {
                origin,
                until: time_text(until),
                reason: reason.name().to_owned(),
            },
        );
        let progress = &mut self.progress;
        progress.states = states.collect();
        progress.waiting = waiting.collect();
        progress.known = counts.known + counts.unchecked;
        progress.queued = counts.queued + counts.unchecked;
        progress.hosts = counts.hosts;
        progress.hosts_waiting = counts.hosts_waiting;
        let answered = progress.answered();
        progress.pages_per_s = self.rate.sample(Instant::now(), answered);
    }

    /// Counts a visit without a usable answer.
    pub(super) fn count_failure(&mut self, failure: Failure) {
        self.progress.failed += 1;
        let causes = &mut self.progress.failures;
        *causes.entry(failure.name().to_owned()).or_default() += 1;
    }
}
