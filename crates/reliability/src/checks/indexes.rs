//! Check `indexes`: many indexes in one process answer for themselves, as fast as one alone, and idle ones cost little.

use super::settings::Run;
use crate::client::{Answered, Client, send_body};
use crate::offered::Percentiles;
use crate::process::Process;
use crate::verdict::Verdict;
use anyhow::{Context, bail};
use futures_util::future::join_all;
use serde_json::{Value, json};
use stats::Random;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Documents of each index.
const DOCUMENTS: u64 = 100;
/// Words that some documents hold, and one that all do.
const WORDS: u64 = 50;
/// Documents of a change, which replaces some by others with the same words.
const REPLACED: u64 = 5;
/// Clients of searches, each with a connection of its own.
const CLIENTS: u64 = 8;
/// Searches offered a second, of all clients together.
const RATE_QPS: f64 = 200.0;
/// Interval between two changes.
const CHANGE_EVERY: Duration = Duration::from_millis(100);
/// Interval between two indexes that are created, searched and dropped.
const CREATE_EVERY: Duration = Duration::from_millis(500);
/// Pause after which a writer that nobody uses is closed, and a little more.
const WRITER_PAUSE: Duration = Duration::from_secs(75);

/// A server, and where its indexes are.
struct Served {
    process: Process,
    admin: SocketAddr,
    /// Paths of the indexes, as `/i7`; one that is empty where the server has one index.
    indexes: Vec<String>,
    _folder: TempDir,
}

/// Outcome of a load.
#[derive(Default)]
struct Came {
    times: Vec<u64>,
    searches: u64,
    wrong: Vec<String>,
}

/// Compares a server of many indexes with one of a single index of the size of each, under the same load.
pub(super) async fn run(run: &Run) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::new("indexes", run.seed);
    let count = run.size(40, 1_000);
    let many = Served::of_many(count).await?;
    if run.full {
        tokio::time::sleep(WRITER_PAUSE).await;
        let threads = threads_count(&many.process)?;
        verdict.at_most("threads when idle", threads as f64, 40.0);
    }
    let each_kib = many.process.anonymous_bytes()? / 1024 / count;
    verdict.at_most("KiB an index", each_kib as f64, run.size(4.0, 1.0) * 1024.0);
    let one = Served::of_one().await?;
    let duration = Duration::from_secs(run.size(3, 30));
    // In turns, so that other work on the machine disturbs both.
    let (mut of_one, mut of_many) = (Came::default(), Came::default());
    let (mut changes, mut created) = (0, 0);
    for turn in 0..run.size(1, 3) {
        let seed = run.seed.wrapping_add(turn * 100);
        one.load(seed, duration, false, &mut of_one).await?;
        let made = many
            .load(seed, duration, run.sabotage, &mut of_many)
            .await?;
        changes += made.0;
        created += made.1;
    }
    verdict.count = format!(
        "{count} indexes, {} searches, {changes} changes, {created} created and dropped",
        of_many.searches
    );
    verdict.none("wrong", (of_many.wrong.len() + of_one.wrong.len()) as u64);
    verdict.tell(of_many.wrong);
    verdict.tell(of_one.wrong);
    let p99 = |times: Vec<u64>| times.into_iter().collect::<Percentiles>().ms(99.0);
    let (one_ms, many_ms) = (p99(of_one.times), p99(of_many.times));
    verdict.note("p99 ms of one index", one_ms);
    verdict.timed_at_most("p99 ms", many_ms, one_ms * run.size(8.0, 1.2));
    let threads = threads_count(&many.process)?;
    verdict.at_most("threads", threads as f64, 200.0);
    Ok(verdict)
}

impl Served {
    /// Starts a server of many indexes, and fills them.
    async fn of_many(count: u64) -> anyhow::Result<Served> {
        let folder = TempDir::with_prefix("shorttail-reliability-")?;
        let path = folder.path().to_string_lossy().into_owned();
        let process = Process::start(&["serve", &path, "--writable"]).await?;
        let admin = process.admin.context("the server has no admin address")?;
        let indexes = (0..count).map(|number| format!("/i{number}")).collect();
        let served = Served {
            process,
            admin,
            indexes,
            _folder: folder,
        };
        for (number, index) in (0..).zip(&served.indexes) {
            served.change("PUT", index, "", 201).await?;
            served.fill(index, number).await?;
        }
        Ok(served)
    }

    /// Starts a server of one index, by which the other server is measured: the same folder, with one index in it.
    async fn of_one() -> anyhow::Result<Served> {
        Served::of_many(1).await
    }

    /// Writes the documents of an index, and makes them searchable.
    async fn fill(&self, index: &str, number: u64) -> anyhow::Result<()> {
        let body = documents(number, 0..DOCUMENTS, 0);
        let target = format!("{index}/documents?refresh=now");
        self.change("POST", &target, &body, 200).await
    }

    async fn change(
        &self,
        method: &str,
        target: &str,
        body: &str,
        status: u16,
    ) -> anyhow::Result<()> {
        let sent = send_body(self.admin, method, target, "", body.as_bytes()).await;
        let (answered, told) = sent.with_context(|| format!("{method} {target}"))?;
        if answered != status {
            let told = String::from_utf8_lossy(&told);
            bail!("{method} {target} was answered by {answered}: {told}");
        }
        Ok(())
    }

