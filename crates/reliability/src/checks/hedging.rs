//! Check V7: hedged requests pay where one replica stalls now and then.

use super::rolling::addresses;
use super::settings::Run;
use crate::client::metric;
use crate::offered::{Came, Offer};
use crate::proxy::Proxy;
use crate::stage::Stage;
use crate::verdict::Verdict;
use std::time::Duration;
use testkit::MadeUp;

/// Share of the calls to the slow replica that stall.
const STALLED_SHARE: f64 = 0.02;
const RATE_QPS: f64 = 100.0;

/// Runs 1 index server × 2 replicas, one behind a proxy that stalls calls. Front-ends with and without hedged requests
/// are loaded in turn.
pub(super) async fn run(run: &Run) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::new("V7", run.seed);
    let stage = Stage::set(4_000, 8).await?;
    let all = stage.all_chunks();
    let mut replicas = Vec::new();
    for _ in 0..2 {
        let server = stage.server("index-server", &all).await?;
        replicas.push((all.clone(), server));
    }
    let proxy = Proxy::before(replicas[0].1.address, run.seed).await?;
    let mut index_servers = addresses(&replicas);
    index_servers[0].1 = proxy.address;
    let document_server = stage.server("document-server", &all).await?;
    let document_servers = [(all, document_server.address)];
    let hedges = if run.sabotage { "off" } else { "on" };
    let mut front_ends = Vec::new();
    for hedges in ["off", hedges] {
        let more = ["--hedges", hedges];
        let front_end = stage.front_end(&index_servers, &document_servers, &more);
        front_ends.push(front_end.await?);
    }

    let queries: Vec<String> = MadeUp::default().queries(500).collect();
    let offers = [
        Offer::new(front_ends[0].address, &queries, "", run.seed)?,
        Offer::new(front_ends[1].address, &queries, "", run.seed)?,
    ];
    // Front-ends learn the latency of calls before any stall.
    for offer in &offers {
        offer.open(RATE_QPS, Duration::from_secs(2)).await?;
    }
    // A search of the unoptimized build that runs the small size takes tens of milliseconds. A stall is far above what a
    // hedged request waits and takes, or the ratio would tell the speed of the machine.
    let stall = Duration::from_millis(run.size(800, 300));
    proxy.orders.hold(STALLED_SHARE, stall);
    let mut came: [Vec<Came>; 2] = Default::default();
    // In turns, so that other work of the machine affects both alike.
    let turns = run.size(2, 3);
    for _ in 0..turns {
        for (offer, came) in offers.iter().zip(&mut came) {
            let lasts = Duration::from_secs(run.size(6, 20));
            came.push(offer.open(RATE_QPS, lasts).await?);
        }
    }
    let answered = |came: &[Came]| -> crate::offered::Percentiles {
        let samples = came.iter().flat_map(Came::samples);
        let answered = samples.filter(|sample| sample.ending.is_answer());
        answered.filter_map(load::Sample::response_ns).collect()
    };
    let (without, with) = (answered(&came[0]), answered(&came[1]));
    let failed: u64 = came
        .iter()
        .flatten()
        .map(|came| came.count(|sample| !sample.ending.is_answer()))
        .sum();
    let asked: usize = came.iter().flatten().map(|came| came.samples().len()).sum();
    let hedging = &front_ends[1];
    let calls = metric(hedging, "shorttail_calls_total").await?;
    let hedges = metric(hedging, "shorttail_hedges_total").await?;
    let won = metric(hedging, "shorttail_hedges_won_total").await?;
    let (_, stalled) = proxy.orders.counts();
    // The slowest thousandth of few queries is one or two queries, so the small size uses 5 in 1,000.
    let percent = run.size(99.5, 99.9);
    verdict.count = format!("{asked} queries, {stalled} calls stalled");
    verdict.none("failed", failed);
    verdict.note(
        &format!("p{percent} ms without hedges"),
        without.ms(percent),
    );
    verdict.note(&format!("p{percent} ms with"), with.ms(percent));
    verdict.timed_at_least(
        &format!("p{percent} cut by"),
        without.ms(percent) / with.ms(percent),
        5.0,
    );
    verdict.at_most("extra calls %", hedges / calls * 100.0, 5.0);
    verdict.note("hedges that won", won);
    verdict.note("p50 ms without", without.ms(50.0));
    verdict.note("p50 ms with", with.ms(50.0));
    Ok(verdict)
}
