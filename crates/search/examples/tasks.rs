//! Cost of the ranges of a task, and the gain of two workers.
//!
//!     cargo run --release -p shorttail-search --example tasks -- DIR QUERIES [K] [RANGES]
//!
//! DIR is an index, QUERIES a file of queries, one a line (what stands before a tab is left out). Prints,
//! for the union of each query's words and its K best (default 10): the time of one handler over all
//! documents at once and over RANGES ranges (default 64), and of two handlers over the ranges of those
//! queries that take a millisecond and more; no query is cut finer than it is worth. Times are the least of
//! several passes, in turns.

mod measured;

use index::{IndexError, Segment};
use measured::{segments_and_plans, time_us};
use search::{Cut, Operator, Plan, SearchTask, Share, Stop, top_of_partition};
use std::error::Error;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

const PASSES: usize = 9;
/// Lower limit on the query time that makes a second handler worthwhile, in microseconds.
const SHARED_MIN_US: f64 = 1000.0;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, queries, rest @ ..] = &arguments[..] else {
        return Err("usage: tasks DIR QUERIES [K] [RANGES]".into());
    };
    let number = |at: usize, default: usize| rest.get(at).map_or(Ok(default), |text| text.parse());
    let (k, ranges_count) = (number(0, 10)?, number(1, 64)?);
    let (segments, plans) = segments_and_plans(directory, queries, Operator::Or)?;

    let cut = Cut::at_most(ranges_count);
    let (mut whole_us, mut ranges_us, mut further) = (0.0, 0.0, 0);
    let mut long = Vec::new();
    for plan in &plans {
        let (mut whole, mut ranged) = (f64::MAX, f64::MAX);
        for _ in 0..PASSES {
            whole = whole.min(time_us(|| {
                black_box(top_of_partition(plan, &segments, k)?);
                Ok(())
            })?);
            ranged = ranged.min(time_us(|| {
                // The first handler cuts, as in a server, and keeps what it opens for that.
                let task = uncut(plan, &segments, k).cut_by_first(cut);
                black_box(task.work(&Stop::default(), || false)?);
                Ok(())
            })?);
        }
        further += task_of(plan, &segments, k, cut)?.len().saturating_sub(1);
        whole_us += whole;
        ranges_us += ranged;
        if whole >= SHARED_MIN_US {
            long.push((plan, ranged));
        }
    }
    let count = plans.len().max(1) as f64;
    let further_us = (ranges_us - whole_us) / further.max(1) as f64;
    println!(
        "{} queries, k = {k}: {:.1} µs at once, {:.1} µs in up to {ranges_count} ranges ({:.1} in the \
         mean), ratio {:.3}; a further range {:.3} µs",
        plans.len(),
        whole_us / count,
        ranges_us / count,
        1.0 + further as f64 / count,
        ranges_us / whole_us,
        further_us
    );
    let (mut one_us, mut two_us) = (0.0, 0.0);
    for (plan, alone) in &long {
        one_us += alone;
        two_us += shared_us(plan, &segments, k, ranges_count)?;
    }
    match long.len() {
        0 => println!("no query takes {SHARED_MIN_US} µs: two handlers were not tried"),
        count => println!(
            "{count} queries over {SHARED_MIN_US} µs: one handler {:.0} µs, two {:.0} µs, {:.2} times as fast",
            one_us / count as f64,
            two_us / count as f64,
            one_us / two_us
        ),
    }
    Ok(())
}

/// Returns the least time of two handlers that spin until a query arrives, like those of a busy server.
fn shared_us(
    plan: &Arc<Plan>,
    segments: &[Arc<Segment>],
    k: usize,
    ranges_count: usize,
) -> Result<f64, Box<dyn Error>> {
    let queries: [OnceLock<SearchTask>; PASSES] = Default::default();
    let helped: [OnceLock<Result<Share, IndexError>>; PASSES] = Default::default();
    let ready = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for (query, helped) in queries.iter().zip(&helped) {
                ready.fetch_add(1, Ordering::AcqRel);
                let _ = helped.set(spin_until(|| query.get()).work(&Stop::default(), || false));
            }
        });
        let mut least = f64::MAX;
        for (pass, (query, helped)) in queries.iter().zip(&helped).enumerate() {
            spin_until(|| (ready.load(Ordering::Acquire) > pass).then_some(()));
            let started = Instant::now();
            let made = task_of(plan, segments, k, Cut::at_most(ranges_count));
            // Without ranges the helper would spin for ever, so damage ends the program here.
            let task = query.get_or_init(|| made.expect("an index without damage"));
            let stop = Stop::default();
            let own = task.work(&stop, || false)?;
            let other = spin_until(|| helped.get()).as_ref();
            let other = other.map_err(|error| error.to_string())?;
            black_box(task.merged([own, other.clone()]));
            least = least.min(started.elapsed().as_nanos() as f64 / 1e3);
        }
        Ok(least)
    })
}

/// Returns the search for the `k` best of a plan, cut into ranges.
fn task_of(
    plan: &Arc<Plan>,
    segments: &[Arc<Segment>],
    k: usize,
    cut: Cut,
) -> Result<SearchTask, IndexError> {
    uncut(plan, segments, k).cut(cut)
}

fn uncut(plan: &Arc<Plan>, segments: &[Arc<Segment>], k: usize) -> SearchTask {
    SearchTask::new(Arc::clone(plan), segments.iter().cloned(), k, false)
}

/// Spins until `ready` returns a value, and returns it.
fn spin_until<T>(ready: impl Fn() -> Option<T>) -> T {
    loop {
        if let Some(value) = ready() {
            return value;
        }
        std::hint::spin_loop();
    }
}