    /// Searches, changes and creates for a while; returns how many changes were made, and indexes created and dropped.
    /// Under sabotage, clients ask another index than they think.
    async fn load(
        &self,
        seed: u64,
        duration: Duration,
        sabotage: bool,
        came: &mut Came,
    ) -> anyhow::Result<(u64, u64)> {
        let is_over = Arc::new(AtomicBool::new(false));
        let number = AtomicU64::new(0);
        let ended = Instant::now() + duration;
        let searches = (0..CLIENTS).map(|client| {
            let random = Random::new(seed, 60 + client);
            self.search_until(ended, random, sabotage)
        });
        let changes = async {
            let mut random = Random::new(seed, 58);
            let mut ticks = tokio::time::interval(CHANGE_EVERY);
            let mut changes = 0;
            while !is_over.load(Ordering::Relaxed) {
                ticks.tick().await;
                let at = random.index(self.indexes.len());
                let first = random.below(DOCUMENTS - REPLACED);
                let body = documents(at as u64, first..first + REPLACED, changes + 1);
                let target = format!("{}/documents", self.indexes[at]);
                self.change("POST", &target, &body, 200).await?;
                changes += 1;
            }
            anyhow::Ok(changes)
        };
        let created = async {
            let mut ticks = tokio::time::interval(CREATE_EVERY);
            let mut created = 0;
            let mut wrong = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                ticks.tick().await;
                let index = format!("/more{}", number.fetch_add(1, Ordering::Relaxed));
                self.change("PUT", &index, "", 201).await?;
                self.fill(&index, created).await?;
                let mut client = Client::new(self.process.address);
                let done = searched(&mut client, &index, created, created % WORDS).await;
                wrong.extend(done.err());
                self.change("DELETE", &index, "", 200).await?;
                let path = format!("{index}/search?q=common");
                if !matches!(client.get(&path).await, Ok(Answered { status: 404, .. })) {
                    wrong.push(format!("{path}: it is there after it was dropped"));
                }
                created += 1;
            }
            anyhow::Ok((created, wrong))
        };
        let searches = async {
            let came = join_all(searches).await;
            is_over.store(true, Ordering::Relaxed);
            came
        };
        let (searched, changes, created) = tokio::join!(searches, changes, created);
        for one in searched {
            came.times.extend(one.times);
            came.searches += one.searches;
            came.wrong.extend(one.wrong);
        }
        let (created, wrong) = created?;
        came.wrong.extend(wrong);
        Ok((changes?, created))
    }

    /// Searches indexes at random at the rate of one client; times count from the instants at which searches are due.
    async fn search_until(&self, ended: Instant, mut random: Random, sabotage: bool) -> Came {
        let mut client = Client::new(self.process.address);
        let mut came = Came::default();
        let mut due = Instant::now();
        loop {
            due += Duration::from_secs_f64(random.exponential() * CLIENTS as f64 / RATE_QPS);
            if due >= ended {
                return came;
            }
            tokio::time::sleep_until(due.into()).await;
            let at = random.index(self.indexes.len());
            let asked = if sabotage {
                (at + 1) % self.indexes.len()
            } else {
                at
            };
            let done = searched(
                &mut client,
                &self.indexes[asked],
                at as u64,
                random.below(WORDS),
            )
            .await;
            came.searches += 1;
            came.times.push(due.elapsed().as_nanos() as u64);
            came.wrong.extend(done.err());
        }
    }
}

/// Asks index `number` for a word, and compares the answer with what the index holds; the error tells how it differs.
async fn searched(client: &mut Client, index: &str, number: u64, word: u64) -> Result<(), String> {
    let query = if word == 0 {
        "common".to_owned()
    } else {
        format!("common w{word}")
    };
    let path = format!("{index}/search?q={}", query.replace(' ', "+"));
    let answered = client.get(&path).await;
    let answered = answered.map_err(|lost| format!("{path}: {lost:?}"))?;
    let answer: Value = serde_json::from_slice(&answered.body)
        .map_err(|error| format!("{path}: {} {error}", answered.status))?;
    let expected = (0..DOCUMENTS)
        .filter(|document| word == 0 || holds(*document, word))
        .count();
    let total = answer["total"]["value"].as_u64();
    if answered.status != 200 || total != Some(expected as u64) || answer["coverage"] != 1.0 {
        return Err(format!(
            "{path}: {} with {total:?} of {expected}",
            answered.status
        ));
    }
    let of_index = format!("http://of{number}.test/");
    let mut hits = answer["hits"].as_array().into_iter().flatten();
    match hits.find(|hit| {
        !hit["url"]
            .as_str()
            .is_some_and(|url| url.starts_with(&of_index))
    }) {
        Some(hit) => Err(format!("{path}: {} is of another index", hit["url"])),
        None => Ok(()),
    }
}

/// Returns whether a document holds a word, in every index.
fn holds(document: u64, word: u64) -> bool {
    document.is_multiple_of(word + 1)
}

/// Returns documents of an index as JSON lines; `edition` changes their texts, not what they hold.
fn documents(index: u64, numbers: std::ops::Range<u64>, edition: u64) -> String {
    let line = |document: u64| {
        let words = (1..WORDS).filter(|&word| holds(document, word));
        let words: Vec<String> = words.map(|word| format!("w{word}")).collect();
        let url = format!("http://of{index}.test/{document}");
        let body = format!("common {} edition{edition}", words.join(" "));
        json!({ "url": url, "title": format!("document {document}"), "body": body }).to_string()
            + "\n"
    };
    numbers.map(line).collect()
}

/// Returns the number of threads of a process.
fn threads_count(process: &Process) -> anyhow::Result<usize> {
    Ok(std::fs::read_dir(format!("/proc/{}/task", process.id()?))?.count())
}
