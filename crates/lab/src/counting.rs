//! Events of a process during a run by kind of thread, counted by the kernel or the processor.
//!
//! Each event and thread has a counter of its own, so no event waits for another. If there are more
//! events than registers, the kernel multiplexes them; the count is then scaled, and its share of the
//! time is reported. Of the processor's events only those outside the kernel count. Threads that start
//! during the run are not counted; the servers' handlers start before it.
//!
//! An event that cannot be counted has a state and a reason in place of a number.
use crate::capability::{Capability, State};
use crate::counters::{Event, state_of};
use perf_event::Counter;
use serde::Serialize;
use std::collections::BTreeMap;

/// Counts of the threads of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ThreadsCount {
    /// Name of the threads without numbers, such as `handler`.
    pub(crate) threads: String,
    /// Number of threads.
    pub(crate) threads_count: usize,
    /// Time on a core, in microseconds; `None` if `/proc` does not report it.
    pub(crate) cpu_us: Option<f64>,
    /// Counts by event name.
    pub(crate) events: BTreeMap<&'static str, EventCount>,
}

/// Count of an event, or the reason why it is missing.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum EventCount {
    Counted {
        state: State,
        count: f64,
        /// Share of the time in which the event was counted; below 1 the count is scaled.
        running_share: f64,
    },
    Missing {
        state: State,
        reason: String,
    },
}

impl EventCount {
    /// Returns the count, if there is one.
    pub(crate) fn count(&self) -> Option<f64> {
        match self {
            EventCount::Counted { count, .. } => Some(*count),
            EventCount::Missing { .. } => None,
        }
    }
}

/// Running counters.
#[derive(Debug)]
pub(crate) struct Counting {
    groups: Vec<Group>,
}

#[derive(Debug)]
struct Group {
    name: String,
    threads: Vec<String>,
    cpu_ns: Option<u64>,
    events: Vec<(Event, Result<Vec<Counter>, EventCount>)>,
}

impl Counting {
    /// Starts counters for the current threads of a process. Events that the machine's `capabilities`
    /// rule out are not tried.
    pub(crate) fn start(process: u32, capabilities: &[Capability]) -> Counting {
        let mut kinds: BTreeMap<String, Vec<i32>> = BTreeMap::new();
        let directory = format!("/proc/{process}/task");
        for task in std::fs::read_dir(&directory)
            .into_iter()
            .flatten()
            .flatten()
        {
            let thread = task.file_name().to_string_lossy().parse();
            let name = std::fs::read_to_string(task.path().join("comm"));
            if let (Ok(thread), Ok(name)) = (thread, name) {
                kinds.entry(kind(&name)).or_default().push(thread);
            }
        }
        let group = |(name, threads): (String, Vec<i32>)| {
            let files = threads
                .iter()
                .map(|thread| format!("{directory}/{thread}/schedstat"));
            let files: Vec<String> = files.collect();
            Group {
                name,
                cpu_ns: cpu_ns(&files),
                threads: files,
                events: Event::ALL
                    .iter()
                    .map(|event| (*event, open(*event, &threads, capabilities)))
                    .collect(),
            }
        };
        Counting {
            groups: kinds.into_iter().map(group).collect(),
        }
    }

    /// Stops the counters and returns the counts since the start.
    pub(crate) fn finish(self) -> Vec<ThreadsCount> {
        let of_group = |group: Group| {
            let now_ns = cpu_ns(&group.threads);
            let cpu_ns = group.cpu_ns.zip(now_ns);
            ThreadsCount {
                threads: group.name,
                threads_count: group.threads.len(),
                cpu_us: cpu_ns.map(|(before, now)| now.saturating_sub(before) as f64 / 1e3),
                events: group
                    .events
                    .into_iter()
                    .map(|(event, counters)| (event.name(), read(event, counters)))
                    .collect(),
            }
        };
        self.groups.into_iter().map(of_group).collect()
    }
}

/// Returns the kind of a thread: `handler-0-1` is a `handler`.
fn kind(name: &str) -> String {
    let stem = name
        .trim()
        .trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
    stem.to_owned()
}

/// Returns the core time of all these threads in ns; `None` once a thread has ended.
fn cpu_ns(files: &[String]) -> Option<u64> {
    let one = |file: &String| {
        let text = std::fs::read_to_string(file).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    };
    files.iter().map(one).sum()
}

fn open(
    event: Event,
    threads: &[i32],
    capabilities: &[Capability],
) -> Result<Vec<Counter>, EventCount> {
    let needed = event.capability();
    let missing = |state: State, reason: String| EventCount::Missing { state, reason };
    let found = capabilities.iter().find(|found| found.id == needed);
    if let Some(found) = found.filter(|found| !found.state.is_usable()) {
        return Err(missing(found.state, found.reason.clone()));
    }
    let mut counters = Vec::new();
    for &thread in threads {
        match event.open(thread) {
            Ok(counter) => counters.push(counter),
            // ESRCH: the thread ended after it was listed.
            Err(error) if error.raw_os_error() == Some(3) => {}
            Err(error) => {
                let reason = format!("perf_event_open({}): {error}", event.name());
                return Err(missing(state_of(&error), reason));
            }
        }
    }
    Ok(counters)
}

