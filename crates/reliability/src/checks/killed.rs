//! Check V5: no query fails while replicas are killed and stopped.

use super::rolling::{addresses, index_servers};
use super::settings::Run;
use crate::proxy::Proxy;
use crate::stage::{NOTICED, Stage, ordinary_paths, questions};
use crate::traffic::{Tally, Traffic};
use crate::verdict::Verdict;
use rustix::process::Signal;
use stats::Random;
use std::sync::Arc;
use std::time::Duration;

/// Duration of a stop, longer than the time to notice it.
const STOPPED: Duration = Duration::from_millis(2_500);
/// Time between a kill and the restart.
const AWAY: Duration = Duration::from_millis(500);
/// Time between two kills: the front-end must know that the first server is back.
const BETWEEN: Duration = NOTICED;
/// Upper limit on the time that an ambushed server waits for its call.
const CALL_MAX: Duration = Duration::from_secs(5);

/// Kind of attack on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blow {
    Kill,
    Stop,
    /// Killed at the moment when the request for summaries of the hits arrives.
    KillBeforeSummaries,
}

/// Runs 2 index servers × 2 replicas, 2 equal document servers behind proxies, and a front-end.
pub(super) async fn run(run: &Run) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::new("V5", run.seed);
    let stage = Stage::set(4_000, 8).await?;
    let replicas = if run.sabotage { 1 } else { 2 };
    let one_process = stage.serve(&[]).await?;
    let questions = Arc::new(questions(one_process.address, ordinary_paths(400)).await?);
    drop(one_process);

    let mut servers = index_servers(&stage, replicas).await?;
    let index_servers = addresses(&servers);
    let (mut proxies, mut document_servers) = (Vec::new(), Vec::new());
    for number in 0..replicas {
        let server = stage.server("document-server", &stage.all_chunks()).await?;
        let proxy = Proxy::before(server.address, run.seed + number).await?;
        document_servers.push((stage.all_chunks(), proxy.address));
        servers.push((stage.all_chunks(), server));
        proxies.push(proxy);
    }
    let front_end = stage
        .front_end(&index_servers, &document_servers, &[])
        .await?;

    let calm = Traffic::begin(&[front_end.address], &questions, 200.0);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let calm: Tally = calm.end().await;
    let traffic = Traffic::begin(&[front_end.address], &questions, 200.0);
    let mut random = Random::new(run.seed, 5);
    let blows = run.size(5, 60);
    let mut counts = [0u32; 3];
    for number in 0..blows {
        // Each kind in turn; times and victims are random.
        let blow = [Blow::Kill, Blow::KillBeforeSummaries, Blow::Stop][number % 3];
        let first_document_server = index_servers.len();
        let victim = match blow {
            Blow::KillBeforeSummaries => {
                first_document_server + random.below(proxies.len() as u64) as usize
            }
            Blow::Kill | Blow::Stop => random.below(servers.len() as u64) as usize,
        };
        tokio::time::sleep(BETWEEN + Duration::from_millis(random.below(300))).await;
        let server = &mut servers[victim].1;
        match blow {
            Blow::Stop => {
                server.signal(Signal::STOP)?;
                tokio::time::sleep(STOPPED).await;
                server.signal(Signal::CONT)?;
            }
            Blow::Kill => {
                server.kill().await?;
                tokio::time::sleep(AWAY).await;
                server.restart().await?;
            }
            Blow::KillBeforeSummaries => {
                let (met, go_on) = proxies[victim - first_document_server].orders.ambush();
                tokio::time::timeout(CALL_MAX, met).await??;
                server.kill().await?;
                drop(go_on);
                tokio::time::sleep(AWAY).await;
                server.restart().await?;
            }
        }
        counts[blow as usize] += 1;
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let tally = traffic.end().await;
    verdict.count = format!(
        "{} kills, {} of them before summaries, {} stops, {} queries",
        counts[0] + counts[2],
        counts[2],
        counts[1],
        tally.asked
    );
    verdict.none("failed", tally.failed + calm.failed);
    verdict.none("partial", tally.partial + calm.partial);
    verdict.none("wrong", tally.wrong + calm.wrong);
    verdict.note("p99 ms", tally.times().ms(99.0));
    verdict.note("p99 ms without", calm.times().ms(99.0));
    // A stopped server is noticed within two seconds; then callers that wait for it fail over.
    verdict.timed_at_most("slowest ms", tally.times().ms(100.0), run.limit_ms(2_500.0));
    verdict.tell(tally.examples.into_iter().chain(calm.examples));
    Ok(verdict)
}
