//! Cost of reading the clock in a search.
//!
//!     cargo run --release -p shorttail-search --example deadlines -- DIR QUERIES
//!
//! DIR is an index, QUERIES a file of queries, one a line. Prints, for all words and any word of each query, with
//! the ten best alone and with the exact count: the time of searches without a deadline, and of searches with one
//! that never comes, which ask the clock as handlers do. Times are the least of several passes, in turns.

mod measured;

use measured::{segments_and_plans, time_us};
use search::{Operator, SearchTask, Stop};
use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

const PASSES: usize = 31;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, queries] = &arguments[..] else {
        return Err("usage: deadlines DIR QUERIES".into());
    };
    for (name, operator) in [("all words", Operator::And), ("any word", Operator::Or)] {
        let (segments, plans) = segments_and_plans(directory, queries, operator)?;
        for counted in [false, true] {
            let (mut without_us, mut with_us) = (0.0, 0.0);
            for plan in &plans {
                let deadline = Instant::now() + Duration::from_secs(3600);
                let is_due = || Instant::now() >= deadline;
                let (mut without, mut with) = (f64::MAX, f64::MAX);
                let task =
                    || SearchTask::new(Arc::clone(plan), segments.iter().cloned(), 10, counted);
                for _ in 0..PASSES {
                    without = without.min(time_us(|| {
                        let stop = Stop::default();
                        black_box(task().run(&stop)?);
                        Ok(())
                    })?);
                    with = with.min(time_us(|| {
                        let stop = Stop::when(&is_due);
                        black_box(task().run(&stop)?);
                        Ok(())
                    })?);
                }
                without_us += without;
                with_us += with;
            }
            let count = plans.len().max(1) as f64;
            println!(
                "{name}, {}: {:.2} µs without a deadline, {:.2} µs with one, {:+.2} %",
                if counted {
                    "exact count"
                } else {
                    "best ten only"
                },
                without_us / count,
                with_us / count,
                (with_us / without_us - 1.0) * 100.0
            );
        }
    }
    Ok(())
}