fn read(event: Event, counters: Result<Vec<Counter>, EventCount>) -> EventCount {
    let counters = match counters {
        Ok(counters) => counters,
        Err(missing) => return missing,
    };
    let (mut count, mut enabled_ns, mut running_ns) = (0.0, 0u64, 0u64);
    for mut counter in counters {
        let Ok(now) = counter.read_count_and_time() else {
            continue;
        };
        if now.time_running > 0 {
            count += now.count as f64 * (now.time_enabled as f64 / now.time_running as f64);
        }
        enabled_ns += now.time_enabled;
        running_ns += now.time_running;
    }
    judged(event.is_of_processor(), count, enabled_ns, running_ns)
}

/// A thread that ran for a millisecond has executed instructions, so a processor counter at 0 is
/// broken.
const SURE_NS: u64 = 1_000_000;

fn judged(is_of_processor: bool, count: f64, enabled_ns: u64, running_ns: u64) -> EventCount {
    let missing = |state: State, reason: &str| EventCount::Missing {
        state,
        reason: reason.to_owned(),
    };
    if enabled_ns > 0 && running_ns == 0 {
        return missing(State::Unavailable, "others held the registers all the time");
    }
    if is_of_processor && count == 0.0 && running_ns > SURE_NS {
        return missing(State::Invalid, "the counter stood still while threads ran");
    }
    let running_share = match enabled_ns {
        0 => 1.0,
        enabled_ns => running_ns as f64 / enabled_ns as f64,
    };
    let state = match running_share >= 0.99 {
        true => State::Available,
        false => State::Degraded,
    };
    EventCount::Counted {
        state,
        count,
        running_share,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    use std::sync::mpsc::TryRecvError;
    use std::time::{Duration, Instant};

    const NAPS: u32 = 20;

    #[test]
    fn threads_are_counted_by_kind_or_say_why_not() {
        let naps = Arc::new(AtomicU32::new(0));
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let taken = naps.clone();
        let spinning = std::thread::Builder::new().name("spinner-0-1".into());
        let spinning = spinning.spawn(move || {
            while ended.try_recv() == Err(TryRecvError::Empty) {
                let until = Instant::now() + Duration::from_millis(1);
                while Instant::now() < until {}
                std::thread::sleep(Duration::from_micros(100));
                taken.fetch_add(1, SeqCst);
            }
        });
        let spinning = spinning.unwrap();
        // The thread sets its name in its first round.
        while naps.load(SeqCst) == 0 {
            std::thread::yield_now();
        }
        let capabilities = crate::examine(&crate::Tree::here());
        let counting = Counting::start(std::process::id(), &capabilities);
        let before = naps.load(SeqCst);
        while naps.load(SeqCst) < before + NAPS {
            std::thread::yield_now();
        }
        let counted = counting.finish();
        drop(end);
        spinning.join().unwrap();
        let spinners = counted.iter().find(|group| group.threads == "spinner");
        let spinners = spinners.unwrap_or_else(|| panic!("{counted:#?}"));
        assert_eq!(spinners.threads_count, 1);
        assert!(spinners.cpu_us > Some(0.0), "{spinners:#?}");
        assert_eq!(spinners.events.len(), Event::ALL.len());
        for (name, event) in &spinners.events {
            match event {
                EventCount::Counted { count, .. } if *name == "context-switches" => {
                    // A sleep gives up the core; the first one may have begun before the counter.
                    assert!(*count >= f64::from(NAPS - 1), "{event:?}");
                }
                EventCount::Counted { running_share, .. } => {
                    assert!(*running_share > 0.0, "{name}: {event:?}");
                }
                EventCount::Missing { state, reason } => {
                    assert!(
                        !state.is_usable() && !reason.is_empty(),
                        "{name}: {event:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn nothing_that_was_not_counted_is_a_number() {
        let check = |judged: EventCount, state: State, count: Option<f64>| {
            let of = match &judged {
                EventCount::Counted { state, .. } | EventCount::Missing { state, .. } => *state,
            };
            assert_eq!((of, judged.count()), (state, count));
        };
        check(
            judged(true, 5e6, 2_000_000, 2_000_000),
            State::Available,
            Some(5e6),
        );
        check(
            judged(true, 5e6, 2_000_000, 1_000_000),
            State::Degraded,
            Some(5e6),
        );
        check(
            judged(true, 0.0, 2_000_000, 2_000_000),
            State::Invalid,
            None,
        );
        check(judged(true, 0.0, 2_000_000, 0), State::Unavailable, None);
        // Zero migrations is a valid count, and so is zero of a thread that never ran.
        check(
            judged(false, 0.0, 2_000_000, 2_000_000),
            State::Available,
            Some(0.0),
        );
        check(judged(true, 0.0, 0, 0), State::Available, Some(0.0));
        assert_eq!(kind("handler-0-12\n"), "handler");
    }
}
