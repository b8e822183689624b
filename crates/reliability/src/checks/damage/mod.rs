//! Check V9: index files that are flipped, truncated, overwritten and shifted under servers that have them open.

mod injury;
mod kinds;

use super::partial::{Asking, judge::Judge};
use super::settings::Run;
use crate::client::{metric, send_body};
use crate::process::Process;
use crate::stage::{Stage, ordinary_paths, questions};
use crate::traffic::Traffic;
use crate::verdict::Verdict;
use anyhow::bail;
use injury::{DAMAGED_FILES, Holds, Injury, NOTICED_MAX, Victim, victims};
use rustix::process::Signal;
use stats::Random;
use std::sync::Arc;
use std::time::{Duration, Instant};

const PARTS: u32 = 4;
/// Number of queries answered while a file is damaged.
const ANSWERS_OF_AN_INJURY: usize = 12;
const TRUSTED_AGAIN: &str = "shorttail_files_trusted_again_total";

/// Results over all injuries.
#[derive(Default)]
struct Found {
    injuries: usize,
    deaths: u64,
    unnoticed: u64,
    not_recovered: u64,
    slowest_notice: Duration,
    examples: Vec<String>,
}

/// Runs one process without replicas, then two replicas of everything, each with its own copy of the index.
pub(super) async fn run(run: &Run) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::new("V9", run.seed);
    let mut random = Random::new(run.seed, 9);
    let injuries = run.size(30, 1_000);
    let mut found = Found::default();
    alone(run, injuries / 2, &mut random, &mut found, &mut verdict).await?;
    replicated(
        run,
        injuries - injuries / 2,
        &mut random,
        &mut found,
        &mut verdict,
    )
    .await?;
    kinds::run(run, &mut random, &mut verdict).await?;
    verdict.none("deaths", found.deaths);
    verdict.none("unnoticed", found.unnoticed);
    verdict.none("not recovered", found.not_recovered);
    verdict.note(
        "slowest notice ms",
        found.slowest_notice.as_secs_f64() * 1e3,
    );
    verdict.count = format!("{} injuries, {}", found.injuries, verdict.count);
    verdict.tell(found.examples);
    Ok(verdict)
}

/// Checks that an answer is right or names its missing part, for every injury to a file.
async fn alone(
    run: &Run,
    injuries: usize,
    random: &mut Random,
    found: &mut Found,
    verdict: &mut Verdict,
) -> anyhow::Result<()> {
    let stage = Stage::set(4_000, 8).await?;
    let parts = PARTS.to_string();
    let mut server = stage.serve(&["--partitions", &parts]).await?;
    let judge = Judge::taught(&stage, PARTS, server.address, run.sabotage).await?;
    let judge = Arc::new(judge.judging_hits_without_summaries());
    let victims = victims(&stage.index())?;
    let asking = Asking::begin(server.address, &judge);
    let mut failed_everywhere = 0;
    for number in 0..injuries {
        let victim = &victims[random.below(victims.len() as u64) as usize];
        let injury = Injury::ALL[number % Injury::ALL.len()];
        let part = match victim.holds {
            Holds::Segment(chunk) => (chunk * PARTS / stage.chunks_count) as usize,
            Holds::Texts | Holds::Statistics => 0,
        };
        let failed = judge.counts().failed;
        judge.fault_begins(part);
        found.injuries += 1;
        for noticed in hurt_and_seen(injury, victim, &[&server], random).await? {
            found.note(noticed, victim, injury);
        }
        asking.asked_more(ANSWERS_OF_AN_INJURY).await;
        if injury != Injury::Touch {
            victim.repair()?;
        }
        found.recover(&mut server, victim, injury).await?;
        judge.fault_ends();
        if victim.holds == Holds::Statistics {
            // Without the statistics no part can be searched.
            asking.asked_more(Asking::CLIENTS).await;
            failed_everywhere += judge.counts().failed - failed;
        }
    }
    asking.end().await;
    let counts = judge.counts();
    let percent = |count: u64| count as f64 / counts.asked.max(1) as f64 * 100.0;
    verdict.count = format!("{} queries without replicas", counts.asked);
    verdict.none("wrong unflagged", counts.unflagged);
    verdict.none("other hits than the rest has", counts.wrong);
    verdict.at_most("other part flagged %", percent(counts.flagged_in_vain), 1.0);
    verdict.at_least("flagged", counts.flagged as f64, injuries as f64 / 2.0);
    verdict.at_most("errors %", percent(counts.failed - failed_everywhere), 2.0);
    verdict.note("errors without statistics", failed_everywhere as f64);
    // The count includes errors that are due.
    if counts.unflagged + counts.wrong + counts.flagged_in_vain > 0 {
        verdict.tell(counts.examples);
    }
    Ok(())
}

