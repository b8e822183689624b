//! Check V4: an answer names its missing parts, whatever happens to index servers.

pub(super) mod judge;

use super::rolling::addresses;
use super::settings::Run;
use crate::client::Client;
use crate::process::Process;
use crate::proxy::Proxy;
use crate::stage::{NOTICED, Stage};
use crate::verdict::Verdict;
use judge::{Judge, TIMEOUT_MS};
use rustix::process::Signal;
use stats::Random;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;

const PARTS: u32 = 4;
const CLIENTS: usize = 16;
/// Queries sent a second, as long as answers come in time.
const RATE_QPS: f64 = 200.0;
/// Number of queries during a blow, and between two blows.
const QUERIES_OF_A_BLOW: usize = 200;
const QUERIES_BETWEEN: usize = 120;
/// Number of queries that refuse partial answers, and of queries while all parts are down.
const STRICT: usize = 100;
const ALL_LOST: usize = 50;

/// Kind of attack on an index server.
#[derive(Debug, Clone, Copy)]
enum Blow {
    Stop,
    Kill,
    Slow,
}

/// Runs 4 index servers without replicas behind proxies, a document server, and a front-end.
pub(super) async fn run(run: &Run) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::new("V4", run.seed);
    let stage = Stage::set(4_000, 8).await?;
    let one_process = stage.serve(&[]).await?;
    let judge = Judge::taught(&stage, PARTS, one_process.address, run.sabotage).await?;
    let judge = Arc::new(judge);
    drop(one_process);

    let mut servers = Vec::new();
    for part in stage.parts(PARTS) {
        servers.push((part.clone(), stage.server("index-server", &part).await?));
    }
    let mut proxies = Vec::new();
    let mut proxied = Vec::new();
    for (part, address) in addresses(&servers) {
        let proxy = Proxy::before(address, run.seed).await?;
        proxied.push((part, proxy.address));
        proxies.push(proxy);
    }
    let mut servers: Vec<Process> = servers.into_iter().map(|(_, server)| server).collect();
    let all = stage.all_chunks();
    let document_server = stage.server("document-server", &all).await?;
    let document_servers = [(all, document_server.address)];
    let front_end = stage.front_end(&proxied, &document_servers, &[]).await?;

    let asked_total = run.size(2_000, 20_000) - STRICT - ALL_LOST;
    let asking = Asking::begin(front_end.address, &judge);
    let mut random = Random::new(run.seed, 4);
    let mut blows = 0;
    asking.asked_more(QUERIES_BETWEEN).await;
    while asking.asked() < asked_total {
        let blow = [Blow::Stop, Blow::Kill, Blow::Slow][blows % 3];
        let victim = random.below(PARTS.into()) as usize;
        judge.fault_begins(victim);
        let server = &mut servers[victim];
        match blow {
            Blow::Stop => {
                server.signal(Signal::STOP)?;
                asking.asked_more(QUERIES_OF_A_BLOW).await;
                server.signal(Signal::CONT)?;
            }
            Blow::Kill => {
                server.kill().await?;
                asking.asked_more(QUERIES_OF_A_BLOW).await;
                server.restart().await?;
            }
            Blow::Slow => {
                let orders = &proxies[victim].orders;
                orders.hold(0.5, Duration::from_millis(TIMEOUT_MS * 3 / 2));
                asking.asked_more(QUERIES_OF_A_BLOW).await;
                orders.hold(0.0, Duration::ZERO);
            }
        }
        judge.fault_ends();
        blows += 1;
        asking
            .asked_more(QUERIES_BETWEEN + random.below(40) as usize)
            .await;
    }
    asking.end().await;
    let mut counts = judge.counts();

    // With `partial=0`, a missing part makes the answer an error.
    servers[random.below(PARTS.into()) as usize].kill().await?;
    counts.strict_answered = judge
        .count_200(front_end.address, STRICT, "&partial=0")
        .await;
    for server in &mut servers {
        if server.id().is_ok() {
            server.kill().await?;
        }
    }
    counts.nothing_answered = judge.count_200(front_end.address, ALL_LOST, "").await;
    tokio::time::sleep(NOTICED).await;
    counts.nothing_answered += judge.count_200(front_end.address, ALL_LOST, "").await;

    verdict.count = format!(
        "{} queries, {blows} blows",
        counts.asked as usize + STRICT + 2 * ALL_LOST
    );
    verdict.none("incomplete unflagged", counts.unflagged);
    verdict.at_most(
        "complete but flagged %",
        counts.flagged_in_vain as f64 / counts.asked.max(1) as f64 * 100.0,
        0.1,
    );
    verdict.none("other hits than the rest has", counts.wrong);
    verdict.at_most("coverage off by %", counts.coverage_off * 100.0, 1.0);
    // An error is honest too, but must not be the usual outcome.
    verdict.at_most(
        "errors %",
        counts.failed as f64 / counts.asked.max(1) as f64 * 100.0,
        2.0,
    );
    verdict.none("partial=0 answered", counts.strict_answered);
    verdict.none("all lost answered", counts.nothing_answered);
    verdict.at_least("flagged", counts.flagged as f64, blows as f64);
    verdict.tell(counts.examples);
    Ok(verdict)
}

/// Queries in progress.
pub(super) struct Asking {
    stop: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
    clients: JoinSet<()>,
}

impl Asking {
    /// Number of concurrent clients.
    pub(super) const CLIENTS: usize = CLIENTS;

    pub(super) fn begin(front_end: SocketAddr, judge: &Arc<Judge>) -> Asking {
        let (stop, asked) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let mut clients = JoinSet::new();
        for _ in 0..CLIENTS {
            let (stop, asked) = (Arc::clone(&stop), Arc::clone(&asked));
            let judge = Arc::clone(judge);
            clients.spawn(async move {
                let mut client = Client::new(front_end);
                let period = Duration::from_secs_f64(CLIENTS as f64 / RATE_QPS);
                let mut ticks = tokio::time::interval(period);
                ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
                while !stop.load(Ordering::Relaxed) {
                    ticks.tick().await;
                    judge.ask(&mut client, asked.load(Ordering::Relaxed)).await;
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        Asking {
            stop,
            asked,
            clients,
        }
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    pub(super) async fn asked_more(&self, count: usize) {
        let until = self.asked() + count;
        while self.asked() < until {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub(super) async fn end(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        while self.clients.join_next().await.is_some() {}
    }
}
