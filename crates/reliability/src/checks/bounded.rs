//! Bounds on the worst requests: bytes of the answer, memory, time, and the end of their work.
//!
//! A grammar generates one heavy request for every clause and every route. Each is sent once in full with a timeout,
//! and once by a client that goes away, while `/healthz` is polled.

use super::settings::Run;
use crate::client::{Client, search_path};
use crate::offered::Percentiles;
use crate::process::Process;
use crate::stage::{Stage, frequent_words, heavy_queries};
use crate::verdict::Verdict;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

const DOCUMENTS: usize = 120_000;
const TIMEOUT: Duration = Duration::from_millis(200);
/// Time after which clients that go away do so.
const PATIENCE: Duration = Duration::from_millis(40);
/// Time limit for the end of work after its client has gone or its deadline has passed.
const IDLE_AFTER: Duration = Duration::from_millis(50);
/// Period in which the process must then be idle.
const IDLE_FOR: Duration = Duration::from_millis(100);
/// Upper limit on the processor time within that period, for connections, metrics and the clock.
const IDLE_CPU_MS_MAX: f64 = 10.0;
const ANSWER_BYTES_MAX: f64 = (4 << 20) as f64;
const MEMORY_MB_MAX: f64 = 64.0;
const HEALTH_MS_MAX: f64 = 50.0;
/// Interval between two polls of `/healthz`.
const LOOK: Duration = Duration::from_millis(5);
/// Time after which a draining server aborts the remaining work and ends.
const TERM_MAX: Duration = Duration::from_secs(13);

/// Largest figures over all requests.
#[derive(Debug, Default)]
struct Worst {
    bytes: f64,
    memory_mb: f64,
    late_ms: Vec<u64>,
    /// Processor time after the deadline, and after the client has gone.
    after_deadline_ms: f64,
    after_client_ms: f64,
    failed: u64,
    examples: Vec<String>,
}

/// Runs one process with two handlers.
pub(super) async fn run(run: &Run) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::new("bounded", run.seed);
    let stage = Stage::set(run.size(30_000, DOCUMENTS), 2).await?;
    let more: &[&str] = match run.sabotage {
        // Removes the limit of bytes and, below, that of time.
        true => &["--answer-max", "1GiB", "--timeout", "20s"],
        false => &[],
    };
    let mut server = stage.serve(&[&["--handlers", "2"], more].concat()).await?;
    let requests = requests();
    // Memory read for the first time belongs to the file cache, not to the request.
    for (_, path) in &requests {
        let path = format!("{path}&timeout={}", TIMEOUT.as_millis());
        let _ = Client::new(server.address).get(&path).await;
    }
    let health = Health::watch(server.address);
    let mut worst = Worst::default();
    for (name, path) in &requests {
        whole(&server, name, path, run, &mut worst).await?;
        gone(&server, name, path, run, &mut worst).await?;
    }
    let (health_ms, health_failed) = health.end().await?;

    // Requests of each kind are in progress when the server receives the signal to end.
    let mut clients = Vec::new();
    for (_, path) in &requests {
        clients.push(sent(server.address, path).await?);
    }
    let begun = Instant::now();
    let ended = server.terminate(TERM_MAX).await;
    let term_s = begun.elapsed().as_secs_f64();

    let late: Percentiles = worst.late_ms.iter().copied().collect();
    verdict.count = format!("{} requests, each whole and cancelled", requests.len());
    verdict.at_most("bytes of an answer", worst.bytes, ANSWER_BYTES_MAX);
    verdict.at_most("memory + MB", worst.memory_mb, MEMORY_MB_MAX);
    verdict.timed_at_most(
        "slowest ms after the timeout",
        late.ms(100.0),
        run.limit_ms(IDLE_AFTER.as_secs_f64() * 1e3),
    );
    let idle_ms_max = run.limit_ms(IDLE_CPU_MS_MAX);
    verdict.timed_at_most(
        "CPU ms of 100, 50 ms after the deadline",
        worst.after_deadline_ms,
        idle_ms_max,
    );
    verdict.timed_at_most(
        "CPU ms of 100, 50 ms after the client",
        worst.after_client_ms,
        idle_ms_max,
    );
    verdict.timed_at_most(
        "slowest /healthz ms",
        health_ms,
        run.limit_ms(HEALTH_MS_MAX),
    );
    verdict.none("/healthz failed", health_failed);
    verdict.none("answered otherwise than 200, 400, 504", worst.failed);
    verdict.timed_at_most("s to end after SIGTERM", term_s, TERM_MAX.as_secs_f64());
    verdict.none("not ended by SIGTERM", u64::from(ended.is_err()));
    verdict.tell(worst.examples);
    Ok(verdict)
}

