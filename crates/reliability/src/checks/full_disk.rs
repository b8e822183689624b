//! Check `full-disk`: a disk that is full loses nothing acknowledged, and fails no query.

use super::durable::{admin_of, ask, document};
use super::settings::Run;
use crate::offered::Offer;
use crate::process::Process;
use crate::stage::Stage;
use crate::verdict::Verdict;
use anyhow::{Context, bail};
use load::{Ending, Sample};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Room at the disk that each step has more than the one before, in bytes.
const STEP_BYTES: u64 = 64 << 10;
/// Documents, and the length of each, that a step writes: more than there is room for at first.
const DOCUMENTS: u64 = 120;
const BODY_WORDS: usize = 2_000;
/// Time within which changes are accepted again after there is room.
const RESUMED: Duration = Duration::from_secs(1);
const RESUMED_MAX: Duration = Duration::from_secs(60);
const RATE_QPS: f64 = 50.0;

/// A file system in memory with a limited size, unmounted when dropped.
#[derive(Debug)]
struct SmallDisk<'a> {
    at: &'a Path,
}

impl SmallDisk<'_> {
    /// Mounts it; `None` where this process may not mount.
    fn mount(at: &Path) -> anyhow::Result<Option<SmallDisk<'_>>> {
        std::fs::create_dir_all(at)?;
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1g", "tmpfs"])
            .arg(at)
            .output();
        Ok(mounted
            .is_ok_and(|done| done.status.success())
            .then_some(SmallDisk { at }))
    }

    fn resize(&self, bytes: u64) -> anyhow::Result<()> {
        let done = Command::new("mount")
            .args(["-o", &format!("remount,size={bytes}")])
            .arg(self.at)
            .status()?;
        match done.success() {
            true => Ok(()),
            false => bail!("cannot resize the small disk"),
        }
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        // Lazily: a server may still be there.
        let _ = Command::new("umount").arg("-l").arg(self.at).status();
    }
}

/// Versions that each document may have, `None` for a document that is not there: one, or two after a refusal.
type States = BTreeMap<u64, Vec<Option<u64>>>;

/// Figures of the steps.
#[derive(Debug, Default)]
struct Steps {
    full: u64,
    whole: u64,
    acknowledged: u64,
    refused: u64,
    odd: Vec<String>,
    wrong: Vec<String>,
    slowest_resumption: Duration,
}

/// Fills the disk of a server that writes and searches, with more room at each step.
pub(super) async fn run(run: &Run) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::new("full-disk", run.seed);
    let stage = Stage::set(run.size(300, 3_000), 1).await?;
    let at = stage.index();
    let original = stage.copy("original")?;
    let Some(disk) = SmallDisk::mount(&at)? else {
        verdict.count = "skipped: this process may not mount a tmpfs".to_owned();
        return Ok(verdict);
    };
    for file in std::fs::read_dir(&original)? {
        let file = file?;
        std::fs::copy(file.path(), at.join(file.file_name()))?;
    }
    let mut server = stage.serve(&["--writable", "--refresh", "100ms"]).await?;
    let mut steps = Steps::default();
    let (mut known, mut failed, mut queries) = (States::new(), 0, 0);
    for step in 0..run.size(4, 200) {
        let offer = Offer::of_frequent_words(server.address, run.seed)?;
        // Pages are charged whole, so the room is that beyond what is used now.
        disk.resize(used_bytes(&at)? + (step % 40) * STEP_BYTES)?;
        let admin = admin_of(&server)?;
        let writing = tokio::task::spawn_blocking(move || {
            let mut steps = Steps::default();
            write(admin, step, &mut known, &mut steps).map(|()| (known, steps))
        });
        let searching = offer.open(RATE_QPS, Duration::from_millis(800));
        let (written, searched) = tokio::join!(writing, searching);
        let (found, of_step) = written??;
        known = found;
        steps.add(of_step);
        let searched = searched?;
        queries += searched.samples().len();
        failed += searched.count(|sample: &Sample| sample.ending != Ending::Answered(200));
        disk.resize(1 << 30)?;
        resume(&server, step, &mut steps)?;
        if run.sabotage {
            forget(admin_of(&server)?, &known)?;
        }
        compare(admin_of(&server)?, &known, &mut steps)?;
    }
    server.terminate(Duration::from_secs(30)).await?;
    let (is_whole, told) = stage.command("check", &[]).await?;
    verdict.count = format!(
        "{} steps, {} with a full disk, {} changes acknowledged, {queries} queries",
        steps.full + steps.whole,
        steps.full,
        steps.acknowledged
    );
    verdict.none("lost or wrong", steps.wrong.len() as u64);
    verdict.none("failed queries", failed);
    verdict.none("refused without a reason", steps.odd.len() as u64);
    verdict.none("damaged", u64::from(!is_whole));
    verdict.at_least("refused", steps.refused as f64, 1.0);
    verdict.timed_at_most(
        "slowest resumption ms",
        steps.slowest_resumption.as_secs_f64() * 1e3,
        run.limit_ms(RESUMED.as_secs_f64() * 1e3),
    );
    verdict.tell(steps.wrong.into_iter().chain(steps.odd).chain([told]));
    drop(disk);
    Ok(verdict)
}

