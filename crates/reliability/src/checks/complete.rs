//! Completeness of answers without a flag: each equals the answer without a time limit.

use super::settings::Run;
use crate::client::{Client, search_path};
use crate::process::Process;
use crate::stage::{Stage, slow_queries};
use crate::verdict::Verdict;
use anyhow::Context;
use serde_json::Value;
use stats::Random;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::MadeUp;
use tokio::sync::Mutex;

const DOCUMENTS: usize = 60_000;
/// Number of concurrent clients: enough that some queries wait.
const CLIENTS: u64 = 4;
/// Interval, in documents, of those with a small site. All others share one site, so that a page under the
/// per-site limit takes repeated searches.
const SMALL_SITE_EVERY: usize = 40;

/// A request apart from its timeout. Its right answer does not depend on the timeout.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Asked {
    path: String,
    counted: bool,
}

/// The right answers, each requested once.
struct Truths {
    known: Mutex<HashMap<Asked, Arc<Value>>>,
    client: Mutex<Client>,
}

/// Results over all clients.
#[derive(Debug, Default)]
struct Found {
    asked: u64,
    whole: u64,
    flagged: u64,
    without: u64,
    different: u64,
    partial_refused: u64,
    examples: Vec<String>,
}

/// Runs one process with one and with two partitions, with and without a cache, and separate processes.
pub(super) async fn run(run: &Run) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::new("complete", run.seed);
    let made_up = MadeUp::default();
    let documents = made_up.documents(DOCUMENTS).enumerate();
    let documents = documents.map(|(number, mut document)| {
        let site = match number % SMALL_SITE_EVERY {
            0 => number / SMALL_SITE_EVERY % 60 + 1,
            _ => 0,
        };
        document.url = format!("http://site{site}.test/{number}");
        document
    });
    let stage = Stage::of(documents, DOCUMENTS, 4).await?;
    let truth = stage.serve(&["--handlers", "2"]).await?;
    let truths = Truths {
        known: Mutex::default(),
        client: Mutex::new(Client::new(truth.address)),
    };
    let queries = Arc::new(queries());
    let index_server = stage.server("index-server", &stage.all_chunks()).await?;
    let documents = stage.server("document-server", &stage.all_chunks()).await?;
    let all = stage.all_chunks();
    let sides = [(all.clone(), index_server.address)];
    let texts = [(all, documents.address)];
    let servers = [
        stage.serve(&[]).await?,
        stage.serve(&["--cache", "64MiB"]).await?,
        stage.serve(&["--partitions", "2"]).await?,
        stage
            .serve(&["--partitions", "4", "--cache", "64MiB"])
            .await?,
        stage
            .front_end(&sides, &texts, &["--cache", "64MiB"])
            .await?,
    ];
    let each = run.size(400, 20_000);
    let mut found = Found::default();
    for (number, server) in servers.iter().enumerate() {
        let left = Arc::new(AtomicUsize::new(each));
        let clients = (0..CLIENTS).map(|client| {
            let stream = number as u64 * CLIENTS + client;
            let random = Random::new(run.seed, stream);
            ask(server, &truths, &queries, random, &left, run.sabotage)
        });
        for one in futures_util::future::try_join_all(clients).await? {
            found.add(one);
        }
    }
    verdict.count = format!("{} requests, {} whole", found.asked, found.whole);
    verdict.none("unlike the untimed answer and not flagged", found.different);
    verdict.at_least("flagged", found.flagged as f64, each as f64 / 100.0);
    verdict.at_least("whole", found.whole as f64, each as f64 / 10.0);
    verdict.note("without an answer (504, 429)", found.without as f64);
    verdict.none("partial=0 and yet flagged", found.partial_refused);
    verdict.tell(found.examples);
    Ok(verdict)
}

impl Found {
    fn add(&mut self, other: Found) {
        self.asked += other.asked;
        self.whole += other.whole;
        self.flagged += other.flagged;
        self.without += other.without;
        self.different += other.different;
        self.partial_refused += other.partial_refused;
        self.examples.extend(other.examples);
    }
}

