//! Worker threads that invert documents. The calling thread keeps the documents' rows, in order of arrival. Words go in
//! batches to any free thread of the segment's group, and each thread builds runs of its own.
//!
//! With at least as many segments as threads, a group is one thread, which owns every n-th segment. With fewer, the
//! threads of a group share its segments. Nothing else is shared: the runs of a thread are its own, and a channel
//! carries 256 KiB of text at a time.

use super::options::BuildOptions;
use crate::build::documents::Documents;
use crate::build::run::{RunBuilder, Runs};
use crate::build::segment::{BuiltSegment, NewSegment, Target};
use crate::error::stopped;
use crate::segment::DOCUMENTS_MAX;
use crate::{IndexError, Layout};
use crossbeam_channel::{Receiver, Sender, bounded};
use document::{Document, site_of, url_hash};
use fields::TextFields;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Bytes of text sent to a worker at once.
const BATCH_BYTES: usize = 256 << 10;
/// Batches that wait for the workers of a group.
const BATCHES_MAX: usize = 4;
/// Memory of the program besides runs, independent of the limit.
const FIXED_BYTES: u64 = 12 << 20;
/// Share of the remaining memory for runs; the rest is for reading, writing and the allocator.
const RUNS_SHARE: f64 = 0.5;
const RUNS_BYTES_MIN: f64 = (8 << 20) as f64;

/// Document on its way to a worker.
struct Arrived {
    partition: u32,
    /// Ordinal among the documents of its partition, in order of arrival.
    ordinal: u32,
    site: String,
    document: Document,
    /// Further fields whose words are inverted.
    text_fields: Arc<TextFields>,
}

/// Runs by partition.
type PartitionRuns = BTreeMap<u32, Runs>;

/// Builders of one segment for each partition, on this thread or on others.
pub(super) struct Workers {
    target: Target,
    layout: Layout,
    first_segment: u32,
    threads: usize,
    /// Further fields of the next documents.
    text_fields: Arc<TextFields>,
    /// Documents by partition; a partition appears with its first document.
    documents: BTreeMap<u32, Documents>,
    mode: Mode,
}

enum Mode {
    Here(Box<Worker>),
    Threads(Vec<Group>),
}

/// Threads that share the partitions with one remainder.
struct Group {
    batch: Vec<Arrived>,
    batch_bytes: usize,
    batch_documents_max: usize,
    sender: Sender<Vec<Arrived>>,
    handles: Vec<JoinHandle<Result<PartitionRuns, IndexError>>>,
}

/// Inverter of documents into runs, within its share of memory.
struct Worker {
    target: Target,
    number: usize,
    first_segment: u32,
    memory_bytes: usize,
    builders: BTreeMap<u32, RunBuilder>,
}

impl Workers {
    pub(super) fn start(
        target: Target,
        text_fields: Arc<TextFields>,
        layout: Layout,
        first_segment: u32,
        options: &BuildOptions,
    ) -> Workers {
        let threads = options.threads.max(1);
        let memory = options.memory_bytes.saturating_sub(FIXED_BYTES) as f64 * RUNS_SHARE;
        let memory = memory.max(RUNS_BYTES_MIN);
        let worker = |number: usize| Worker {
            target: target.clone(),
            number,
            first_segment,
            memory_bytes: (memory / threads as f64) as usize,
            builders: BTreeMap::new(),
        };
        let mode = match threads {
            1 => Mode::Here(Box::new(worker(0))),
            _ => {
                let groups = threads.min(layout.partitions as usize);
                // Short runs need short batches, so that a run has several.
                let batch_documents_max = target
                    .run_documents_max
                    .map_or(usize::MAX, |max| max as usize / 3 + 1);
                let of_group = |group: usize| (group..threads).step_by(groups).map(worker);
                let groups =
                    (0..groups).map(|group| Group::start(of_group(group), batch_documents_max));
                Mode::Threads(groups.collect())
            }
        };
        Workers {
            target,
            layout,
            first_segment,
            threads,
            text_fields,
            documents: BTreeMap::new(),
            mode,
        }
    }

