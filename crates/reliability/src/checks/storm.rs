//! Check `storm`: no query fails, or waits, while generations change.

use super::settings::Run;
use crate::offered::Offer;
use crate::process::{Process, program};
use crate::stage::Stage;
use crate::verdict::Verdict;
use anyhow::{Context, bail};
use load::{Ending, Sample};
use rustix::process::Signal;
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};

/// Interval between two reloads.
const RELOAD_EVERY: Duration = Duration::from_millis(10);
/// Interval between two commits, each of which makes a reload open a generation.
const COMMIT_EVERY: Duration = Duration::from_millis(500);
/// Documents of a commit.
const DOCUMENTS: usize = 10;
/// Queries offered a second.
const RATE_QPS: f64 = 50.0;

/// Runs one process under steady load, calm first and then with a hundred reloads a second.
pub(super) async fn run(run: &Run) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::new("storm", run.seed);
    let stage = Stage::set(run.size(5_000, 50_000), 2).await?;
    let mut server = stage.serve(&[]).await?;
    // An answer that lacks a part is a refusal.
    let offer = Offer::of_frequent_words(server.address, run.seed)?;
    let duration = Duration::from_secs(run.size(4, 30));

    offer.open(RATE_QPS, Duration::from_secs(1)).await?;
    let calm = offer.open(RATE_QPS, duration).await?;
    let index = stage.index();
    let ended = Instant::now() + duration;
    let commits = tokio::spawn(async move { commit_until(&index, ended).await });
    let (came, reloads) = tokio::join!(
        offer.open(RATE_QPS, duration),
        reload_until(&mut server, ended, run.sabotage)
    );
    let (came, reloads, commits) = (came?, reloads?, commits.await??);

    let is_answer = |sample: &Sample| sample.ending == Ending::Answered(200);
    verdict.count = format!(
        "{} queries, {reloads} reloads, {commits} commits",
        came.samples().len()
    );
    verdict.none("failed", came.count(|sample| !is_answer(sample)));
    verdict.none("failed in calm", calm.count(|sample| !is_answer(sample)));
    let calm_ms = calm.times_ms(is_answer).ms(99.0);
    verdict.note("p99 ms in calm", calm_ms);
    verdict.timed_at_most(
        "p99 ms in the storm",
        came.times_ms(is_answer).ms(99.0),
        calm_ms * run.size(6.0, 1.5),
    );
    Ok(verdict)
}

/// Reloads the server again and again until `ended`; under sabotage it is restarted instead. Returns the number of
/// reloads.
async fn reload_until(server: &mut Process, ended: Instant, sabotage: bool) -> anyhow::Result<u64> {
    let mut reloads = 0;
    let mut ticks = tokio::time::interval(RELOAD_EVERY);
    while Instant::now() < ended {
        ticks.tick().await;
        reloads += 1;
        match sabotage {
            false => server.signal(Signal::HUP)?,
            true => {
                server.kill().await?;
                server.restart().await?;
            }
        }
    }
    Ok(reloads)
}

/// Commits documents until `ended`; returns the number of commits.
async fn commit_until(index: &Path, ended: Instant) -> anyhow::Result<u64> {
    let lines = index.with_file_name("more.jsonl");
    let mut commits = 0;
    let mut ticks = tokio::time::interval(COMMIT_EVERY);
    while Instant::now() < ended {
        ticks.tick().await;
        let document = |number: usize| {
            let url = format!("http://more.example/{commits}/{number}");
            json!({ "url": url, "title": "more", "body": "words that come later" }).to_string()
        };
        let documents: Vec<String> = (0..DOCUMENTS).map(document).collect();
        std::fs::write(&lines, documents.join("\n"))?;
        let done = tokio::process::Command::new(program()?)
            .arg("index")
            .arg(index)
            .arg(&lines)
            .args(["--threads", "1", "--json"])
            .kill_on_drop(true)
            .output()
            .await
            .context("cannot commit")?;
        if !done.status.success() {
            bail!("commit failed: {}", String::from_utf8_lossy(&done.stderr));
        }
        commits += 1;
    }
    Ok(commits)
}
