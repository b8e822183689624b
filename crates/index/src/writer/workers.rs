//! Threads that build chunks: each owns every n-th chunk, so nothing is shared while building.

use super::BuildOptions;
use crate::IndexError;
use crate::build::chunk::{BuiltChunk, ChunkBuilder, Target};
use corpus::{Document, url_hash};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::thread::JoinHandle;

/// Text that travels to a worker at once.
const BATCH_BYTES: usize = 256 << 10;
/// Batches that wait for a worker.
const BATCHES_MAX: usize = 4;
/// What the program takes beside runs, however little memory there is.
const FIXED_BYTES: u64 = 12 << 20;
/// Share of the rest that runs may take: what remains is for reading, merging and the allocator.
const RUNS_SHARE: f64 = 0.5;
const RUNS_BYTES_MIN: f64 = (8 << 20) as f64;

type Built = Result<Vec<BuiltChunk>, IndexError>;

/// Builds chunks here, or on threads.
pub(super) struct Workers {
    chunks: u32,
    mode: Mode,
}

enum Mode {
    Here(Box<Worker>),
    Threads(Vec<Thread>),
}

struct Thread {
    batch: Vec<(u64, Document)>,
    batch_bytes: usize,
    sender: Sender<Vec<(u64, Document)>>,
    handle: JoinHandle<Built>,
}

/// Builds the chunks `first`, `first + step`, …
struct Worker {
    target: Target,
    chunks: u32,
    first_segment: u32,
    first: u32,
    step: u32,
    memory_bytes: usize,
    builders: Vec<Option<ChunkBuilder>>,
}

impl Workers {
    pub(super) fn start(
        target: Target,
        chunks: u32,
        first_segment: u32,
        options: &BuildOptions,
    ) -> Workers {
        let threads = (options.threads.max(1) as u32).min(chunks);
        let memory = options.memory_bytes.saturating_sub(FIXED_BYTES) as f64 * RUNS_SHARE;
        let memory = memory.max(RUNS_BYTES_MIN);
        let worker = |first: u32| Worker {
            target: target.clone(),
            chunks,
            first_segment,
            first,
            step: threads,
            memory_bytes: (memory / f64::from(threads)) as usize,
            builders: (first..chunks)
                .step_by(threads as usize)
                .map(|_| None)
                .collect(),
        };
        let mode = if options.threads <= 1 {
            Mode::Here(Box::new(worker(0)))
        } else {
            Mode::Threads(
                (0..threads)
                    .map(|first| Thread::start(worker(first)))
                    .collect(),
            )
        };
        Workers { chunks, mode }
    }

    pub(super) fn add(&mut self, document: Document) -> Result<(), IndexError> {
        let hash = url_hash(&document.url);
        match &mut self.mode {
            Mode::Here(worker) => worker.add(&document, hash),
            Mode::Threads(threads) => {
                let chunk = (hash % u64::from(self.chunks)) as usize;
                let number = chunk % threads.len();
                if threads[number].push(hash, document) {
                    return Ok(());
                }
                // Only a worker that failed stops listening: its error is what to tell.
                match threads.swap_remove(number).join() {
                    Err(error) => Err(error),
                    Ok(_) => Err(stopped()),
                }
            }
        }
    }

    /// The chunks built, by number.
    pub(super) fn finish(self) -> Built {
        let mut built = match self.mode {
            Mode::Here(worker) => worker.finish()?,
            Mode::Threads(mut threads) => {
                // A worker that stopped listening tells why when it is joined.
                threads.iter_mut().for_each(|thread| {
                    thread.send();
                });
                let mut built = Vec::new();
                // All of them are joined before any error is told: none may write after that.
                let results: Vec<Built> = threads.into_iter().map(Thread::join).collect();
                for result in results {
                    built.extend(result?);
                }
                built
            }
        };
        built.sort_unstable_by_key(|chunk| chunk.entry.chunk);
        Ok(built)
    }
}

impl Thread {
    fn start(worker: Worker) -> Thread {
        let (sender, receiver) = bounded(BATCHES_MAX);
        let handle = std::thread::spawn(move || run(worker, receiver));
        Thread {
            batch: Vec::new(),
            batch_bytes: 0,
            sender,
            handle,
        }
    }

    fn push(&mut self, hash: u64, document: Document) -> bool {
        self.batch_bytes += document.title.len() + document.body.len();
        self.batch.push((hash, document));
        self.batch_bytes < BATCH_BYTES || self.send()
    }

    fn send(&mut self) -> bool {
        self.batch_bytes = 0;
        self.sender.send(std::mem::take(&mut self.batch)).is_ok()
    }

    fn join(self) -> Built {
        drop(self.sender);
        self.handle.join().unwrap_or_else(|_| Err(stopped()))
    }
}

fn run(mut worker: Worker, receiver: Receiver<Vec<(u64, Document)>>) -> Built {
    for batch in receiver {
        for (hash, document) in batch {
            worker.add(&document, hash)?;
        }
    }
    worker.finish()
}

fn stopped() -> IndexError {
    IndexError::Mismatch {
        path: Default::default(),
        reason: "a thread that builds chunks stopped; this is a bug, please report it".into(),
    }
}

impl Worker {
    fn add(&mut self, document: &Document, hash: u64) -> Result<(), IndexError> {
        let chunk = (hash % u64::from(self.chunks)) as u32;
        let slot = &mut self.builders[((chunk - self.first) / self.step) as usize];
        let builder = match slot {
            Some(builder) => builder,
            None => slot.insert(ChunkBuilder::new(
                &self.target,
                chunk,
                self.first_segment + chunk,
            )?),
        };
        builder.add(document, hash)?;
        self.limit_memory()
    }

    /// Writes the largest run when all of them together take too much.
    fn limit_memory(&mut self) -> Result<(), IndexError> {
        let used = |builder: &ChunkBuilder| builder.memory_bytes();
        let total: usize = self.builders.iter().flatten().map(used).sum();
        if total <= self.memory_bytes {
            return Ok(());
        }
        match self
            .builders
            .iter_mut()
            .flatten()
            .max_by_key(|builder| used(builder))
        {
            Some(largest) => largest.flush(),
            None => Ok(()),
        }
    }

    fn finish(self) -> Built {
        let mut built = Vec::new();
        for builder in self.builders.into_iter().flatten() {
            built.extend(builder.finish()?);
        }
        Ok(built)
    }
}
