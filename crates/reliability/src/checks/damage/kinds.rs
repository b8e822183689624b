//! Part of V9: bits flipped in every kind of file under live servers, while facets, filters, sorts, pages and deletions by
//! query are decided.
//!
//! ```text
//! flip one bit ─► ask both servers at once: without a cache, with one ─► put back ─► reload ─► ask again
//!              └► ask a server that writes what a query would delete
//! ```
//!
//! An answer that counts as whole must be the right one. A refusal, and an answer that names what it lacks, is right too.

use super::injury::{DAMAGED_FILES, Injury, NOTICED_MAX, Victim, every_file};
use crate::checks::durable::{admin_of, ask};
use crate::checks::settings::Run;
use crate::client::{Answered, Client, Lost, get, metric, search_path, without_phases};
use crate::process::Process;
use crate::stage::{Question, Stage, frequent_words, questions};
use crate::verdict::Verdict;
use anyhow::{Context, bail};
use document::Document;
use rustix::process::Signal;
use serde_json::{Value, json};
use stats::Random;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};
use testkit::MadeUp;

/// Endings of the kinds of files that an index has; statistics have none. The check fails where the index has a file of
/// another kind, and where it has none of one of these.
const KINDS: [&str; 6] = [
    "index",
    "documents",
    "columns",
    "pairs",
    "deletions",
    "statistics",
];
const LANGUAGES: [&str; 4] = ["de", "en", "fr", "it"];
const DOCUMENTS: usize = 3_000;
/// Questions to each server during an injury, and after it.
const QUESTIONS: usize = 3;

/// Results over all flips.
#[derive(Debug, Default)]
struct Tally {
    flips: u64,
    answers: u64,
    /// Answers that flag a gap, and refusals.
    cautious: u64,
    wrong: u64,
    /// Deletions by query, dry runs included.
    decisions: u64,
    wrong_decisions: u64,
    not_recovered: u64,
    examples: Vec<String>,
}

/// Flips bits of every kind of file.
pub(super) async fn run(
    run: &Run,
    random: &mut Random,
    verdict: &mut Verdict,
) -> anyhow::Result<()> {
    let first = documents(0..DOCUMENTS);
    let stage = Stage::of_index(first, DOCUMENTS, 2, &["--pairs", "all"]).await?;
    // A second segment, deletions in the first, and statistics of both.
    stage
        .add(documents(DOCUMENTS - 300..DOCUMENTS + 100))
        .await?;
    let written = stage.copy("written")?;
    let mut tally = Tally::default();
    answers(run, random, &stage, &mut tally).await?;
    decisions(run, random, &stage, &written, &mut tally).await?;
    deletions(run, random, &stage, &mut tally).await?;
    verdict.count = format!(
        "{}, {} flips of {} kinds of files, {} answers, {} decisions",
        verdict.count,
        tally.flips,
        KINDS.len(),
        tally.answers,
        tally.decisions
    );
    verdict.none("kinds: wrong answers", tally.wrong);
    verdict.none("wrong deletions", tally.wrong_decisions);
    verdict.none("kinds: not recovered", tally.not_recovered);
    verdict.at_least("refused or flagged", tally.cautious as f64, 1.0);
    verdict.tell(tally.examples);
    Ok(())
}

/// Returns documents with fields of several types, some with several values.
fn documents(numbers: std::ops::Range<usize>) -> impl Iterator<Item = Document> {
    let made_up = MadeUp::default();
    let all: Vec<Document> = made_up.documents(numbers.end).collect();
    let version = numbers.start;
    let numbered = all.into_iter().enumerate().skip(numbers.start);
    numbered.map(move |(number, document)| {
        let fields = json!({
            "lang": LANGUAGES[number % LANGUAGES.len()],
            "rank": number * 31 % 977,
            "price": (number % 89) as f64 / 4.0,
            "tags": [format!("t{}", number % 7), format!("t{}", number % 40)],
            "date": format!("20{:02}-{:02}-11", number % 30, 1 + number % 12),
            "version": version,
        });
        Document {
            fields: json::Value::from(fields)
                .as_object()
                .cloned()
                .unwrap_or_default(),
            ..document
        }
    })
}

/// Returns searches of every way to read values, and without any.
fn paths() -> Vec<String> {
    const PARAMETERS: [&str; 12] = [
        "&per_site=2",
        "&facet=lang",
        "&facet=tags:terms:20&facet=rank:stats&k=3",
        "&facet=date:year&facet=price:ranges:..5;5..10;%3E10",
        "&facet=site&facet=tags:distinct",
        "&filter=lang:de",
        "&filter=rank:100..300&facet=lang",
        "&filter=price:%3C3&filter=tags:t3",
        "&sort=rank:desc&k=20&fields=1",
        "&sort=lang,date:desc,rank&start=20&k=10",
        "&sort=price&filter=lang:*%20-lang:fr&k=5",
        "&k=20&start=10",
    ];
    let words = frequent_words(6);
    let pairs = words
        .windows(2)
        .map(|pair| format!("\"{}\"", pair.join(" ")));
    let queries: Vec<String> = words.iter().cloned().chain(pairs).collect();
    queries
        .iter()
        .flat_map(|query| PARAMETERS.map(|parameters| search_path(query, parameters)))
        .collect()
}