    /// Sets the further fields of the documents that follow.
    pub(super) fn set_text_fields(&mut self, text_fields: Arc<TextFields>) {
        self.text_fields = text_fields;
    }

    pub(super) fn add(&mut self, document: Document) -> Result<(), IndexError> {
        let hash = url_hash(&document.url);
        let partition = self.layout.partition_of(self.layout.chunk_of(hash));
        let site = site_of(&document.url);
        let documents = match self.documents.entry(partition) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                let Target {
                    storage,
                    texts,
                    index_id,
                    ..
                } = &self.target;
                let segment = self.first_segment + partition;
                entry.insert(Documents::new(storage, *texts, *index_id, segment)?)
            }
        };
        let ordinal = documents.count();
        if ordinal >= DOCUMENTS_MAX {
            let max = DOCUMENTS_MAX;
            let chunks = self.layout.chunks_of(partition);
            return Err(IndexError::TooManyDocuments { chunks, max });
        }
        documents.push(&document, &site, hash)?;
        let arrived = Arrived {
            partition,
            ordinal,
            site,
            document,
            text_fields: Arc::clone(&self.text_fields),
        };
        match &mut self.mode {
            Mode::Here(worker) => worker.add(&arrived),
            Mode::Threads(groups) => {
                let number = partition as usize % groups.len();
                if groups[number].push(arrived) {
                    return Ok(());
                }
                // Only workers that failed stop receiving; their error is returned.
                match groups.swap_remove(number).join() {
                    Err(error) => Err(error),
                    Ok(_) => Err(stopped()),
                }
            }
        }
    }

    /// Leaves out the documents of a URL that came so far.
    pub(super) fn withdraw(&mut self, url: &str) {
        let partition = self
            .layout
            .partition_of(self.layout.chunk_of(url_hash(url)));
        if let Some(documents) = self.documents.get_mut(&partition) {
            documents.withdraw(url);
        }
    }

    /// Returns the segments built, by partition.
    pub(super) fn finish(mut self) -> Result<Vec<BuiltSegment>, IndexError> {
        let mut runs: BTreeMap<u32, Vec<Runs>> = BTreeMap::new();
        for made in self.join()? {
            for (partition, made) in made {
                runs.entry(partition).or_default().push(made);
            }
        }
        let (first_segment, layout) = (self.first_segment, self.layout);
        let segments = self.documents.into_iter();
        let segments = segments.map(|(partition, documents)| NewSegment {
            chunks: layout.chunks_of(partition).into(),
            segment: first_segment + partition,
            documents,
            runs: runs.remove(&partition).unwrap_or_default(),
        });
        let mut built = finish_segments(segments.collect(), &self.target, self.threads)?;
        // All documents of a segment may have been withdrawn. The commit removes its files.
        built.retain(|segment| segment.entry.documents_count > 0);
        Ok(built)
    }

    /// Returns the runs of every worker.
    fn join(&mut self) -> Result<Vec<PartitionRuns>, IndexError> {
        match &mut self.mode {
            Mode::Here(worker) => Ok(vec![worker.take_runs()]),
            Mode::Threads(groups) => {
                // A worker that stopped receiving returns its error when it is joined.
                groups.iter_mut().for_each(|group| {
                    group.send();
                });
                // All workers are joined before an error is returned, so that none writes after that.
                let made: Vec<_> = groups.drain(..).map(Group::join).collect();
                let mut runs = Vec::new();
                for made in made {
                    runs.extend(made?);
                }
                Ok(runs)
            }
        }
    }
}

