//! Check V2: cancellation of searches whose client has gone or whose deadline has passed.

use super::settings::Run;
use crate::client::{metric, search_path};
use crate::offered::Percentiles;
use crate::process::Process;
use crate::stage::{Stage, slow_queries};
use crate::verdict::Verdict;
use futures_util::future::join_all;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

const HANDLERS: usize = 2;
/// Time after which clients go away.
const PATIENCE: Duration = Duration::from_millis(20);
/// Upper limit on the time until searches have stopped.
const STOPPED_MS_MAX: f64 = 50.0;
/// Interval between two polls of the handlers.
const LOOK: Duration = Duration::from_millis(2);
const LOOKS: Duration = Duration::from_secs(5);
/// Queries of a burst, far more than can be answered before their deadline.
const BURST: usize = 60;
const BURST_TIMEOUT: Duration = Duration::from_millis(150);

/// Runs one process with two handlers and a long queue, and searches of some hundred milliseconds.
pub(super) async fn run(run: &Run) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::new("V2", run.seed);
    let stage = Stage::set(60_000, 2).await?;
    let server = stage.serve(&["--handlers", "2", "--queue", "1000"]).await?;
    let queries = slow_queries(100, 60);
    let whole_ms = alone_ms(&server, &queries).await?;
    // A proxy that does not report the client's departure to the server.
    let silent = Silent::before(server.address).await?;
    let asked = match run.sabotage {
        true => silent.address,
        false => server.address,
    };

    let trials = run.size(60, 1_000);
    let (mut stops, mut idle) = (Vec::new(), 0);
    for trial in 0..trials {
        let request = |number: usize| request(&queries[number % queries.len()], "");
        let mut clients = Vec::new();
        // Twice as many requests as handlers: the others wait in the queue, to be cancelled there.
        for number in 0..2 * HANDLERS {
            let mut stream = TcpStream::connect(asked).await?;
            stream.write_all(request(trial + number).as_bytes()).await?;
            clients.push(stream);
        }
        tokio::time::sleep(PATIENCE).await;
        if metric(&server, "shorttail_handlers_busy").await? == 0.0 {
            idle += 1;
        }
        drop(clients);
        stops.push(until_idle(&server).await?.as_nanos() as u64);
    }
    let ended_early = metric(&server, "shorttail_ended_early_total").await?;
    let never_begun = metric(&server, "shorttail_expired_total").await?;
    let stops: Percentiles = stops.into_iter().collect();

    // More work than fits the deadline: a query that waits past its deadline is not begun.
    let more = format!("&timeout={}", BURST_TIMEOUT.as_millis());
    let mut longest = Duration::ZERO;
    let bursts = run.size(3, 20);
    for _ in 0..bursts {
        let paths = queries.iter().take(BURST);
        let paths = paths.map(|query| search_path(query, &format!("{PARAMETERS}{more}")));
        let begun = Instant::now();
        // Answers and errors are equally right here; the check is about the end of the work.
        join_all(paths.map(|path| ask(server.address, path))).await;
        until_idle(&server).await?;
        longest = longest.max(begun.elapsed());
    }
    let expired = metric(&server, "shorttail_expired_total").await? - never_begun;

    verdict.count = format!(
        "{} cancels, {} of a burst",
        trials * 2 * HANDLERS,
        bursts * BURST
    );
    verdict.note("ms of a search", whole_ms);
    verdict.timed_at_least(
        "ms of a search over the limit ×",
        whole_ms / run.limit_ms(STOPPED_MS_MAX),
        1.2,
    );
    verdict.timed_at_most(
        "p99 ms to stop",
        stops.ms(99.0),
        run.limit_ms(STOPPED_MS_MAX),
    );
    verdict.note("slowest ms to stop", stops.ms(100.0));
    verdict.timed_at_most("cancelled too late", f64::from(idle), trials as f64 * 0.05);
    verdict.at_least("searches ended early", ended_early, trials as f64 / 2.0);
    verdict.at_least(
        "never begun, nobody waiting",
        never_begun,
        trials as f64 / 2.0,
    );
    verdict.at_least("never begun, past the deadline", expired, bursts as f64);
    verdict.timed_at_most(
        "slowest burst ms",
        longest.as_secs_f64() * 1e3,
        BURST_TIMEOUT.as_secs_f64() * 1e3 + run.limit_ms(STOPPED_MS_MAX),
    );
    Ok(verdict)
}

const PARAMETERS: &str = "&any=1&per_site=0";

fn request(query: &str, more: &str) -> String {
    let path = search_path(query, &format!("{PARAMETERS}{more}"));
    format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n")
}

async fn ask(address: SocketAddr, path: String) {
    let _ = crate::client::get(address, &path).await;
}

/// Returns the median time of an uninterrupted search, in milliseconds.
async fn alone_ms(server: &Process, queries: &[String]) -> anyhow::Result<f64> {
    let mut times = Vec::new();
    for query in &queries[..9] {
        let path = search_path(query, PARAMETERS);
        let answered = crate::client::get(server.address, &path).await?;
        let answer: wire::SearchAnswer = serde_json::from_slice(&answered.body)?;
        times.push(answer.phases_us.index_search * 1_000);
    }
    Ok(times.into_iter().collect::<Percentiles>().ms(50.0))
}

/// Waits until no handler searches, and returns the time taken.
async fn until_idle(server: &Process) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    while begun.elapsed() < LOOKS {
        let waiting = metric(server, "shorttail_queue_length").await?;
        if waiting + metric(server, "shorttail_handlers_busy").await? == 0.0 {
            break;
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(begun.elapsed())
}

/// Proxy that keeps the server's side open after the client's side has ended.
struct Silent {
    address: SocketAddr,
    accepting: JoinHandle<()>,
}

impl Silent {
    async fn before(target: SocketAddr) -> anyhow::Result<Silent> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let Ok(server) = TcpStream::connect(target).await else {
                        return;
                    };
                    let (mut from_client, mut to_client) = client.into_split();
                    let (mut from_server, mut to_server) = server.into_split();
                    let there = tokio::io::copy(&mut from_client, &mut to_server);
                    let back = tokio::io::copy(&mut from_server, &mut to_client);
                    let _ = tokio::join!(there, back);
                });
            }
        });
        Ok(Silent { address, accepting })
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}