/// Returns a heavy request for every clause and parameter, with its name.
fn requests() -> Vec<(&'static str, String)> {
    let words = frequent_words(1_000);
    let all = words.join(" ");
    let some = |count: usize| words[..count].join(" ");
    let letters: Vec<String> = words
        .iter()
        .map(|word| format!("{}*", &word[..1]))
        .collect();
    let syllables: Vec<String> = words
        .iter()
        .map(|word| format!("-{}*", &word[..2]))
        .collect();
    let loose = format!("\"{}\"~64", some(60));
    let phrases = vec![loose.as_str(); 16].join(" ");
    let nested = format!(
        "({} OR ({loose} {})) (\"{}\"~64 OR ({all}))",
        words[0],
        words[1],
        some(8)
    );
    let deep = format!("{}{}{}", "(".repeat(30), some(40), " OR b*)".repeat(30));
    let search = |query: &str, parameters: &str| search_path(query, parameters);
    let page =
        |query: &str, parameters: &str| search_path(query, parameters).replacen("/search", "/", 1);
    let explain = "&any=1&explain=1&k=1000&per_site=0";
    let mut requests = vec![
        (
            "one prefix, many times",
            search(&["b*"; 1024].join(" "), "&any=1"),
        ),
        ("prefixes", search(&letters.join(" "), "")),
        ("prefixes, any", search(&letters.join(" "), "&any=1")),
        (
            "excluded prefixes",
            search(&format!("{} {}", words[0], syllables.join(" ")), ""),
        ),
        ("loose phrases, any", search(&phrases, "&any=1")),
        (
            "excluded loose phrase",
            search(&format!("{} -{loose}", words[0]), ""),
        ),
        (
            "excluded loose phrase, any",
            search(&format!("{} -{loose}", some(3)), "&any=1"),
        ),
        ("nested", search(&nested, "")),
        ("deep", search(&deep, "&any=1")),
        ("all of a thousand words", search(&all, "")),
        ("any of a thousand words", search(&all, "&any=1&k=1000")),
        ("not counted", search(&all, "&any=1&k=1000&count=none")),
        ("explained prefix", search("b*", explain)),
        ("explained prefixes", search(&letters.join(" "), explain)),
        ("ten words explained", search(&some(10), explain)),
        ("a hundred words explained", search(&some(100), explain)),
        ("a thousand words explained", search(&all, explain)),
        ("a thousand words explained, page", page(&all, explain)),
        ("a loose phrase explained", search(&phrases, explain)),
        (
            "deep page",
            page(&words[0], "&k=1000&per_site=0&start=9000"),
        ),
        (
            "deep page, a hit a site",
            page(&words[0], "&k=1000&per_site=1&start=9000"),
        ),
        (
            "a hit a site",
            search(&words[0], "&k=1000&per_site=1&start=9000"),
        ),
        (
            "long query, page",
            page(
                &format!("{} {}", words[0], "x".repeat(15_000)),
                "&any=1&k=1000",
            ),
        ),
        ("traced", search(&all, "&any=1&k=1000&trace=1&explain=1")),
        ("tf·idf", search(&all, "&any=1&k=1000&ranking=tfidf")),
    ];
    let places = ["slow", "excluded slow", "required slow", "nested slow"];
    for (name, query) in places.into_iter().zip(heavy_queries(4, 160)) {
        requests.push((name, search(&query, "&any=1&per_site=0")));
    }
    let slow = heavy_queries(1, 20).concat();
    requests.push(("slow explained", search(&slow, explain)));
    requests
}

