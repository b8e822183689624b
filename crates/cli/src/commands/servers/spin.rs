//! Ranges that spin in place of searches, on the handlers of an index server: `shorttail lab spin`, for the laboratory alone.

use ::lab::{SpinAnswer, SpinClock, SpinQuery, SpinReport, SpinRequest};
use ::load::{Clock, run_first, wake_precisely};
use serve::{
    Draining, Generations, HandlerOptions, InProcessIndexServer, PartError, Reply, SyntheticClock,
    SyntheticRequest, SyntheticTimes,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Time limit of a request: none is given up.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Time from the start to the first instant, so that all threads are ready.
const LEAD_NS: u64 = 2_000_000;

type Answer = tokio::sync::oneshot::Receiver<Result<SyntheticTimes, PartError>>;

/// Sends each query at its instant and waits for all answers.
pub(crate) fn spun(request: &SpinRequest) -> anyhow::Result<SpinReport> {
    let server = server(request)?;
    wake_precisely();
    run_first();
    let clock = Clock::start().later(LEAD_NS);
    let sent: Vec<(f64, Answer)> = request
        .queries
        .iter()
        .map(|query| {
            let due_ns = (query.at_us * 1e3) as u64;
            clock.sleep_until(due_ns);
            let lag_us = clock.now_ns().saturating_sub(due_ns) as f64 / 1e3;
            let (reply, answer) = Reply::channel();
            server.spin(synthetic(query, request.clock), reply);
            (lag_us, answer)
        })
        .collect();
    let answered = |(lag_us, answer): (f64, Answer)| {
        let times = answer.blocking_recv().ok().and_then(Result::ok);
        SpinAnswer {
            lag_us,
            response_us: times.map(|times| (times.queueing + times.search).as_secs_f64() * 1e6),
            handlers: times.map_or(0, |times| times.handlers),
        }
    };
    let answers = sent.into_iter().map(answered).collect();
    let wake_ns = server.figures().wake_ns.load(Ordering::Relaxed);
    Ok(SpinReport {
        answers,
        wake_us: wake_ns as f64 / 1e3,
    })
}

/// Starts an index server of an empty index.
fn server(request: &SpinRequest) -> anyhow::Result<InProcessIndexServer> {
    let storage = Arc::new(vfs::MemoryStorage::default());
    index::Writer::open(storage.clone(), index::BuildOptions::default())?.commit()?;
    let generations = Generations::open(storage)?;
    let chunks = 0..=generations.newest().chunks_count() - 1;
    let options = HandlerOptions {
        handlers: request.handlers,
        policy: request.policy.parse()?,
        // No request is refused.
        queue_length: request.queries.len() + 1,
        ..HandlerOptions::default()
    };
    let draining = Draining::default();
    Ok(InProcessIndexServer::start(
        generations,
        chunks,
        &options,
        draining,
    )?)
}

fn synthetic(query: &SpinQuery, clock: SpinClock) -> SyntheticRequest {
    let of = |us: f64| Duration::from_secs_f64(us / 1e6);
    SyntheticRequest {
        time: of(query.time_us),
        likely: of(query.likely_us),
        high: of(query.high_us),
        deadline: Instant::now() + TIMEOUT,
        clock: match clock {
            SpinClock::Wall => SyntheticClock::Wall,
            SpinClock::Processor => SyntheticClock::Processor,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_takes_its_time() {
        for (policy, clock) in [("fifo", SpinClock::Wall), ("boost", SpinClock::Processor)] {
            let query = |number: u32| SpinQuery {
                at_us: f64::from(number) * 500.0,
                time_us: 400.0,
                likely_us: 400.0,
                high_us: 600.0,
            };
            let request = SpinRequest {
                policy: policy.into(),
                handlers: 2,
                clock,
                queries: (0..20).map(query).collect(),
            };
            let report = spun(&request).unwrap();
            assert_eq!(report.answers.len(), 20);
            for answer in report.answers {
                let degree = f64::from(answer.handlers);
                let response_us = answer.response_us.unwrap();
                assert!((1.0..=2.0).contains(&degree), "{answer:?}");
                assert!(response_us * degree >= 400.0, "{answer:?}");
            }
        }
        let unknown = SpinRequest {
            policy: "magic".into(),
            handlers: 1,
            clock: SpinClock::Wall,
            queries: Vec::new(),
        };
        assert!(spun(&unknown).is_err());
    }
}