/// Finishes up to `threads` segments at a time, and divides the remaining threads among them.
fn finish_segments(
    segments: Vec<NewSegment>,
    target: &Target,
    threads: usize,
) -> Result<Vec<BuiltSegment>, IndexError> {
    let at_a_time = threads.min(segments.len()).max(1);
    if at_a_time == 1 {
        let finish = |segment: NewSegment| segment.finish(target, threads);
        return segments.into_iter().map(finish).collect();
    }
    let waiting = Mutex::new(segments.into_iter());
    let finished = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..at_a_time {
            scope.spawn(|| {
                let next = || {
                    waiting
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .next()
                };
                while let Some(segment) = next() {
                    let built = segment.finish(target, threads / at_a_time);
                    let mut finished = finished.lock().unwrap_or_else(PoisonError::into_inner);
                    finished.push(built);
                }
            });
        }
    });
    let finished = finished.into_inner();
    let finished = finished.unwrap_or_else(PoisonError::into_inner);
    let mut built: Vec<BuiltSegment> = finished.into_iter().collect::<Result<_, _>>()?;
    built.sort_unstable_by_key(|built| built.entry.segment);
    Ok(built)
}

impl Group {
    fn start(workers: impl Iterator<Item = Worker>, batch_documents_max: usize) -> Group {
        let (sender, receiver) = bounded(BATCHES_MAX);
        let start = |worker: Worker| {
            let receiver = receiver.clone();
            std::thread::spawn(move || run(worker, receiver))
        };
        Group {
            batch: Vec::new(),
            batch_bytes: 0,
            batch_documents_max,
            sender,
            handles: workers.map(start).collect(),
        }
    }

    fn push(&mut self, arrived: Arrived) -> bool {
        self.batch_bytes += arrived.document.title.len() + arrived.document.body.len();
        self.batch.push(arrived);
        let full = self.batch_bytes >= BATCH_BYTES || self.batch.len() >= self.batch_documents_max;
        !full || self.send()
    }

    fn send(&mut self) -> bool {
        self.batch_bytes = 0;
        self.sender.send(std::mem::take(&mut self.batch)).is_ok()
    }

    fn join(self) -> Result<Vec<PartitionRuns>, IndexError> {
        drop(self.sender);
        let joined = self.handles.into_iter();
        let joined = joined.map(|handle| handle.join().unwrap_or_else(|_| Err(stopped())));
        let joined: Vec<_> = joined.collect();
        joined.into_iter().collect()
    }
}

fn run(mut worker: Worker, receiver: Receiver<Vec<Arrived>>) -> Result<PartitionRuns, IndexError> {
    for batch in receiver {
        for arrived in batch {
            worker.add(&arrived)?;
        }
    }
    Ok(worker.take_runs())
}

impl Worker {
    fn add(&mut self, arrived: &Arrived) -> Result<(), IndexError> {
        let Worker {
            target,
            number,
            first_segment,
            builders,
            ..
        } = self;
        let builder = builders.entry(arrived.partition).or_insert_with(|| {
            let segment = *first_segment + arrived.partition;
            RunBuilder::new(
                &target.storage,
                format!("tmp-{segment:08}-run-{number}"),
                target.analyzer,
                target.run_documents_max,
            )
        });
        let (site, text_fields) = (&arrived.site, &arrived.text_fields);
        builder.add(&arrived.document, site, arrived.ordinal, text_fields)?;
        self.limit_memory()
    }

    /// Writes the largest run where all of them together exceed the limit.
    fn limit_memory(&mut self) -> Result<(), IndexError> {
        let total: usize = self.builders.values().map(RunBuilder::memory_bytes).sum();
        if total <= self.memory_bytes {
            return Ok(());
        }
        let largest = self
            .builders
            .values_mut()
            .max_by_key(|builder| builder.memory_bytes());
        largest.map_or(Ok(()), RunBuilder::flush)
    }

    fn take_runs(&mut self) -> PartitionRuns {
        let builders = std::mem::take(&mut self.builders).into_iter();
        let finish = |(partition, builder): (u32, RunBuilder)| (partition, builder.finish());
        builders.map(finish).collect()
    }
}