/// Sends a request in full with a timeout, and checks its cost and the end of its work.
async fn whole(
    server: &Process,
    name: &str,
    path: &str,
    run: &Run,
    worst: &mut Worst,
) -> anyhow::Result<()> {
    let path = match run.sabotage {
        true => path.to_owned(),
        false => format!("{path}&timeout={}", TIMEOUT.as_millis()),
    };
    server.forget_peak()?;
    let before = server.resident_bytes()?;
    let begun = Instant::now();
    let answered = Client::new(server.address).get(&path).await;
    let took = begun.elapsed();
    let answered = answered.map_err(|lost| anyhow::anyhow!("{name}: {lost:?}"))?;
    tokio::time::sleep(IDLE_AFTER).await;
    let cpu_ms = busy_ms(server).await?;
    let memory_mb = server.resident_peak_bytes()?.saturating_sub(before) as f64 / 1e6;
    let late_ns = took.saturating_sub(TIMEOUT).as_nanos() as u64;
    if !matches!(answered.status, 200 | 400 | 504) {
        worst.failed += 1;
    }
    let is_broken = answered.body.len() as f64 > ANSWER_BYTES_MAX
        || memory_mb > MEMORY_MB_MAX
        || cpu_ms > run.limit_ms(IDLE_CPU_MS_MAX)
        || late_ns as f64 / 1e6 > run.limit_ms(IDLE_AFTER.as_secs_f64() * 1e3);
    let line = format!(
        "{name}: {} in {:.0} ms, {} bytes, {memory_mb:.1} MB, then {cpu_ms:.1} ms of CPU",
        answered.status,
        took.as_secs_f64() * 1e3,
        answered.body.len()
    );
    if run.full {
        eprintln!("{line}");
    }
    if is_broken {
        worst.examples.push(line);
    }
    worst.bytes = worst.bytes.max(answered.body.len() as f64);
    worst.memory_mb = worst.memory_mb.max(memory_mb);
    worst.late_ms.push(late_ns);
    worst.after_deadline_ms = worst.after_deadline_ms.max(cpu_ms);
    Ok(())
}

/// Sends a request and goes away, and checks the end of its work.
async fn gone(
    server: &Process,
    name: &str,
    path: &str,
    run: &Run,
    worst: &mut Worst,
) -> anyhow::Result<()> {
    let client = sent(server.address, path).await?;
    tokio::time::sleep(PATIENCE).await;
    // Under sabotage the client stays, so the server is never told to stop.
    let stays = run.sabotage.then_some(client);
    tokio::time::sleep(IDLE_AFTER).await;
    let cpu_ms = busy_ms(server).await?;
    if cpu_ms > run.limit_ms(IDLE_CPU_MS_MAX) {
        worst.examples.push(format!(
            "{name}: {cpu_ms:.1} ms of CPU after its client went"
        ));
    }
    worst.after_client_ms = worst.after_client_ms.max(cpu_ms);
    drop(stays);
    Ok(())
}

/// Returns the processor time of the process over [`IDLE_FOR`], in milliseconds.
async fn busy_ms(server: &Process) -> anyhow::Result<f64> {
    let before = server.cpu_time()?;
    tokio::time::sleep(IDLE_FOR).await;
    Ok(server.cpu_time()?.saturating_sub(before).as_secs_f64() * 1e3)
}

async fn sent(address: SocketAddr, path: &str) -> anyhow::Result<TcpStream> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    Ok(stream)
}

/// Continuous poll of `/healthz`.
struct Health {
    is_over: Arc<AtomicBool>,
    asking: tokio::task::JoinHandle<(f64, u64)>,
}

impl Health {
    fn watch(address: SocketAddr) -> Health {
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_over);
        let asking = tokio::spawn(async move {
            let mut client = Client::new(address);
            let (mut slowest_ms, mut failed) = (0.0f64, 0);
            while !ends.load(Ordering::Relaxed) {
                let begun = Instant::now();
                let answered = client.get("/healthz").await;
                failed += u64::from(!answered.is_ok_and(|answered| answered.status == 200));
                slowest_ms = slowest_ms.max(begun.elapsed().as_secs_f64() * 1e3);
                tokio::time::sleep(LOOK).await;
            }
            (slowest_ms, failed)
        });
        Health { is_over, asking }
    }

    async fn end(self) -> anyhow::Result<(f64, u64)> {
        self.is_over.store(true, Ordering::Relaxed);
        Ok(self.asking.await?)
    }
}
