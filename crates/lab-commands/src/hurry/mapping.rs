//! Loop of the mapper: lines in, decisions on time, CPUs of threads out.

use super::journal::Journal;
use super::output::{Counts, Output};
use super::threads::{Identity, Threads};
use anyhow::Context;
use schedule::CpuSet;
use schedule::hurry::{Line, Lines, Mapper, Move, Noted, Reason, Rule};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::future::Future;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::net::unix::pipe::Receiver;
use tokio::time::{Instant, sleep_until};

/// Bytes read before the clock is looked at again.
const READ_BYTES: usize = 16 << 10;

/// Upper limit on the refused threads that are remembered until the next second.
const REFUSED_MAX: usize = 4096;

/// Settings of the loop.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) rule: Rule,
    pub(super) sampling_ms: u64,
    /// The CPUs of threads on little cores, unless as published.
    pub(super) little: CpuSet,
}

/// A running mapper.
#[derive(Debug)]
pub(super) struct Mapping {
    options: Options,
    mapper: Mapper,
    threads: Threads,
    /// None for a dry run.
    journal: Option<Journal>,
    output: Output,
    counts: Counts,
    known: BTreeMap<u32, Identity>,
    /// Threads that may not be moved, so that their lines cost no look at `/proc`.
    refused: BTreeSet<u32>,
}

impl Mapping {
    pub(super) fn new(
        options: Options,
        mapper: Mapper,
        threads: Threads,
        journal: Option<Journal>,
        output: Output,
    ) -> Mapping {
        Mapping {
            options,
            mapper,
            threads,
            journal,
            output,
            counts: Counts::default(),
            known: BTreeMap::new(),
            refused: BTreeSet::new(),
        }
    }