/// Returns queries of every clause, few enough that each is sent many times.
fn queries() -> Vec<String> {
    let mut queries: Vec<String> = MadeUp::default().queries(40).collect();
    let words: Vec<String> = queries
        .iter()
        .flat_map(|query| query.split(' '))
        .map(str::to_owned)
        .collect();
    for pair in words.chunks(2).take(16) {
        let [one, other] = pair else { continue };
        queries.push(one.clone());
        queries.push(format!("{one} OR {other}"));
        queries.push(format!("{one} -\"{other} {one}\"~20"));
        queries.push(format!("({one} {other}) OR \"{one} {other}\"~5"));
        queries.push(format!("{}*", &one[..2.min(one.len())]));
        queries.push(format!("{one} -{}*", &other[..2.min(other.len())]));
    }
    queries.extend(slow_queries(6, 8));
    queries
}

/// Draws a request from the grammar of parameters, and its timeout.
fn drawn(queries: &[String], random: &mut Random) -> (Asked, u64, bool) {
    let pick = |random: &mut Random, of: &[usize]| of[random.below(of.len() as u64) as usize];
    let query = &queries[random.below(queries.len() as u64) as usize];
    let k = pick(random, &[1, 10, 10, 100]);
    let start = pick(random, &[0, 0, 0, 10, 100, 2_000, 5_000]);
    let per_site = pick(random, &[0, 1, 2, 2, 3]);
    let any = random.below(2);
    let counted = random.below(3) > 0;
    let count = if counted { "exact" } else { "none" };
    let explain = u64::from(random.below(20) == 0);
    let parameters = format!(
        "&k={k}&start={start}&per_site={per_site}&any={any}&count={count}&explain={explain}"
    );
    let path = search_path(query, &parameters);
    let timeout_ms = 1 + random.below(50);
    (Asked { path, counted }, timeout_ms, random.below(2) == 0)
}

async fn ask(
    server: &Process,
    truths: &Truths,
    queries: &[String],
    mut random: Random,
    left: &AtomicUsize,
    sabotage: bool,
) -> anyhow::Result<Found> {
    let mut client = Client::new(server.address);
    let mut found = Found::default();
    while left
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left.checked_sub(1)
        })
        .is_ok()
    {
        let (asked, timeout_ms, partial) = drawn(queries, &mut random);
        let path = format!(
            "{}&timeout={timeout_ms}ms&partial={}",
            asked.path,
            u8::from(partial)
        );
        let answered = client.get(&path).await;
        let answered = answered.map_err(|lost| anyhow::anyhow!("{path}: {lost:?}"))?;
        found.asked += 1;
        if answered.status != 200 {
            found.without += 1;
            continue;
        }
        let answer: Value = serde_json::from_slice(&answered.body)?;
        if answer.get("degraded").is_some() {
            found.flagged += 1;
            found.partial_refused += u64::from(!partial);
            // Sabotage ignores the flags.
            if !sabotage {
                continue;
            }
        }
        found.whole += 1;
        let truth = truths.of(&asked).await?;
        if comparable(answer, asked.counted) != *truth {
            found.different += 1;
            found
                .examples
                .push(format!("{path} at {:?}", server.arguments()));
        }
    }
    Ok(found)
}

impl Truths {
    async fn of(&self, asked: &Asked) -> anyhow::Result<Arc<Value>> {
        if let Some(known) = self.known.lock().await.get(asked) {
            return Ok(Arc::clone(known));
        }
        let answered = self.client.lock().await.get(&asked.path).await;
        let answered = answered.map_err(|lost| anyhow::anyhow!("{}: {lost:?}", asked.path))?;
        let answer: Value = serde_json::from_slice(&answered.body)
            .with_context(|| format!("{}: status {}", asked.path, answered.status))?;
        anyhow::ensure!(
            answer.get("degraded").is_none(),
            "the untimed answer lacks parts"
        );
        let truth = Arc::new(comparable(answer, asked.counted));
        let mut known = self.known.lock().await;
        Ok(Arc::clone(known.entry(asked.clone()).or_insert(truth)))
    }
}

/// Removes an answer's times, and its total where that is a lower bound, which depends on the partitions.
fn comparable(mut answer: Value, counted: bool) -> Value {
    if let Some(fields) = answer.as_object_mut() {
        fields.remove("phases_us");
        if !counted {
            fields.remove("total");
        }
    }
    answer
}