/// Checks that no query fails, lacks a part or is wrong while one replica has undamaged files.
async fn replicated(
    run: &Run,
    injuries: usize,
    random: &mut Random,
    found: &mut Found,
    verdict: &mut Verdict,
) -> anyhow::Result<()> {
    let stage = Stage::set(4_000, 8).await?;
    let one_process = stage.serve(&[]).await?;
    let questions = Arc::new(questions(one_process.address, ordinary_paths(400)).await?);
    drop(one_process);
    let replicas = if run.sabotage { 1 } else { 2 };
    let mut servers = Vec::new();
    let (mut index_servers, mut document_servers) = (Vec::new(), Vec::new());
    for replica in 0..replicas {
        let directory = stage.copy(&format!("replica-{replica}"))?;
        let files = victims(&directory)?;
        for part in stage.parts(2) {
            let server = stage
                .server_of(&directory, "index-server", &part, true)
                .await?;
            index_servers.push((part.clone(), server.address));
            let reads = files.iter().filter(|file| file.holds != Holds::Texts);
            servers.push((server, reads.cloned().collect::<Vec<Victim>>()));
        }
        let all = stage.all_chunks();
        let server = stage
            .server_of(&directory, "document-server", &all, true)
            .await?;
        document_servers.push((all, server.address));
        servers.push((server, files));
    }
    let front_end = stage
        .front_end(&index_servers, &document_servers, &[])
        .await?;
    let traffic = Traffic::begin(&[front_end.address], &questions, 200.0);
    for number in 0..injuries {
        let at = random.below(servers.len() as u64) as usize;
        let (_, files) = &servers[at];
        let victim = files[random.below(files.len() as u64) as usize].clone();
        let injury = Injury::ALL[number % Injury::ALL.len()];
        found.injuries += 1;
        // All processes over the same directory have the file open. One that noticed the injury later would refuse the
        // file while the other replica is injured.
        let per_replica = servers.len() / replicas;
        let first = at / per_replica * per_replica;
        let of_replica = &servers[first..first + per_replica];
        let processes: Vec<&Process> = of_replica.iter().map(|(server, _)| server).collect();
        for noticed in hurt_and_seen(injury, &victim, &processes, random).await? {
            found.note(noticed, &victim, injury);
        }
        let until = traffic.asked() + ANSWERS_OF_AN_INJURY;
        while traffic.asked() < until {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        if injury != Injury::Touch {
            victim.repair()?;
        }
        for (server, _) in &mut servers[first..first + per_replica] {
            found.recover(server, &victim, injury).await?;
        }
    }
    let tally = traffic.end().await;
    verdict.count = format!("{}, {} with replicas", verdict.count, tally.asked);
    verdict.none("replicas: failed", tally.failed);
    verdict.none("partial", tally.partial);
    verdict.none("wrong", tally.wrong);
    verdict.note("p99 ms", tally.times().ms(99.0));
    verdict.tell(tally.examples);
    Ok(())
}

/// Metric of a server that shows when it has noticed an injury.
struct Sign {
    name: &'static str,
    before: f64,
}

impl Sign {
    /// Reads the metric before the injury. A touched file may be trusted again before the first poll, so that only the
    /// counter shows it.
    async fn before(injury: Injury, server: &Process) -> anyhow::Result<Sign> {
        let name = match injury {
            Injury::Touch => TRUSTED_AGAIN,
            _ => DAMAGED_FILES,
        };
        let before = metric(server, name).await?;
        Ok(Sign { name, before })
    }

    /// Waits until the server has noticed the injury, and returns the time taken; `None` where it did not in time.
    async fn seen(&self, server: &Process) -> Option<Duration> {
        let begun = Instant::now();
        while begun.elapsed() <= NOTICED_MAX {
            if metric(server, self.name)
                .await
                .is_ok_and(|count| count > self.before)
            {
                return Some(begun.elapsed());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        None
    }
}

/// Injures a file, and waits until each server has noticed it; returns the times taken.
///
/// A reload that still runs opens a file that was touched before as it is now, and has nothing to notice. So a touch that
/// some server has not noticed is done once more.
async fn hurt_and_seen(
    injury: Injury,
    victim: &Victim,
    servers: &[&Process],
    random: &mut Random,
) -> anyhow::Result<Vec<Option<Duration>>> {
    let mut seen = Vec::new();
    for _ in 0..if injury == Injury::Touch { 2 } else { 1 } {
        let mut signs = Vec::new();
        for server in servers {
            signs.push(Sign::before(injury, server).await?);
        }
        victim.hurt(injury, random)?;
        seen.clear();
        for (sign, server) in signs.iter().zip(servers) {
            seen.push(sign.seen(server).await);
        }
        if seen.iter().all(Option::is_some) {
            break;
        }
    }
    Ok(seen)
}

impl Found {
    fn note(&mut self, noticed: Option<Duration>, victim: &Victim, injury: Injury) {
        match noticed {
            Some(after) => self.slowest_notice = self.slowest_notice.max(after),
            None => {
                self.unnoticed += 1;
                self.examples
                    .push(format!("{injury:?} of {}: not noticed", victim.name()));
            }
        }
    }

    /// Makes the server open the repaired file, or waits until it trusts the open one. Restarts a server that has died.
    async fn recover(
        &mut self,
        server: &mut Process,
        victim: &Victim,
        injury: Injury,
    ) -> anyhow::Result<()> {
        if server.has_ended()? {
            self.deaths += 1;
            let told = format!("{injury:?} of {}: the server died", victim.name());
            self.examples.push(told.clone());
            bail!("{told}");
        }
        if injury != Injury::Touch {
            server.signal(Signal::HUP)?;
        }
        let begun = Instant::now();
        loop {
            if metric(server, DAMAGED_FILES)
                .await
                .is_ok_and(|count| count == 0.0)
            {
                if let Some(admin) = server.admin {
                    // Answered when it is done: a reload that takes files anew beside the next injury would not notice
                    // it. Ports of metrics alone have no such route.
                    let _ = send_body(admin, "POST", "/reload", "", b"").await;
                }
                return Ok(());
            }
            if begun.elapsed() > NOTICED_MAX {
                self.not_recovered += 1;
                let told = format!("{injury:?} of {}: still damaged", victim.name());
                self.examples.push(told);
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
