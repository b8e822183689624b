//! Schedule of a search: how the handlers of an index server shared its ranges.
use serde::{Deserialize, Serialize};

/// Schedule of a search on the handlers of an index server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// Part of the index, as `chunks 0-63`.
    pub part: String,
    /// Scheduling policy of the server, with its parameters.
    pub policy: String,
    /// Handlers of the server.
    pub handlers: u32,
    /// Ranges that the search was cut into.
    pub ranges_cut: u32,
    /// Predicted time on one handler, in microseconds.
    pub predicted_us: u64,
    /// Predicted time that a tenth of such searches exceeds, in microseconds: by it the search is cut.
    pub predicted_high_us: u64,
    /// Whether predictions of this kind of search are good enough to cut it.
    pub prediction_is_trusted: bool,
    /// Handler time spent, planning included, in microseconds.
    pub worked_us: u64,
    /// Time from the first handler to the merged hits, in microseconds.
    pub search_us: u64,
    /// Whether the search ended before all ranges were searched: its deadline passed, or its client had gone.
    pub stopped: bool,
    /// Stays of handlers, in the order in which they came.
    pub visits: Vec<Visit>,
}

/// Stay of a handler at a search.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visit {
    /// Number of the handler.
    pub handler: u32,
    /// Role in which it came.
    pub role: Role,
    /// Why it left.
    pub end: End,
    /// Start, in microseconds after the arrival of the query at the front-end.
    pub start_us: u64,
    /// Duration, in microseconds.
    pub duration_us: u64,
    /// Ranges that it searched.
    pub ranges_searched: u32,
    /// Ranges that it took and left out: the bound on their scores was below the threshold.
    pub ranges_skipped: u32,
    /// CPU time of its thread, in microseconds, where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_us: Option<u64>,
    /// Time that its thread waited for a CPU, in microseconds, where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_queue_us: Option<u64>,
}

/// Role of a handler at a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It is the first one: it plans and cuts.
    #[default]
    Begins,
    /// It goes on with a parked search.
    Resumes,
    /// It works beside others.
    Helps,
}

/// End of the stay of a handler.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// No range was left to take.
    #[default]
    Finished,
    /// The policy sent it to another search; others went on with this one.
    Left,
    /// The policy sent it to another search, and no handler worked on this one for a while.
    Parked,
    /// The deadline passed, or the client had gone.
    Stopped,
}

impl Role {
    /// Returns the verb, as in the JSON.
    pub fn verb(self) -> &'static str {
        match self {
            Role::Begins => "begins",
            Role::Resumes => "resumes",
            Role::Helps => "helps",
        }
    }
}

impl End {
    /// Returns the participle, as in the JSON.
    pub fn participle(self) -> &'static str {
        match self {
            End::Finished => "finished",
            End::Left => "left",
            End::Parked => "parked",
            End::Stopped => "stopped",
        }
    }
}

impl Schedule {
    /// Returns the number of ranges that handlers searched.
    pub fn ranges_searched(&self) -> u32 {
        self.visits.iter().map(|one| one.ranges_searched).sum()
    }

    /// Returns the number of ranges that handlers left out by their bounds.
    pub fn ranges_skipped(&self) -> u32 {
        self.visits.iter().map(|one| one.ranges_skipped).sum()
    }

    /// Returns the degree: most handlers at work at one time.
    pub fn degree(&self) -> u32 {
        let mut edges = Vec::with_capacity(self.visits.len() * 2);
        for visit in &self.visits {
            edges.push((visit.start_us, 1));
            edges.push((visit.start_us.saturating_add(visit.duration_us), -1));
        }
        // A handler that leaves and one that comes in the same microsecond were not there together.
        edges.sort_unstable();
        let mut at_work = 0i32;
        let most = edges.iter().map(|&(_, change)| {
            at_work += change;
            at_work
        });
        // Even a stay of no microsecond was one.
        most.max()
            .unwrap_or(0)
            .max(i32::from(!self.visits.is_empty())) as u32
    }

    /// Sums up the schedule in one line.
    pub fn summary(&self) -> String {
        let ranges = match self.ranges_cut {
            1 => "1 range".to_owned(),
            cut => format!(
                "{cut} ranges, {} searched, {} skipped by their bounds",
                self.ranges_searched(),
                self.ranges_skipped()
            ),
        };
        format!(
            "{}, {} handlers: {ranges}; degree {}; predicted {} µs{}, took {} µs of handlers in {} µs{}",
            self.policy,
            self.handlers,
            self.degree(),
            self.predicted_us,
            match self.prediction_is_trusted {
                true => "",
                false => " (too uncertain to cut)",
            },
            self.worked_us,
            self.search_us,
            match self.stopped {
                true => ", stopped",
                false => "",
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(start_us: u64, duration_us: u64) -> Visit {
        Visit {
            start_us,
            duration_us,
            ranges_searched: 2,
            ranges_skipped: 1,
            ..Visit::default()
        }
    }

    #[test]
    fn the_degree_is_the_most_handlers_at_one_time() {
        let of = |visits: Vec<Visit>| Schedule {
            visits,
            ..Schedule::default()
        };
        assert_eq!(of(vec![]).degree(), 0);
        assert_eq!(of(vec![visit(7, 0)]).degree(), 1);
        assert_eq!(of(vec![visit(0, 10), visit(10, 5)]).degree(), 1);
        let three = of(vec![visit(0, 10), visit(3, 5), visit(7, 9)]);
        assert_eq!(three.degree(), 3);
        assert_eq!((three.ranges_searched(), three.ranges_skipped()), (6, 3));
    }
}
