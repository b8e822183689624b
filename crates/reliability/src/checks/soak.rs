//! Check `soak`: after a long time of writes, merges and searches nothing has grown, and nothing is left behind.

use super::durable::{Known, admin_of};
use super::settings::Run;
use crate::offered::Offer;
use crate::process::Process;
use crate::stage::{Stage, bytes_in};
use crate::verdict::Verdict;
use load::{Ending, Sample};
use stats::Random;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const CLIENTS: u64 = 4;
/// Pause of a client before each request.
const PAUSE: Duration = Duration::from_millis(20);
/// Open files of a segment, of which a server has between one and two dozen.
const SEGMENT_DESCRIPTORS: f64 = 10.0;
/// Queries offered a second.
const RATE_QPS: f64 = 20.0;

/// State of the server and of its index at one moment.
#[derive(Debug, Clone, Copy)]
struct Moment {
    second: f64,
    anonymous_bytes: f64,
    descriptors: usize,
    disk_bytes: u64,
}

/// Runs clients that write and search, and inspects the server every second.
pub(super) async fn run(run: &Run) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::new("soak", run.seed);
    let stage = Stage::set(run.size(2_000, 20_000), 1).await?;
    let mut server = stage.serve(&["--writable", "--refresh", "100ms"]).await?;
    let offer = Offer::of_frequent_words(server.address, run.seed)?;
    let admin = admin_of(&server)?;
    let duration = Duration::from_secs(run.size(5, 600));
    let is_over = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (is_over, random) = (Arc::clone(&is_over), Random::new(run.seed, 70 + client));
            tokio::task::spawn_blocking(move || {
                let mut known = Known::default();
                known.write(admin, client, random, PAUSE, &is_over);
                known
            })
        })
        .collect();
    let (searched, moments) = tokio::join!(
        offer.open(RATE_QPS, duration),
        watch(&stage, &server, duration)
    );
    is_over.store(true, Ordering::Relaxed);
    let (mut acknowledged, mut refused) = (0, 0);
    for client in clients {
        let known = client.await?;
        acknowledged += known.acknowledged;
        refused += known.refused;
    }
    let (searched, moments) = (searched?, moments?);
    let removed = removed_files(&server, Duration::from_secs(5))?;
    server.terminate(Duration::from_secs(30)).await?;
    if run.sabotage {
        std::fs::write(stage.index().join("segment-99999999.index"), "left behind")?;
    }
    let (is_whole, told) = stage.command("check", &[]).await?;
    let left = told.matches("belongs to no generation").count();
    // What the live documents take: a copy of the rewritten index, without the generation before it.
    let (is_optimized, told_by_optimize) = stage.command("optimize", &[]).await?;
    let copy = stage.index().with_file_name("live");
    let into = ["--into", &copy.to_string_lossy()];
    let (is_copied, told_by_snapshot) = stage.command("snapshot", &into).await?;
    let live_bytes = bytes_in(&copy)?;
    let is_answer = |sample: &Sample| sample.ending == Ending::Answered(200);
    // The server closes idle connections, and may do so while a client sends on one: a client sends again then.
    let is_closed = |sample: &Sample| sample.ending == Ending::Closed && !sample.new_connection;
    let is_failed = |sample: &Sample| !is_answer(sample) && !is_closed(sample);
    verdict.count = format!(
        "{} s, {acknowledged} changes acknowledged, {} queries",
        duration.as_secs(),
        searched.samples().len()
    );
    verdict.none("refused changes", refused);
    verdict.none("failed queries", searched.count(is_failed));
    verdict.at_most(
        "queries on connections that closed",
        searched.count(is_closed) as f64,
        searched.samples().len() as f64 / 1e3,
    );
    verdict.none(
        "damaged",
        u64::from(!is_whole || !is_optimized || !is_copied),
    );
    verdict.none("files left behind", left as u64);
    verdict.none("removed files still open", removed as u64);
    let unlike = searched
        .samples()
        .iter()
        .filter(|sample| !is_answer(sample));
    verdict.tell(unlike.map(|sample| format!("{sample:?}")));
    verdict.tell([told, told_by_optimize, told_by_snapshot]);
    judge(&mut verdict, run, &moments, live_bytes);
    Ok(verdict)
}

async fn watch(stage: &Stage, server: &Process, duration: Duration) -> anyhow::Result<Vec<Moment>> {
    let begun = Instant::now();
    let mut moments = Vec::new();
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    while begun.elapsed() < duration {
        ticks.tick().await;
        moments.push(Moment {
            second: begun.elapsed().as_secs_f64(),
            anonymous_bytes: server.anonymous_bytes()? as f64,
            // Those of connections come and go with clients.
            descriptors: server.descriptors_count(|target| !target.starts_with("socket:"))?,
            disk_bytes: bytes_in(&stage.index())?,
        });
    }
    Ok(moments)
}

/// Counts the open files of the index that are removed from its directory, once the last generation is searched; waits
/// for them to be closed.
fn removed_files(server: &Process, timeout: Duration) -> anyhow::Result<usize> {
    let begun = Instant::now();
    loop {
        let removed = server.descriptors_count(|target| target.ends_with(" (deleted)"))?;
        if removed == 0 || begun.elapsed() > timeout {
            return Ok(removed);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Compares the moments after a third of the time, when caches are full.
fn judge(verdict: &mut Verdict, run: &Run, moments: &[Moment], live_bytes: u64) {
    let warm = &moments[moments.len() / 3..];
    // Heaps and stacks of threads still settle: a leaked generation would cost hundreds of megabytes.
    let growth = slope(warm) * 600.0 / 1e6;
    match run.full {
        true => verdict.timed_at_most("memory growth MB in ten minutes", growth, 8.0),
        false => verdict.note("memory growth MB in ten minutes", growth),
    }
    verdict.note(
        "memory MB",
        mean(warm, |moment| moment.anonymous_bytes) / 1e6,
    );
    let half = warm.len() / 2;
    // A segment has several, so their number goes up and down with that of segments.
    let descriptors = |part: &[Moment]| mean(part, |moment| moment.descriptors as f64);
    let (before, after) = (descriptors(&warm[..half]), descriptors(&warm[half..]));
    verdict.note("descriptors", after);
    match run.full {
        true => verdict.timed_at_most(
            "growth of descriptors",
            after - before,
            5.0 * SEGMENT_DESCRIPTORS,
        ),
        // In seconds only segments come and go.
        false => verdict.note("growth of descriptors", after - before),
    }
    let most_bytes = warm.iter().map(|moment| moment.disk_bytes).max();
    let share = most_bytes.unwrap_or(0) as f64 / live_bytes.max(1) as f64;
    verdict.note("live MB", live_bytes as f64 / 1e6);
    verdict.timed_at_most("most disk / live", share, run.size(10.0, 2.2));
}

fn mean(moments: &[Moment], of: impl Fn(&Moment) -> f64) -> f64 {
    moments.iter().map(of).sum::<f64>() / moments.len() as f64
}

/// Returns the growth of memory in bytes a second, by least squares.
fn slope(moments: &[Moment]) -> f64 {
    let (x, y) = (
        mean(moments, |moment| moment.second),
        mean(moments, |moment| moment.anonymous_bytes),
    );
    let covariance = mean(moments, |moment| {
        (moment.second - x) * (moment.anonymous_bytes - y)
    });
    covariance / mean(moments, |moment| (moment.second - x).powi(2))
}