impl Steps {
    fn add(&mut self, other: Steps) {
        self.full += other.full;
        self.whole += other.whole;
        self.acknowledged += other.acknowledged;
        self.refused += other.refused;
        self.odd.extend(other.odd);
        self.wrong.extend(other.wrong);
    }
}

fn used_bytes(at: &Path) -> anyhow::Result<u64> {
    let figures = rustix::fs::statvfs(at).context("the size of the small disk")?;
    Ok((figures.f_blocks - figures.f_bfree) * figures.f_frsize)
}

fn url(number: u64) -> String {
    format!("http://full.example/{number}")
}

/// Writes documents one by one. Those that are refused have the state before, or the new one.
fn write(
    admin: std::net::SocketAddr,
    step: u64,
    known: &mut States,
    steps: &mut Steps,
) -> anyhow::Result<()> {
    let mut is_full = false;
    for number in 0..DOCUMENTS {
        let version = step * DOCUMENTS + number + 1;
        let mut body: serde_json::Value = serde_json::from_str(&document(&url(number), version))?;
        // Words of their own, so that they take room.
        let words =
            (0..BODY_WORDS).map(|word| format!("{:x}", word as u64 * 7919 + version * 104_729));
        body["body"] = json!(words.collect::<Vec<_>>().join(" "));
        let (status, answer) = ask(admin, "POST", "/documents", &body.to_string())?;
        let states = known.entry(number).or_insert_with(|| vec![None]);
        match status {
            200 if answer["accepted"] == 1 => {
                *states = vec![Some(version)];
                steps.acknowledged += 1;
            }
            // Nothing after it is tried: the log has failed.
            429 | 503 | 507 => {
                states.push(Some(version));
                (is_full, steps.refused) = (true, steps.refused + 1);
                break;
            }
            _ => {
                states.push(Some(version));
                steps.odd.push(format!("{status}: {answer}"));
                break;
            }
        }
    }
    steps.full += u64::from(is_full);
    steps.whole += u64::from(!is_full);
    Ok(())
}

/// Waits until the server takes changes again, now that there is room.
fn resume(server: &Process, step: u64, steps: &mut Steps) -> anyhow::Result<()> {
    let begun = Instant::now();
    let body = document("http://full.example/more", step);
    loop {
        let answered = ask(admin_of(server)?, "POST", "/documents", &body);
        let (status, answer) = answered.context("no answer")?;
        if status == 200 {
            break;
        }
        if begun.elapsed() > RESUMED_MAX {
            bail!("after {} s {status}: {answer}", RESUMED_MAX.as_secs());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    steps.slowest_resumption = steps.slowest_resumption.max(begun.elapsed());
    Ok(())
}

/// Deletes documents known to be there: for the sabotage.
fn forget(admin: std::net::SocketAddr, known: &States) -> anyhow::Result<()> {
    let urls: Vec<String> = known.keys().map(|&number| url(number)).collect();
    ask(admin, "DELETE", "/documents", &urls.join("\n"))?;
    Ok(())
}

fn compare(admin: std::net::SocketAddr, known: &States, steps: &mut Steps) -> anyhow::Result<()> {
    for (&number, states) in known {
        let (_, answer) = ask(admin, "GET", &format!("/documents?url={}", url(number)), "")?;
        let found = answer["document"]["number"].as_u64();
        if !states.contains(&found) {
            steps.wrong.push(format!(
                "{number} has {found:?}, and should have one of {states:?}"
            ));
        }
    }
    Ok(())
}
