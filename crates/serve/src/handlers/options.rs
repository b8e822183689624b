//! Options of an index server.

use schedule::CpuSet;
use schedule::board::{PolicyChoice, Seat};
use std::time::Duration;

/// Place of a handler: CPUs, NUMA node and speed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Place {
    /// CPUs that the handler may use; empty leaves the choice to the kernel.
    pub cpus: CpuSet,
    /// NUMA node whose memory the handler takes, where there are several.
    pub node: Option<u32>,
    /// Speed of the CPUs relative to the fastest of the machine, in (0, 1]; `None` counts as 1.
    pub speed: Option<f64>,
    /// Core, cache and node of the CPU, where it is one.
    pub seat: Option<Seat>,
}

/// Handlers, queue and cut-off of an index server.
#[derive(Debug, Clone, PartialEq)]
pub struct HandlerOptions {
    /// Number of handlers.
    pub handlers: usize,
    /// Capacity of the queue, in requests; 0 bounds it by the predicted time of what waits.
    pub queue_length: usize,
    /// Placement of each handler, fast ones first; empty leaves it to the kernel.
    pub places: Vec<Place>,
    /// Speed of each handler to emulate, in (0, 1], fast ones first; empty for none. For the laboratory: a handler of
    /// speed s spins t (1/s - 1) at the end of a range of time t. Other values count as 1.
    pub emulated_speeds: Vec<f64>,
    /// Upper limit on the time of a search on its handler, whatever the client's deadline (the classic
    /// "cut-off latency").
    pub cut_off: Option<Duration>,
    /// Whether all searches run on handlers, even where the thread that brings one could begin it in the place of an idle
    /// handler: for measurements by thread.
    pub hands_all_over: bool,
    /// Assignment of handlers to queries.
    pub policy: PolicyChoice,
    /// Time for which a handler without work spins before it sleeps, if no other handler is on its core: a wake-up takes
    /// longer than most searches. For servers whose other threads run on other CPUs.
    pub spin: Duration,
    /// Postings of a range at least: below, opening the lists once more costs more than help saves. With 0, searches are
    /// cut before their times are known (`trusts_all`), as tests of exactness want it.
    pub range_postings_min: u64,
}

/// Opening a range takes a thirtieth of the time of these postings, at most.
const RANGE_POSTINGS_MIN: u64 = 1 << 16;

impl HandlerOptions {
    /// Returns the seats of the handlers, if all are pinned to one CPU each.
    pub(crate) fn seats(&self) -> Option<Vec<Seat>> {
        let seat = |handler: usize| self.places.get(handler).and_then(|place| place.seat);
        (0..self.handlers).map(seat).collect()
    }

    /// Returns whether a thread that brings a search may begin it in the place of a handler: where the kernel chooses the
    /// CPUs of all and none is slower.
    pub(crate) fn have_guests(&self) -> bool {
        let is_alike =
            |place: &Place| place.cpus.is_empty() && place.speed.is_none_or(|one| one == 1.0);
        let are_alike = self.emulated_speeds.is_empty() && self.places.iter().all(is_alike);
        are_alike && !self.hands_all_over
    }

    /// Returns the speed of each handler relative to the fastest CPU of the machine.
    pub(crate) fn speeds(&self) -> Vec<f64> {
        let of_place = |handler: usize| self.places.get(handler).and_then(|place| place.speed);
        let speed = |handler: usize| match self.emulated_speeds.get(handler) {
            Some(&speed) => speed,
            None => of_place(handler).unwrap_or(1.0),
        };
        let is_speed = |speed: f64| speed > 0.0 && speed <= 1.0;
        let speeds = (0..self.handlers).map(speed);
        speeds
            .map(|speed| if is_speed(speed) { speed } else { 1.0 })
            .collect()
    }
}

impl Default for HandlerOptions {
    fn default() -> HandlerOptions {
        HandlerOptions {
            handlers: 0,
            queue_length: 0,
            places: Vec::new(),
            emulated_speeds: Vec::new(),
            cut_off: None,
            hands_all_over: false,
            policy: PolicyChoice::default(),
            spin: Duration::ZERO,
            range_postings_min: RANGE_POSTINGS_MIN,
        }
    }
}
