//! Check V3: a few heavy queries do not slow the light ones down.

use super::settings::Run;
use crate::client::{Client, search_path};
use crate::offered::{Came, Offer, Percentiles};
use crate::stage::{Stage, heavy_queries};
use crate::verdict::Verdict;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use testkit::MadeUp;

/// Light queries a second; the rate of heavy ones is a hundredth of that.
const LIGHT_QPS: f64 = 100.0;
const HEAVY_QPS: f64 = LIGHT_QPS / 100.0;
const TIMEOUT: Duration = Duration::from_millis(200);
/// Upper limit on the time by which a heavy query may end after its timeout.
const LATE_MS_MAX: f64 = 50.0;

/// Runs one process with two handlers, with light queries alone and with heavy ones, in turns.
pub(super) async fn run(run: &Run) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::new("V3", run.seed);
    let stage = Stage::set(60_000, 2).await?;
    let server = stage.serve(&["--handlers", "2"]).await?;
    let light: Vec<String> = MadeUp::default().queries(500).collect();
    let offer = Offer::new(server.address, &light, "&count=none", run.seed)?;
    let heavy: Arc<Vec<String>> = Arc::new(heavy_queries(48, 160));
    offer.open(LIGHT_QPS, Duration::from_secs(2)).await?;

    let lasts = Duration::from_secs(run.size(8, 30));
    let (mut alone, mut mixed, mut heavies) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..run.size(1, 2) {
        alone.push(offer.open(LIGHT_QPS, lasts).await?);
        let more = match run.sabotage {
            true => String::new(),
            false => format!("&timeout={}ms", TIMEOUT.as_millis()),
        };
        let asking = tokio::spawn(ask_heavy(server.address, Arc::clone(&heavy), more, lasts));
        mixed.push(offer.open(LIGHT_QPS, lasts).await?);
        heavies.extend(asking.await?);
    }

    let answered = |came: &[Came]| -> Percentiles {
        let samples = came.iter().flat_map(Came::samples);
        let answered = samples.filter(|sample| sample.ending.is_answer());
        answered.filter_map(load::Sample::response_ns).collect()
    };
    let failed = |came: &Came| came.count(|sample| !sample.ending.is_answer());
    let took: Percentiles = heavies.iter().map(|(ns, _)| *ns).collect();
    let timed_out = heavies.iter().filter(|(_, timed_out)| *timed_out).count();
    let (alone_ms, mixed_ms) = (answered(&alone).ms(99.0), answered(&mixed).ms(99.0));
    verdict.count = format!(
        "{} light, {} heavy",
        mixed.iter().map(|came| came.samples().len()).sum::<usize>(),
        heavies.len()
    );
    // An excluded group ends at its first phrase that matches, so one in four may end in time.
    verdict.timed_at_least("heavy cut short %", percent(timed_out, heavies.len()), 70.0);
    verdict.timed_at_most(
        "slowest heavy ms",
        took.ms(100.0),
        TIMEOUT.as_secs_f64() * 1e3 + run.limit_ms(LATE_MS_MAX),
    );
    verdict.note("light p99 ms alone", alone_ms);
    // Beside other work on the machine, a few milliseconds are noise.
    let slack_ms = run.size(15.0, 0.0);
    verdict.timed_at_most("light p99 ms", mixed_ms, 2.0 * alone_ms + slack_ms);
    verdict.none("light failed", alone.iter().chain(&mixed).map(failed).sum());
    Ok(verdict)
}

/// Sends heavy queries at their rate for a period. Returns the time of each in nanoseconds, and whether its answer
/// reports that the deadline ended it.
async fn ask_heavy(
    server: SocketAddr,
    queries: Arc<Vec<String>>,
    more: String,
    lasts: Duration,
) -> Vec<(u64, bool)> {
    let begun = Instant::now();
    let mut ticks = tokio::time::interval(Duration::from_secs_f64(1.0 / HEAVY_QPS));
    let mut client = Client::new(server);
    let mut took = Vec::new();
    for query in queries.iter().cycle() {
        ticks.tick().await;
        if begun.elapsed() >= lasts {
            break;
        }
        let path = search_path(query, &format!("&any=1&per_site=0{more}"));
        let asked = Instant::now();
        let answered = client.get(&path).await;
        let ns = asked.elapsed().as_nanos() as u64;
        let timed_out = answered.is_ok_and(|answered| match answered.status {
            200 => serde_json::from_slice::<wire::SearchAnswer>(&answered.body)
                .is_ok_and(|answer| answer.timed_out),
            // Nothing was searched in time, and the status says so.
            status => status == 504,
        });
        took.push((ns, timed_out));
    }
    took
}

fn percent(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64 * 100.0
}
