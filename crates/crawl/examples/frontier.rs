//! Frontier at size: checks a second, bytes a URL, longest call, restart.
//!
//! `cargo run --release -p shorttail-crawl --example frontier -- URLS [CHECKS_PER_URL] [DIRECTORY]`
//!
//! URLs of 50 a host are found in random order, each CHECKS_PER_URL times on average (2); then some are visited.
use crawl::frontier::{
    Discovery, Frontier, FrontierOptions, Next, Outcome, RobotsAnswer, RobotsOutcome, Source,
    Validators, VisitKind, WarcPlace,
};
use crawl::politeness::TimeMs;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use urls::{host_and_path, mix, resident_mb};

#[path = "../../../bench/crawl/urls.rs"]
mod urls;

const NOW: TimeMs = TimeMs(1_790_000_000_000);

fn url(out: &mut String, number: u64) -> Result<(), std::fmt::Error> {
    let (host, path) = host_and_path(number);
    out.clear();
    write!(out, "https://www.host-{host}.example{path}")
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let urls: u64 = arguments.next().unwrap_or("1000000".into()).parse()?;
    let checks: u64 = urls * arguments.next().unwrap_or("2".into()).parse::<u64>()?;
    let temporary = tempfile::tempdir()?;
    let directory = arguments
        .next()
        .map_or(temporary.path().to_owned(), Into::into);
    let mut frontier = open(&directory)?;
    let (mut seed, mut text, mut longest) = (1, String::new(), Duration::ZERO);
    let begun = Instant::now();
    for check in 0..checks {
        url(&mut text, mix(&mut seed) % urls)?;
        let call = Instant::now();
        frontier.discover(
            &Discovery {
                url: &text,
                depth: 3,
                source: Source::Link,
                from: Some(seed),
                importance: 1.0,
                modified: None,
            },
            NOW,
        )?;
        if check % 100_000 == 0 {
            frontier.sync()?;
        }
        longest = longest.max(call.elapsed());
    }
    frontier.checkpoint()?;
    let seconds = begun.elapsed().as_secs_f64();
    let counts = frontier.counts(NOW);
    println!(
        "{} URLs of {} hosts known after {checks} checks in {seconds:.1} s",
        counts.known, counts.hosts
    );
    println!(
        "{:.0} checks/s, longest call {:.3} s",
        checks as f64 / seconds,
        longest.as_secs_f64()
    );
    while frontier.work(1 << 20)? {}
    frontier.checkpoint()?;
    let bytes = frontier.counts(NOW).disk_bytes;
    println!(
        "{:.1} bytes/URL on disk after merges, {} MB of memory",
        bytes as f64 / counts.known as f64,
        resident_mb()
    );
    visits(&mut frontier, 20_000)?;
    frontier.sync()?;
    drop(frontier);
    let begun = Instant::now();
    let frontier = open(&directory)?;
    println!(
        "reopened in {:.2} s, {} URLs",
        begun.elapsed().as_secs_f64(),
        frontier.counts(NOW).known
    );
    println!("{} MB of memory after it", resident_mb());
    Ok(())
}

fn open(directory: &Path) -> Result<Frontier, Box<dyn Error>> {
    let storage = Arc::new(vfs::RealStorage::open(directory)?);
    let (frontier, found) = Frontier::open(storage, FrontierOptions::default(), NOW)?;
    if found.changes > 0 {
        println!("{} changes of the journal applied", found.changes);
    }
    Ok(frontier)
}

fn visits(frontier: &mut Frontier, wanted: u64) -> Result<(), Box<dyn Error>> {
    let (mut now, mut done) = (NOW, 0);
    let begun = Instant::now();
    while done < wanted {
        match frontier.next(now)? {
            Next::Visit(visit) if visit.kind == VisitKind::Robots => {
                let outcome = RobotsOutcome::Free {
                    valid_until: now.plus_ms(86_400_000),
                };
                let (throttled, source): (_, &[u8]) = (None, b"");
                let answer = RobotsAnswer {
                    outcome,
                    throttled,
                    took_ms: 50,
                    source,
                };
                frontier.robots(visit.id, &answer, now)?;
            }
            Next::Visit(visit) => {
                let outcome = Outcome::Fetched {
                    status: 200,
                    took_ms: 100,
                    text_hash: u128::from(done),
                    duplicate: false,
                    noindex: false,
                    repeats: false,
                    validators: Validators::default(),
                    place: WarcPlace::default(),
                };
                frontier.finished(visit.id, &outcome, now)?;
                done += 1;
                if done % 256 == 0 {
                    frontier.sync()?;
                }
            }
            Next::Wait { until } => now = until,
            Next::Idle => break,
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "{done} visits, {:.0} visits/s of the frontier alone",
        done as f64 / seconds
    );
    Ok(())
}