    /// Maps until `asked` is ready or the process of `--pid` has ended.
    pub(super) async fn run(
        &mut self,
        pipe: File,
        asked: impl Future<Output = ()>,
    ) -> anyhow::Result<()> {
        let pipe = Receiver::from_file(pipe).context("cannot wait for the pipe")?;
        let sampling = Duration::from_millis(self.options.sampling_ms);
        let mut lines = Lines::default();
        let mut bytes = vec![0; READ_BYTES];
        let (mut next, mut next_look) = (Instant::now() + sampling, Instant::now());
        tokio::pin!(asked);
        loop {
            // In this order, so that a flood of lines delays no decision and no end.
            let arrived = tokio::select! {
                biased;
                () = &mut asked => return Ok(()),
                () = sleep_until(next_look) => {
                    if !self.look_around() {
                        return Ok(());
                    }
                    next_look = Instant::now() + Duration::from_secs(1);
                    false
                }
                () = sleep_until(next), if self.options.rule == Rule::Mended => {
                    self.sample()?;
                    next = Instant::now() + sampling;
                    false
                }
                ready = pipe.readable() => {
                    ready.context("cannot wait for the pipe")?;
                    true
                }
            };
            if !arrived {
                continue;
            }
            let read = match pipe.try_read(&mut bytes) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => return Err(error).context("cannot read the pipe"),
            };
            let (mut failed, too_long) = (Ok(()), lines.too_long());
            lines.feed(&bytes[..read], |line| {
                if failed.is_ok() {
                    failed = self.line(line);
                }
            });
            self.counts.damaged += lines.too_long() - too_long;
            failed?;
            // As published, the read blocks: without a line there is no decision.
            if self.options.rule == Rule::AsPublished && Instant::now() >= next {
                self.sample()?;
                next = Instant::now() + sampling;
            }
        }
    }

    /// Gives all threads their CPUs back.
    pub(super) fn finish(&mut self) -> anyhow::Result<()> {
        let restored = match &mut self.journal {
            Some(journal) => journal.restore(&self.threads)?,
            None => 0,
        };
        self.output.end(&self.counts, restored);
        Ok(())
    }

    /// Takes a line. Damaged ones, and those of threads that may not be moved, are counted.
    fn line(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        let Ok(line) = Line::parse(bytes) else {
            self.counts.damaged += 1;
            return Ok(());
        };
        self.counts.lines += 1;
        if !self.known.contains_key(&line.tid) && !self.admit(line.tid)? {
            self.counts.refused += 1;
            return Ok(());
        }
        match self.mapper.line(&line, unix_ms()) {
            Noted::EndedLost => self.counts.lost += 1,
            Noted::Full | Noted::Unknown => self.counts.refused += 1,
            Noted::Begun | Noted::Ended => {}
        }
        Ok(())
    }

    /// Maps a thread at its first line. Returns whether it may be moved.
    fn admit(&mut self, tid: u32) -> anyhow::Result<bool> {
        if self.refused.contains(&tid) || self.refused.len() >= REFUSED_MAX {
            return Ok(false);
        }
        let admitted = match self.threads.admit(tid) {
            Some(thread) => self.note_cpus(thread)?.then_some(thread),
            None => None,
        };
        let Some((thread, Ok(placed))) = admitted.map(|thread| (thread, self.mapper.add(tid)))
        else {
            self.refused.insert(tid);
            return Ok(false);
        };
        self.known.insert(tid, thread);
        if let Some(placed) = placed {
            self.carry_out(&placed)?;
        }
        Ok(self.known.contains_key(&tid))
    }

    /// Writes the CPUs of a thread into the journal. Returns whether that was possible.
    fn note_cpus(&mut self, thread: Identity) -> anyhow::Result<bool> {
        let Some(journal) = &mut self.journal else {
            return Ok(true);
        };
        match vfs::platform::affinity(thread.tid) {
            Ok(cpus) => journal.add(thread, cpus.into_iter().collect()),
            Err(_) => Ok(false),
        }
    }

    fn sample(&mut self) -> anyhow::Result<()> {
        let mut moves = Vec::new();
        self.mapper.sample(unix_ms(), &mut moves);
        moves.iter().try_for_each(|moved| self.carry_out(moved))
    }

    /// Limits a thread to its core. One that cannot be moved, because it has ended, is forgotten.
    fn carry_out(&mut self, moved: &Move) -> anyhow::Result<()> {
        let Some(&thread) = self.known.get(&moved.tid) else {
            return Ok(());
        };
        if self.journal.is_some() {
            let one_core = CpuSet::from_iter([moved.to]);
            let anywhere = self.options.rule == Rule::Mended && !self.mapper.is_big(moved.to);
            let cpus = if anywhere {
                &self.options.little
            } else {
                &one_core
            };
            let alive = self.threads.is_alive(thread);
            if !alive || vfs::platform::set_affinity(moved.tid, cpus).is_err() {
                self.counts.failed += u64::from(alive);
                self.forget(moved.tid);
                return Ok(());
            }
        }
        self.counts.hurried += u64::from(matches!(moved.reason, Reason::Long { .. }));
        self.output.show(unix_ms(), moved)
    }

    /// Forgets threads that have ended, and shows the status. Returns whether there is more to do.
    fn look_around(&mut self) -> bool {
        let known = self.known.values();
        let ended: Vec<u32> = (known.filter(|&&thread| !self.threads.is_alive(thread)))
            .map(|thread| thread.tid)
            .collect();
        for tid in ended {
            self.forget(tid);
        }
        self.refused.clear();
        let oldest_ms = self.mapper.oldest_ms(unix_ms()).unwrap_or(0);
        let requests = self.mapper.requests_count();
        (self.output).status(self.known.len(), requests, oldest_ms, &self.counts);
        !self.threads.target_has_ended()
    }

    fn forget(&mut self, tid: u32) {
        self.known.remove(&tid);
        self.mapper.forget(tid);
    }
}

/// Returns the Unix time in ms, the clock of the lines.
fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}
