//! Table of the requests that run, kept from lines that may be lost.

use super::choose::Rule;
use super::line::Line;
use std::collections::BTreeMap;

/// Effect of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noted {
    /// A request began.
    Begun,
    /// A request ended.
    Ended,
    /// A request began, and that of the same thread before it ended: its last line was lost.
    EndedLost,
    /// The table is full.
    Full,
    /// The thread is not mapped.
    Unknown,
}

/// Running requests.
///
/// As published, the first line of a RID begins it and the second ends it, so that a lost line turns every later
/// one around. Mended, a thread has one request: a line with another RID ends it, and it ends by itself after
/// `age_max_ms`. One wrong request may stand until the next line of its thread.
#[derive(Debug)]
pub(super) struct Requests {
    rule: Rule,
    requests_max: usize,
    age_max_ms: u64,
    by_rid: BTreeMap<Box<str>, Running>,
}

#[derive(Debug, Clone, Copy)]
struct Running {
    tid: u32,
    begun_ms: u64,
}

impl Requests {
    pub(super) fn new(rule: Rule, requests_max: usize, age_max_ms: u64) -> Requests {
        Requests {
            rule,
            requests_max,
            age_max_ms,
            by_rid: BTreeMap::new(),
        }
    }

    /// Returns the number of running requests.
    pub(super) fn len(&self) -> usize {
        self.by_rid.len()
    }

    /// Notes a line that is read at `now_ms`. A time of the line that is later, or earlier by `age_max_ms` or
    /// more, is that of another clock; `now_ms` then stands for it.
    pub(super) fn note(&mut self, line: &Line<'_>, now_ms: u64) -> Noted {
        if self.by_rid.remove(line.rid).is_some() {
            return Noted::Ended;
        }
        let lost = self.rule == Rule::Mended && self.end_of(line.tid);
        if self.by_rid.len() >= self.requests_max {
            return Noted::Full;
        }
        let believed = now_ms
            .checked_sub(line.ms)
            .is_some_and(|age| age < self.age_max_ms);
        let running = Running {
            tid: line.tid,
            begun_ms: if believed { line.ms } else { now_ms },
        };
        self.by_rid.insert(line.rid.into(), running);
        if lost { Noted::EndedLost } else { Noted::Begun }
    }

    /// Ends all requests of a thread. Returns whether there was one.
    pub(super) fn end_of(&mut self, tid: u32) -> bool {
        let before = self.by_rid.len();
        self.by_rid.retain(|_, running| running.tid != tid);
        self.by_rid.len() < before
    }

    /// Ends the requests of `age_max_ms` or more. Returns their number, 0 for the published rule.
    pub(super) fn expire(&mut self, now_ms: u64) -> usize {
        if self.rule == Rule::AsPublished {
            return 0;
        }
        let before = self.by_rid.len();
        let age_max_ms = self.age_max_ms;
        let young = |running: &Running| now_ms.saturating_sub(running.begun_ms) < age_max_ms;
        self.by_rid.retain(|_, running| young(running));
        before - self.by_rid.len()
    }

    /// Returns the oldest request of each thread with one: its RID and when it began.
    pub(super) fn oldest(&self) -> BTreeMap<u32, (&str, u64)> {
        let mut oldest = BTreeMap::new();
        for (rid, running) in &self.by_rid {
            let entry = oldest.entry(running.tid);
            let kept = entry.or_insert((&**rid, running.begun_ms));
            if running.begun_ms < kept.1 {
                *kept = (rid, running.begun_ms);
            }
        }
        oldest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(requests: &mut Requests, tid: u32, rid: &str, ms: u64) -> Noted {
        requests.note(&Line { tid, rid, ms }, ms)
    }

    #[test]
    fn a_lost_line_flips_a_request_as_published_only() {
        // The end of q1 is lost, and its thread serves q2, then q3.
        let after = |rule| {
            let mut requests = Requests::new(rule, 10, 10_000);
            assert_eq!(note(&mut requests, 1, "q1", 0), Noted::Begun);
            note(&mut requests, 1, "q2", 100);
            assert_eq!(note(&mut requests, 1, "q2", 150), Noted::Ended);
            requests.oldest().into_keys().collect::<Vec<_>>()
        };
        assert_eq!(after(Rule::AsPublished), [1], "q1 runs for ever");
        assert!(after(Rule::Mended).is_empty());
        // The first line of q1 is lost: its last one begins it, until the next of the thread.
        let mut requests = Requests::new(Rule::Mended, 10, 10_000);
        assert_eq!(note(&mut requests, 1, "q1", 50), Noted::Begun);
        assert_eq!(note(&mut requests, 1, "q2", 60), Noted::EndedLost);
        assert_eq!(requests.oldest()[&1], ("q2", 60));
        assert_eq!(note(&mut requests, 1, "q2", 70), Noted::Ended);
        assert_eq!(requests.len(), 0);
    }

    #[test]
    fn clocks_ages_and_numbers_are_bounded() {
        let mut requests = Requests::new(Rule::Mended, 2, 1_000);
        for (tid, ms) in [(1, 5_001), (2, 4_000)] {
            let rid = tid.to_string();
            let line = Line { tid, rid: &rid, ms };
            requests.note(&line, 5_000);
            assert_eq!(
                requests.oldest()[&tid].1,
                5_000,
                "the time of another clock"
            );
        }
        assert_eq!(note(&mut requests, 3, "c", 5_000), Noted::Full);
        assert_eq!((requests.expire(5_999), requests.expire(6_000)), (0, 2));
        assert!(!requests.end_of(1));
    }
}
