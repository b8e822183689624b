//! Verification of open files in the background, which finds damage that no query has met.
//!
//! One thread reads the files of all open generations, of one index or of many, in pieces, up to a given rate: first the
//! blocks that no query has touched, then all blocks again and again, because bit rot and writes below the
//! file system change nothing but the bytes. Each second it also compares the stamps of files,
//! without reading them: of all, or of many indexes in turn. A changed file is verified at once and at full speed, because
//! answers lack its part until then.

use crate::generations::Generations;
use index::{Index, IndexError, Trust};
use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Interval between two comparisons of all stamps.
const LOOKS_EVERY: Duration = Duration::from_secs(1);
/// Lower limit on the time between two passes: a small index need not be read all the time.
const PASSES_EVERY: Duration = Duration::from_secs(60);
/// Files after which the comparison of stamps stops, and goes on a second later: about ten milliseconds.
const FILES_A_LOOK: usize = 4_000;

/// Returns the generations that are open; `None` ends the verification.
pub type OpenGenerations = dyn Fn() -> Option<Vec<Arc<Generations>>> + Send;

/// Verification of files in the background, by one thread for many indexes.
#[derive(Debug)]
pub struct BackgroundVerifier(Thread);

impl BackgroundVerifier {
    /// Starts the thread, which reads up to `bytes_per_s` bytes a second; 0 verifies only changed files.
    pub fn start(open: Box<OpenGenerations>, bytes_per_s: u64) -> io::Result<BackgroundVerifier> {
        let verifier = Verifier {
            open,
            bytes_per_s,
            verified: HashSet::new(),
            told: HashSet::new(),
            known: HashSet::new(),
            looks_at: Instant::now(),
            next_look: 0,
        };
        let started = thread::Builder::new()
            .name("verifier".into())
            .spawn(move || verifier.run());
        Ok(BackgroundVerifier(started?.thread().clone()))
    }

    /// Lets the thread notice at once that generations are opened and dropped.
    pub fn watch(&self, generations: &Generations) {
        let _ = generations.verifier.set(self.0.clone());
        self.0.unpark();
    }
}

impl Generations {
    /// Starts the verification in the background, at up to `bytes_per_s` bytes a second; 0 verifies
    /// only changed files. It ends when the generations are dropped. Called once.
    pub fn verify_in_background(self: &Arc<Self>, bytes_per_s: u64) -> io::Result<()> {
        let weak = Arc::downgrade(self);
        let open = move || Some(vec![weak.upgrade()?]);
        BackgroundVerifier::start(Box::new(open), bytes_per_s)?.watch(self);
        Ok(())
    }
}

struct Verifier {
    open: Box<OpenGenerations>,
    bytes_per_s: u64,
    /// Files verified in this pass, by path: a newer generation has most files of the one before.
    verified: HashSet<PathBuf>,
    /// Entries already logged: index, number of the file, and its state of trust.
    told: HashSet<(usize, usize, Trust)>,
    /// Indexes whose blocks have all been verified once.
    known: HashSet<usize>,
    looks_at: Instant,
    /// Place of the index that the next comparison of stamps begins with.
    next_look: usize,
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
        vfs::platform::thread::lower_priority();
        let mut pass_at = Instant::now() + PASSES_EVERY;
        while let Some(indexes) = self.indexes() {
            let open: HashSet<usize> = indexes.iter().map(address).collect();
            self.told.retain(|(of, _, _)| open.contains(of));
            self.known.retain(|of| open.contains(of));
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
        let held = |generations: Arc<Generations>| {
            let (newest, before) = generations.held();
            [Some(newest), before].into_iter().flatten()
        };
        Some((self.open)()?.into_iter().flat_map(held).collect())
    }

    fn are_open(&self, indexes: &[Arc<Index>]) -> bool {
        let now = self.indexes().unwrap_or_default();
        now.len() == indexes.len()
            && now
                .iter()
                .zip(indexes)
                .all(|(one, other)| Arc::ptr_eq(one, other))
    }

    /// Compares stamps, in turn those of all indexes, and those of files in doubt; verifies changed files.
    fn look(&mut self, indexes: &[Arc<Index>]) {
        let (mut files, mut next) = (0, self.next_look);
        while files < FILES_A_LOOK && next < self.next_look + indexes.len() {
            files += indexes[next % indexes.len()].files_count().max(1);
            next += 1;
        }
        let count = next - self.next_look;
        for (at, index) in indexes.iter().enumerate() {
            let turn = (at + indexes.len() - self.next_look % indexes.len()) % indexes.len();
            let has_doubt = || is_in_doubt(index);
            if turn >= count && !has_doubt() {
                continue;
            }
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
        self.next_look = next.checked_rem(indexes.len()).unwrap_or(0);
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

fn is_in_doubt(index: &Arc<Index>) -> bool {
    (0..index.files_count()).any(|number| index.is_in_doubt(number))
}

fn address(index: &Arc<Index>) -> usize {
    Arc::as_ptr(index) as usize
}
