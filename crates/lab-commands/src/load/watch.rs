//! Progress of a run, and its early end on a signal.

use ::load::{Live, LoadError, Outcome, Progress, Settings, Writes, WritesOutcome, run_watched};
use console::figures::{count, microseconds};
use console::interrupt::Interrupt;
use console::meter::Meter;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const LOOK: Duration = Duration::from_millis(200);

/// Runs to the end, or until a signal asks for the end, and shows the progress.
pub(super) fn run(
    settings: &Settings,
    writes: Option<&Writes>,
    interrupt: &Interrupt,
) -> Result<(Outcome, Option<WritesOutcome>), LoadError> {
    let live = Live::default();
    let total = settings.warm_up + settings.duration;
    let mut meter = Meter::start("load", Some(total.as_millis() as u64));
    let mut recent = None;
    let mut last = Progress::default();
    while_running(
        || beside(settings.seed, writes, || run_watched(settings, &live)),
        || {
            if interrupt.is_asked() {
                live.stop();
            }
            let now = live.look();
            recent = now.recent_us.or(recent);
            let message = line(&last, &now, recent);
            meter.update((now.elapsed_s * 1e3) as u64, |_| message);
            last = now;
        },
    )
}

/// Runs work beside writes, which end with it.
fn beside(
    seed: u64,
    writes: Option<&Writes>,
    work: impl FnOnce() -> Result<Outcome, LoadError>,
) -> Result<(Outcome, Option<WritesOutcome>), LoadError> {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writing = writes.map(|writes| scope.spawn(|| writes.run(seed, &is_over)));
        let worked = work();
        is_over.store(true, Ordering::Relaxed);
        let written = writing.map(|writing| {
            writing
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        Ok((worked?, written))
    })
}

/// Runs work that observes `live`, and stops it when a signal asks for the end.
pub(crate) fn until_stopped<T: Send>(
    live: &Live,
    interrupt: &Interrupt,
    work: impl FnOnce() -> T + Send,
) -> T {
    while_running(work, || {
        if interrupt.is_asked() {
            live.stop();
        }
    })
}

fn while_running<T: Send>(work: impl FnOnce() -> T + Send, mut look: impl FnMut()) -> T {
    std::thread::scope(|scope| {
        let work = scope.spawn(work);
        while !work.is_finished() {
            std::thread::sleep(LOOK);
            look();
        }
        work.join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn line(last: &Progress, now: &Progress, recent_us: Option<(u64, u64)>) -> String {
    let seconds = (now.elapsed_s - last.elapsed_s).max(1e-3);
    let rate = |now: u64, last: u64| (now.saturating_sub(last)) as f64 / seconds;
    let mut line = format!(
        "{:.0}/s offered, {:.0}/s answered, {} in flight",
        rate(now.offered, last.offered),
        rate(now.answered, last.answered),
        count(now.in_flight)
    );
    if let Some((p50, p99)) = recent_us {
        let (p50, p99) = (microseconds(p50 as f64), microseconds(p99 as f64));
        line.push_str(&format!(", median {p50}, p99 {p99}"));
    }
    for (what, number) in [("failed", now.failed), ("dropped", now.dropped)] {
        if number > 0 {
            line.push_str(&format!(", {} {what}", count(number)));
        }
    }
    line
}
