//! Check V1: overload leaves the server as good as its best.

use super::settings::Run;
use crate::offered::{Came, Offer};
use crate::stage::{Stage, slow_queries};
use crate::verdict::Verdict;
use load::{Ending, Sample};
use std::time::Duration;

/// Number of clients that saturate the server without being refused.
const CLIENTS: usize = 4;
/// Time after which an answer is of no use to its client.
const DEADLINE: Duration = Duration::from_secs(1);
/// Upper limit on the time until a refusal.
const REFUSAL_MS_MAX: f64 = 20.0;
/// Time after the overload by which everything must be as before.
const NORMAL_AFTER: Duration = Duration::from_secs(2);

/// Runs one process with two handlers, under ten times its peak throughput from the load generator on the same machine.
pub(super) async fn run(run: &Run) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::new("V1", run.seed);
    let stage = Stage::set(run.size(40_000, 120_000), 2).await?;
    let mut more = vec!["--handlers", "2"];
    if run.sabotage {
        more.extend(["--queue", "100000", "--concurrency", "100000"]);
    }
    let server = stage.serve(&more).await?;
    let queries = slow_queries(200, 2);
    // A search must cost much more than its request, here and in the server's other threads: all of them share the
    // cores with the handlers.
    let offer = Offer::new(server.address, &queries, "&per_site=0&any=1", run.seed)?;

    offer.closed(CLIENTS, Duration::from_secs(2)).await?;
    let best = offer
        .closed(CLIENTS, Duration::from_secs(run.size(5, 15)))
        .await?;
    let peak_qps = best.goodput_qps(DEADLINE);
    let is_answer = |sample: &Sample| sample.ending.is_answer();
    let calm = offer
        .open(0.8 * peak_qps, Duration::from_secs(run.size(8, 30)))
        .await?;
    let resident_before = server.resident_bytes()?;
    let overload = offer
        .open(
            run.size(4.0, 10.0) * peak_qps,
            Duration::from_secs(run.size(10, 60)),
        )
        .await?;
    let resident_after = server.resident_bytes()?;
    let after = offer
        .open(0.5 * peak_qps, Duration::from_secs(run.size(6, 15)))
        .await?;

    let is_refusal = |sample: &Sample| sample.ending == Ending::Answered(429);
    let is_other = |sample: &Sample| !is_answer(sample) && !is_refusal(sample);
    let accepted = overload.times_ms(is_answer);
    // Selects requests whose intended instant is late enough that everything must be normal again.
    let normal_ns = NORMAL_AFTER.as_nanos() as u64;
    let late = |sample: &Sample| sample.intended_ns >= normal_ns;
    verdict.count = format!(
        "{} requests, {} refused",
        overload.samples().len(),
        overload.count(is_refusal)
    );
    verdict.note("peak qps", peak_qps);
    verdict.timed_at_least(
        "goodput of peak %",
        overload.goodput_qps(DEADLINE) / peak_qps * 100.0,
        run.size(80.0, 90.0),
    );
    let calm_ms = calm.times_ms(is_answer).ms(99.0);
    verdict.note("p99 ms at 0.8 of peak", calm_ms);
    verdict.timed_at_most("p99 ms accepted", accepted.ms(99.0), 2.0 * calm_ms);
    verdict.timed_at_most(
        "p99 ms refusals",
        overload.times_ms(is_refusal).ms(99.0),
        run.limit_ms(REFUSAL_MS_MAX),
    );
    verdict.none(
        "refusals without Retry-After",
        overload.count(|sample| is_refusal(sample) && sample.retry_after_s.is_none()),
    );
    verdict.none("neither answer nor refusal", overload.count(is_other));
    let refused_share = |of: &Came, from_ns: u64| {
        let due = |sample: &Sample| sample.intended_ns >= from_ns;
        let refused = of.count(|sample| due(sample) && !is_answer(sample));
        refused as f64 / of.count(due).max(1) as f64 * 100.0
    };
    verdict.note("refused % at 0.8 of peak", refused_share(&calm, 0));
    verdict.timed_at_most(
        "refused % 2 s after",
        refused_share(&after, normal_ns),
        refused_share(&calm, 0).max(1.0),
    );
    verdict.timed_at_most(
        "p99 ms 2 s after",
        after
            .times_ms(|sample| late(sample) && is_answer(sample))
            .ms(99.0),
        1.25 * calm_ms,
    );
    let grown = resident_after.saturating_sub(resident_before);
    verdict.note("memory + MB", grown as f64 / 1e6);
    Ok(verdict)
}
