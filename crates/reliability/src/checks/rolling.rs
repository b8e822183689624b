//! Check V6: no query fails while everything is restarted in turn.

use super::settings::Run;
use crate::process::Process;
use crate::stage::{NOTICED, Stage, ordinary_paths, questions};
use crate::traffic::Traffic;
use crate::verdict::Verdict;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Upper limit on the time in which a server ends after SIGTERM.
const DRAIN_MAX: Duration = Duration::from_secs(10);

/// Time between the end and the restart, so that clients meet refused connections.
const AWAY: Duration = Duration::from_millis(300);

/// Runs 2 index servers × 2 replicas, 2 equal document servers and 2 front-ends; sends SIGTERM to each in turn.
pub(super) async fn run(run: &Run) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::new("V6", run.seed);
    let stage = Stage::set(4_000, 8).await?;
    let replicas = if run.sabotage { 1 } else { 2 };
    let one_process = stage.serve(&[]).await?;
    let questions = Arc::new(questions(one_process.address, ordinary_paths(400)).await?);
    drop(one_process);

    let mut servers = index_servers(&stage, replicas).await?;
    let index_servers = addresses(&servers);
    for _ in 0..replicas {
        let all = stage.all_chunks();
        servers.push((all.clone(), stage.server("document-server", &all).await?));
    }
    let document_servers = addresses(&servers[index_servers.len()..]);
    let mut front_ends = Vec::new();
    for _ in 0..2 {
        let front_end = stage.front_end(&index_servers, &document_servers, &[]);
        front_ends.push(front_end.await?);
    }

    let front_end_addresses: Vec<SocketAddr> = front_ends.iter().map(|one| one.address).collect();
    let traffic = Traffic::begin(&front_end_addresses, &questions, run.size(150.0, 200.0));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut restarts = 0u32;
    let mut slowest_drain = Duration::ZERO;
    let rounds = run.size(1, 3);
    for _ in 0..rounds {
        let servers = servers.iter_mut().map(|(_, server)| server);
        for process in servers.chain(front_ends.iter_mut()) {
            let begun = Instant::now();
            process.terminate(DRAIN_MAX).await?;
            slowest_drain = slowest_drain.max(begun.elapsed());
            tokio::time::sleep(AWAY).await;
            process.restart().await?;
            // The next server goes down when front-ends know that this one is back.
            tokio::time::sleep(NOTICED).await;
            restarts += 1;
        }
    }
    // Continues to the number of queries that the full size promises.
    while traffic.asked() < run.size(0, 20_000) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let tally = traffic.end().await;
    verdict.count = format!(
        "{rounds} rounds, {restarts} restarts, {} queries",
        tally.asked
    );
    verdict.none("failed", tally.failed);
    verdict.none("partial", tally.partial);
    verdict.none("wrong", tally.wrong);
    verdict.at_least("refused and tried again", tally.refused as f64, 1.0);
    verdict.at_most(
        "slowest drain s",
        slowest_drain.as_secs_f64(),
        DRAIN_MAX.as_secs_f64(),
    );
    verdict.note("p99 ms", tally.times().ms(99.0));
    verdict.note("slowest ms", tally.times().ms(100.0));
    verdict.tell(tally.examples);
    Ok(verdict)
}

/// Starts two index servers with `replicas` replicas each, and returns them with their chunks.
pub(super) async fn index_servers(
    stage: &Stage,
    replicas: u64,
) -> anyhow::Result<Vec<(String, Process)>> {
    let mut servers = Vec::new();
    for part in stage.parts(2) {
        for _ in 0..replicas {
            servers.push((part.clone(), stage.server("index-server", &part).await?));
        }
    }
    Ok(servers)
}

pub(super) fn addresses(servers: &[(String, Process)]) -> Vec<(String, SocketAddr)> {
    let pair = |(chunks, server): &(String, Process)| (chunks.clone(), server.address);
    servers.iter().map(pair).collect()
}
