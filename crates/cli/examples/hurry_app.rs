//! Server of made-up requests for `shorttail hurry`: worker threads that spin, and say so in the pipe.
//!
//! Arrivals are open-loop: exponential gaps that no reply delays. A request needs a fixed CPU time (its thread
//! spins until it has used it), so it takes longer on a core with co-runners. response = end - intended arrival.
//! Big and little cores are emulated by co-runners: threads of equal priority that spin on the little cores.
//! Limit: the scheduler shares a core in slices of milliseconds, so requests take 100 ms or more.

use clap::Parser;
use schedule::CpuSet;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Serve made-up requests and print the quantiles of their response times
#[derive(Debug, Parser)]
struct Arguments {
    /// FIFO of `shorttail hurry`; without it nothing is written
    #[arg(long)]
    pipe: Option<PathBuf>,
    /// Worker threads
    #[arg(long, default_value = "2")]
    workers: usize,
    /// Requests
    #[arg(long, default_value = "200")]
    requests: usize,
    /// Arrivals per second
    #[arg(long, default_value = "2")]
    rate: f64,
    /// CPU time of an ordinary request, in ms
    #[arg(long, default_value = "100")]
    light: f64,
    /// CPU time of a heavy request, in ms
    #[arg(long, default_value = "500")]
    heavy: f64,
    /// Share of heavy requests
    #[arg(long, default_value = "0.1")]
    heavy_share: f64,
    /// Pin worker w to the w-th of these CPUs, in turn: the static mapping
    #[arg(long)]
    pin: Option<CpuSet>,
    /// Little cores, which have co-runners
    #[arg(long, requires = "co_runners")]
    little: Option<CpuSet>,
    /// Co-runners on each little core
    #[arg(long, requires = "little")]
    co_runners: Option<usize>,
    /// Seed of arrivals and of the order of requests
    #[arg(long, default_value = "1")]
    seed: u64,
}

/// A request that has arrived.
struct Request {
    number: usize,
    arrival: Instant,
    cpu: Duration,
}

/// What all threads share.
#[derive(Default)]
struct Shared {
    queue: Mutex<(VecDeque<Request>, bool)>,
    arrived: Condvar,
    responses_ms: Mutex<Vec<f64>>,
    dropped: AtomicU64,
    over: AtomicBool,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    anyhow::ensure!(
        arguments.workers > 0 && arguments.rate > 0.0,
        "workers and rate are above 0"
    );
    let pipe = arguments.pipe.as_deref();
    let pipe = pipe.map(vfs::platform::open_fifo_for_writing).transpose()?;
    let shared = Shared::default();
    std::thread::scope(|scope| {
        let (shared, pipe) = (&shared, pipe.as_ref());
        for cpu in arguments.little.iter().flatten() {
            for _ in 0..arguments.co_runners.unwrap_or(0) {
                scope.spawn(move || co_run(shared, cpu));
            }
        }
        let pins: Vec<u32> = arguments.pin.iter().flatten().collect();
        let workers: Vec<_> = (0..arguments.workers)
            .map(|number| {
                let cpu = pins.get(number % pins.len().max(1)).copied();
                scope.spawn(move || work(shared, pipe, cpu))
            })
            .collect();
        send(&arguments, shared);
        for worker in workers {
            let _ = worker.join();
        }
        shared.over.store(true, Ordering::Relaxed);
    });
    report(&shared)
}

/// Sends all requests at their intended times.
fn send(arguments: &Arguments, shared: &Shared) {
    let mut state = arguments.seed;
    let mut drawn = move || {
        // SplitMix64, as a number in (0, 1].
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64 + f64::EPSILON
    };
    let mut arrival = Instant::now();
    for number in 0..arguments.requests {
        arrival += Duration::from_secs_f64(-drawn().ln().min(0.0) / arguments.rate);
        let heavy = drawn() <= arguments.heavy_share;
        let cpu_ms = if heavy {
            arguments.heavy
        } else {
            arguments.light
        };
        std::thread::sleep(arrival.saturating_duration_since(Instant::now()));
        shared.queue.lock().unwrap().0.push_back(Request {
            number,
            arrival,
            cpu: Duration::from_secs_f64(cpu_ms / 1e3),
        });
        shared.arrived.notify_one();
    }
    shared.queue.lock().unwrap().1 = true;
    shared.arrived.notify_all();
}

/// Serves requests in order of arrival until all are served.
fn work(shared: &Shared, pipe: Option<&File>, cpu: Option<u32>) {
    if let Some(cpu) = cpu {
        vfs::platform::set_affinity(0, [cpu]).expect("a CPU of --pin that this process may use");
    }
    let tid = vfs::platform::thread_id();
    loop {
        let mut queue = shared.queue.lock().unwrap();
        let request = loop {
            if let Some(request) = queue.0.pop_front() {
                break request;
            }
            if queue.1 {
                return;
            }
            queue = shared.arrived.wait(queue).unwrap();
        };
        drop(queue);
        say(shared, pipe, tid, request.number);
        let end = vfs::platform::thread_cpu_time() + request.cpu;
        while vfs::platform::thread_cpu_time() < end {
            std::hint::spin_loop();
        }
        say(shared, pipe, tid, request.number);
        let response_ms = request.arrival.elapsed().as_secs_f64() * 1e3;
        shared.responses_ms.lock().unwrap().push(response_ms);
    }
}

/// Writes one line by one call that never blocks. A line that does not fit is dropped and counted.
fn say(shared: &Shared, pipe: Option<&File>, tid: u32, number: usize) {
    let Some(mut pipe) = pipe else { return };
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let ms = now.map_or(0, |now| now.as_millis());
    let line = format!("{tid};{number};{ms}\n");
    match pipe.write(line.as_bytes()) {
        Ok(_) => {}
        // Full, or the mapper has ended: requests go on.
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::BrokenPipe) => {
            shared.dropped.fetch_add(1, Ordering::Relaxed);
        }
        Err(error) => panic!("the pipe: {error}"),
    }
}

/// Spins on a little core until the end.
fn co_run(shared: &Shared, cpu: u32) {
    vfs::platform::set_affinity(0, [cpu]).expect("a CPU of --little that this process may use");
    while !shared.over.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
}

fn report(shared: &Shared) -> anyhow::Result<()> {
    let mut responses_ms = shared.responses_ms.lock().unwrap().clone();
    responses_ms.sort_by(f64::total_cmp);
    let quantile = |share: f64| {
        let rank = (share * responses_ms.len() as f64).ceil() as usize;
        responses_ms
            .get(rank.saturating_sub(1))
            .copied()
            .unwrap_or(f64::NAN)
    };
    let mut stdout = std::io::stdout().lock();
    writeln!(
        stdout,
        "{} requests: p50 {:.0} ms, p90 {:.0} ms, p99 {:.0} ms; {} lines dropped",
        responses_ms.len(),
        quantile(0.5),
        quantile(0.9),
        quantile(0.99),
        shared.dropped.load(Ordering::Relaxed)
    )?;
    Ok(())
}