/// Compares answers of two servers, one with a cache, during and after flips of each kind.
async fn answers(
    run: &Run,
    random: &mut Random,
    stage: &Stage,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let mut plain = stage.serve(&[]).await?;
    let mut cached = stage.serve(&["--cache", "16MiB"]).await?;
    let questions = questions(plain.address, paths()).await?;
    if let Some(bad) = questions.iter().find(|one| one.status != 200) {
        bail!("{}: status {} of an undamaged server", bad.path, bad.status);
    }
    let by_kind = every_file(&stage.index(), &KINDS)?;
    for kind in KINDS {
        let victims = by_kind.get(kind).context("no file of a kind")?;
        for flip in 0..run.size(8, 500) {
            let victim = pick(random, victims);
            victim.hurt(Injury::Flip, random)?;
            tally.flips += 1;
            // At once: what examines files each second has not seen it.
            for server in [&plain, &cached] {
                tally
                    .ask(run, server.address, some(random, &questions), victim)
                    .await;
            }
            match flip % 2 {
                0 => victim.put_back()?,
                _ => victim.repair()?,
            }
            for server in [&mut plain, &mut cached] {
                tally.recover(server, victim).await?;
                // What was kept of the time before.
                tally
                    .ask(run, server.address, some(random, &questions), victim)
                    .await;
            }
        }
    }
    Ok(())
}

/// Asks a server that writes what a query would delete, after flips of each kind.
async fn decisions(
    run: &Run,
    random: &mut Random,
    stage: &Stage,
    written: &Path,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let folder = written.to_string_lossy();
    let mut server = Process::start(&["serve", &folder, "--writable"]).await?;
    let queries = deletable(stage, server.address).await?;
    let by_kind = every_file(written, &KINDS)?;
    for kind in KINDS {
        let victims = by_kind.get(kind).context("no file of a kind")?;
        for _ in 0..run.size(4, 100) {
            let victim = pick(random, victims);
            let (query, expected) = &queries[random.below(queries.len() as u64) as usize];
            let path = format!("/delete-by-query?q={}&dry_run=1", encoded(query));
            victim.hurt(Injury::Flip, random)?;
            tally.flips += 1;
            let (status, told) = ask(admin_of(&server)?, "POST", &path, "")?;
            tally.decide(
                run,
                (status, &told["would_delete"]),
                *expected,
                victim,
                query,
            );
            victim.repair()?;
            tally.recover(&mut server, victim).await?;
        }
    }
    Ok(())
}

/// Deletes by query after a flip, ends the server, and compares what the index has then.
async fn deletions(
    run: &Run,
    random: &mut Random,
    stage: &Stage,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let plain = stage.serve(&[]).await?;
    let queries = deletable(stage, plain.address).await?;
    drop(plain);
    for round in 0..run.size(KINDS.len(), 60) {
        let name = format!("deleted-{round}");
        let directory = stage.copy(&name)?;
        let folder = directory.to_string_lossy().into_owned();
        let mut server = Process::start(&["serve", &folder, "--writable"]).await?;
        let (query, expected) = &queries[random.below(queries.len() as u64) as usize];
        // Once before, so that every block it reads counts as verified.
        let path = format!("/delete-by-query?q={}", encoded(query));
        ask(admin_of(&server)?, "POST", &format!("{path}&dry_run=1"), "")?;
        let by_kind = every_file(&directory, &KINDS)?;
        let victims = by_kind.get(KINDS[round % KINDS.len()]);
        let victim = pick(random, victims.context("no file of a kind")?);
        victim.hurt(Injury::Flip, random)?;
        tally.flips += 1;
        let (status, told) = ask(admin_of(&server)?, "POST", &path, "")?;
        tally.decide(run, (status, &told["deleted"]), *expected, victim, query);
        server.kill().await?;
        victim.repair_where_it_is_left()?;
        let server = Process::start(&["serve", &folder, "--writable"]).await?;
        let after = deletable(stage, server.address).await?;
        for ((other, before), (_, now)) in queries.iter().zip(&after) {
            let is_deleted = status == 200 && query == other;
            let is_other = LANGUAGES.iter().any(|language| other.contains(language));
            let wanted = if is_deleted { 0 } else { *before };
            // Queries of languages share no document; others may.
            let is_right = *now == wanted || status == 200 && !(is_other && of_language(query));
            if !is_right {
                tally.wrong_decisions += 1;
                tally.examples.push(format!(
                    "a flip of {}, {query:?} deleted with status {status}: {other:?} has {now} documents, not {wanted}",
                    victim.name()
                ));
            }
        }
        drop(server);
        std::fs::remove_dir_all(&directory)?;
    }
    Ok(())
}

