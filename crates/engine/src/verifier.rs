//! Verification of open files in the background, which finds damage that no query has met.
//!
//! One thread reads the files of all open generations in pieces, up to a given rate: first the blocks
//! that no query has touched, then all blocks again and again, because bit rot and writes below the
//! file system change nothing but the bytes. Each second it also compares the stamps of all files,
//! without reading them. A changed file is verified at once and at full speed, because answers lack its
//! part until then.

use crate::generations::Generations;
use index::{Index, IndexError, Trust};
use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Interval between two comparisons of all stamps.
const LOOKS_EVERY: Duration = Duration::from_secs(1);
/// Lower limit on the time between two passes: a small index need not be read all the time.
const PASSES_EVERY: Duration = Duration::from_secs(60);

impl Generations {
    /// Starts the verification in the background, at up to `bytes_per_s` bytes a second; 0 verifies
    /// only changed files. Called once.
    pub fn verify_in_background(self: &Arc<Self>, bytes_per_s: u64) -> io::Result<()> {
        let thread = start(Arc::downgrade(self), bytes_per_s)?;
        let _ = self.verifier.set(thread);
        Ok(())
    }
}

/// Starts the thread; it ends when the generations are dropped.
fn start(generations: Weak<Generations>, bytes_per_s: u64) -> io::Result<Thread> {
    let verifier = Verifier {
        generations,
        bytes_per_s,
        verified: HashSet::new(),
        told: HashSet::new(),
        known: HashSet::new(),
        looks_at: Instant::now(),
    };
    let started = thread::Builder::new()
        .name("verifier".into())
        .spawn(move || verifier.run());
    Ok(started?.thread().clone())
}

struct Verifier {
    generations: Weak<Generations>,
    bytes_per_s: u64,
    /// Files verified in this pass, by path: a newer generation has most files of the one before.
    verified: HashSet<PathBuf>,
    /// Entries already logged: index, number of the file, and its state of trust.
    told: HashSet<(usize, usize, Trust)>,
    /// Indexes whose blocks have all been verified once.
    known: HashSet<usize>,
    looks_at: Instant,
}

/// Blocks that a pass verifies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// Blocks not verified since the file was opened.
    Rest,
    /// All blocks.
    All,
}

impl Verifier {
    fn run(mut self) {
        vfs::thread::lower_priority();
        let mut pass_at = Instant::now() + PASSES_EVERY;
        while let Some(indexes) = self.indexes() {
            self.told
                .retain(|&(of, _, _)| indexes.iter().any(|index| address(index) == of));
            self.known
                .retain(|&of| indexes.iter().any(|index| address(index) == of));
            self.look(&indexes);
            if self.bytes_per_s > 0 && self.known.len() < indexes.len() {
                let new = indexes
                    .iter()
                    .filter(|index| !self.known.contains(&address(index)));
                let new: Vec<_> = new.cloned().collect();
                if self.pass(&new, &indexes, Pass::Rest).is_continue() {
                    self.known.extend(new.iter().map(address));
                }
            }
            if self.bytes_per_s > 0
                && Instant::now() >= pass_at
                && self.pass(&indexes, &indexes, Pass::All).is_continue()
            {
                self.verified.clear();
                pass_at = Instant::now() + PASSES_EVERY;
            }
            drop(indexes);
            thread::park_timeout(LOOKS_EVERY);
        }
    }

    /// Returns the open indexes; `None` after the generations were dropped.
    fn indexes(&self) -> Option<Vec<Arc<Index>>> {
        let (newest, before) = self.generations.upgrade()?.held();
        Some([Some(newest), before].into_iter().flatten().collect())
    }

    fn are_open(&self, indexes: &[Arc<Index>]) -> bool {
        let now = self.indexes().unwrap_or_default();
        now.len() == indexes.len()
            && now
                .iter()
                .zip(indexes)
                .all(|(one, other)| Arc::ptr_eq(one, other))
    }

    /// Compares all stamps, and verifies changed files.
    fn look(&mut self, indexes: &[Arc<Index>]) {
        for index in indexes {
            index.alarm_this_thread();
            for number in 0..index.files_count() {
                let known = index.examine(number).map(|(_, trust)| trust);
                if known == Some(Trust::Trusted) && !index.is_in_doubt(number) {
                    continue;
                }
                match index.verify_again(number, &mut |_| ControlFlow::Continue(())) {
                    Ok(()) => {
                        let file = index.examine(number).map(|(path, _)| path.display());
                        tracing::info!(?file, "changed while open, and has its bytes still");
                    }
                    Err(error) => self.tell(index, number, &error),
                }
            }
        }
        self.looks_at = Instant::now() + LOOKS_EVERY;
    }

    /// Verifies every file of `passed` in turn, within the rate. Returns `Break` if it was interrupted,
    /// or if `indexes` are no longer the open ones.
    fn pass(
        &mut self,
        passed: &[Arc<Index>],
        indexes: &[Arc<Index>],
        pass: Pass,
    ) -> ControlFlow<()> {
        let begun = Instant::now();
        let mut bytes = 0;
        for index in passed {
            for number in 0..index.files_count() {
                let Some((path, _)) = index.examine(number) else {
                    continue;
                };
                // To verify what nobody reads would transfer all of it.
                if index.is_fetched(number) {
                    continue;
                }
                if pass == Pass::All && !self.verified.insert(path.to_owned()) {
                    continue;
                }
                let each_piece = &mut |piece: usize| {
                    bytes += piece as u64;
                    let due = bytes as f64 / self.bytes_per_s as f64;
                    self.wait_until(begun + Duration::from_secs_f64(due), indexes)
                };
                let verified = match pass {
                    Pass::Rest => index.verify_rest(number, each_piece),
                    Pass::All => index.verify_again(number, each_piece),
                };
                if let Err(error) = verified {
                    self.tell(index, number, &error);
                }
                if !self.are_open(indexes) {
                    self.verified.remove(path);
                    return ControlFlow::Break(());
                }
            }
        }
        let seconds = begun.elapsed().as_secs_f64();
        tracing::debug!(bytes, seconds, "all files verified");
        ControlFlow::Continue(())
    }

    /// Waits until `due` and compares stamps meanwhile. Returns `Break` if the open generations changed
    /// or were dropped.
    fn wait_until(&mut self, due: Instant, indexes: &[Arc<Index>]) -> ControlFlow<()> {
        loop {
            if !self.are_open(indexes) {
                return ControlFlow::Break(());
            }
            let is_in_doubt = |index: &Arc<Index>| {
                (0..index.files_count()).any(|number| index.is_in_doubt(number))
            };
            let now = Instant::now();
            if now >= self.looks_at || indexes.iter().any(is_in_doubt) {
                self.look(indexes);
            }
            if now >= due {
                return ControlFlow::Continue(());
            }
            thread::park_timeout((due - now).min(LOOKS_EVERY));
        }
    }

    /// Logs a failure of a file, once.
    fn tell(&mut self, index: &Arc<Index>, number: usize, error: &IndexError) {
        let trust = index
            .examine(number)
            .map_or(Trust::Damaged, |(_, trust)| trust);
        if self.told.insert((address(index), number, trust)) {
            let generation = index.generation();
            tracing::error!(generation, %error, "its part of the index is left out of answers");
        }
    }
}

fn address(index: &Arc<Index>) -> usize {
    Arc::as_ptr(index) as usize
}