fn of_language(query: &str) -> bool {
    query.starts_with("lang:")
}

/// Returns queries of values and words, each with the number of documents that match.
async fn deletable(stage: &Stage, address: SocketAddr) -> anyhow::Result<Vec<(String, u64)>> {
    let languages = LANGUAGES.map(|language| format!("lang:{language}"));
    let words = frequent_words(stage.documents_count.min(2));
    let others = ["rank:100..200".to_owned(), "tags:t3 price:<10".to_owned()];
    let mut counted = Vec::new();
    for query in languages.into_iter().chain(others).chain(words) {
        let answered = get(address, &search_path(&query, "&words=all&k=1")).await?;
        let answer: Value = serde_json::from_slice(&answered.body)?;
        let total = answer["total"]["value"].as_u64();
        counted.push((query, total.context("an answer without a total")?));
    }
    Ok(counted)
}

fn encoded(query: &str) -> String {
    url::form_urlencoded::byte_serialize(query.as_bytes()).collect()
}

fn pick<'v>(random: &mut Random, victims: &'v [Victim]) -> &'v Victim {
    &victims[random.below(victims.len() as u64) as usize]
}

fn some<'q>(random: &mut Random, questions: &'q [Question]) -> Vec<&'q Question> {
    let mut one = || &questions[random.below(questions.len() as u64) as usize];
    (0..QUESTIONS).map(|_| one()).collect()
}

impl Tally {
    /// Asks questions at once, and judges the answers. Under sabotage what a server refused or flagged counts as if it
    /// had been given without a word.
    async fn ask(
        &mut self,
        run: &Run,
        address: SocketAddr,
        asked: Vec<&Question>,
        victim: &Victim,
    ) {
        let answers = asked
            .iter()
            .map(|question| async { Client::new(address).get(&question.path).await });
        for (question, answered) in asked
            .iter()
            .zip(futures_util::future::join_all(answers).await)
        {
            self.answers += 1;
            match judged(question, &answered) {
                Judged::Right => {}
                Judged::Cautious if !run.sabotage => self.cautious += 1,
                Judged::Cautious | Judged::Wrong => {
                    self.wrong += 1;
                    let told = format!("a flip of {}: {}", victim.name(), question.path);
                    self.examples.push(told);
                }
            }
        }
    }

    /// Judges the number that a deletion by query told.
    fn decide(
        &mut self,
        run: &Run,
        (status, told): (u16, &Value),
        expected: u64,
        victim: &Victim,
        query: &str,
    ) {
        self.decisions += 1;
        let is_wrong = match status {
            200 => told.as_u64() != Some(expected),
            _ => run.sabotage,
        };
        self.cautious += u64::from(status != 200);
        if is_wrong {
            self.wrong_decisions += 1;
            let name = victim.name();
            self.examples.push(format!(
                "a flip of {name}: {query:?} matches {told}, not {expected} (status {status})"
            ));
        }
    }

    /// Makes a server open the mended file, and waits until it trusts all its files.
    async fn recover(&mut self, server: &mut Process, victim: &Victim) -> anyhow::Result<()> {
        if server.has_ended()? {
            bail!("a flip of {}: the server died", victim.name());
        }
        let begun = Instant::now();
        loop {
            server.signal(Signal::HUP)?;
            tokio::time::sleep(Duration::from_millis(10)).await;
            let damaged = metric(server, DAMAGED_FILES).await;
            if damaged.is_ok_and(|count| count == 0.0) {
                return Ok(());
            }
            if begun.elapsed() > NOTICED_MAX {
                self.not_recovered += 1;
                let told = format!("a flip of {}: still damaged", victim.name());
                self.examples.push(told);
                return Ok(());
            }
        }
    }
}

/// Judgement of an answer.
enum Judged {
    Right,
    /// Refused, or with a gap that it names.
    Cautious,
    Wrong,
}

fn judged(question: &Question, answered: &Result<Answered, Lost>) -> Judged {
    let Ok(Answered { status: 200, body }) = answered else {
        return Judged::Cautious;
    };
    if without_phases(body) == question.expected {
        return Judged::Right;
    }
    let answer: BTreeMap<String, Value> = serde_json::from_slice(body).unwrap_or_default();
    let degraded = answer.get("degraded").and_then(Value::as_array);
    match degraded.is_some_and(|degraded| !degraded.is_empty()) {
        true => Judged::Cautious,
        false => Judged::Wrong,
    }
}
