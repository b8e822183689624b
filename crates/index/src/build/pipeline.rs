//! Parallel encoding of a segment's terms, in jobs of neighbouring terms. Results are written in order, so the bytes
//! are those of one thread.

use super::encode::{RunMap, TermEncoder};
use super::run::{Piece, TermsMerge};
use crate::postings::{PostingsCodec, PostingsEncoder};
use crate::segment::write::{ListCounts, SegmentWriter};
use crate::{Field, IndexError, written};
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Bytes of streams after which a job ends, and the same limit in pieces.
const JOB_BYTES: usize = 512 << 10;
const JOB_PIECES: usize = 8 << 10;
/// Jobs in progress for each thread, waiting ones included.
const JOBS_PER_THREAD: usize = 2;

/// Consecutive terms with their pieces.
#[derive(Default)]
struct Job<'a> {
    number: usize,
    keys: Vec<u8>,
    pieces: Vec<Piece<'a>>,
    /// Ends of the key and of the pieces of each term.
    ends: Vec<(usize, usize)>,
    bytes: usize,
}

/// Encoded lists of a job's terms.
#[derive(Default)]
struct Encoded {
    keys: Vec<u8>,
    /// End of each key, and the counts of its list; none for a word as written.
    lists: Vec<(usize, Option<ListCounts>)>,
    postings: Vec<u8>,
    positions: Vec<u8>,
}

type Done = (usize, Option<Encoded>);

/// Encodes all terms on `threads` threads, and writes them on this one.
pub(crate) fn encode_terms(
    mut merge: TermsMerge<'_>,
    maps: &[RunMap],
    codec: PostingsCodec,
    threads: usize,
    out: &mut SegmentWriter,
) -> Result<(), IndexError> {
    std::thread::scope(|scope| {
        // The channel is unbounded; the number of jobs in progress is limited below.
        let (jobs, waiting) = unbounded();
        let (done, results) = unbounded();
        for _ in 0..threads {
            let (waiting, done) = (waiting.clone(), done.clone());
            scope.spawn(move || work(&waiting, &done, maps, codec));
        }
        drop(done);
        let mut writer = InOrder {
            results,
            early: BTreeMap::new(),
            next: 0,
            out,
        };
        let mut number = 0;
        while let Some(mut job) = next_job(&mut merge) {
            if number - writer.next >= threads * JOBS_PER_THREAD {
                writer.write_next()?;
            }
            job.number = number;
            number += 1;
            // Threads stop receiving only after a panic, which `write_next` reports.
            let _ = jobs.send(job);
        }
        drop(jobs);
        while writer.next < number {
            writer.write_next()?;
        }
        Ok(())
    })
}

fn next_job<'a>(merge: &mut TermsMerge<'a>) -> Option<Job<'a>> {
    let mut job = Job::default();
    while job.bytes < JOB_BYTES && job.pieces.len() < JOB_PIECES {
        let Some((key, pieces)) = merge.next() else {
            break;
        };
        job.keys.extend_from_slice(key);
        job.pieces.extend_from_slice(pieces);
        job.bytes += pieces.iter().map(Piece::bytes).sum::<usize>();
        job.ends.push((job.keys.len(), job.pieces.len()));
    }
    (!job.ends.is_empty()).then_some(job)
}

fn work(waiting: &Receiver<Job<'_>>, done: &Sender<Done>, maps: &[RunMap], codec: PostingsCodec) {
    for job in waiting {
        let number = job.number;
        // Every job needs a result, even after a panic, or its writer waits forever.
        let encoded = catch_unwind(AssertUnwindSafe(|| encode(job, maps, codec))).ok();
        if done.send((number, encoded)).is_err() {
            return;
        }
    }
}

fn encode(job: Job<'_>, maps: &[RunMap], codec: PostingsCodec) -> Encoded {
    let mut terms = TermEncoder::new(maps);
    let mut encoder = PostingsEncoder::new(codec);
    let mut encoded = Encoded::default();
    let (mut key_at, mut piece_at) = (0, 0);
    for &(key_end, piece_end) in &job.ends {
        let key = &job.keys[key_at..key_end];
        if key.first() == Some(&written::KEY) {
            encoded.lists.push((key_end, None));
        } else if let Some(key) = Field::split(key) {
            terms.encode(key, &job.pieces[piece_at..piece_end], &mut encoder);
            encoder.finish(|list| {
                encoded.lists.push((key_end, Some(ListCounts::of(&list))));
                for piece in list.postings {
                    encoded.postings.extend_from_slice(piece);
                }
                for piece in list.positions {
                    encoded.positions.extend_from_slice(piece);
                }
            });
        }
        (key_at, piece_at) = (key_end, piece_end);
    }
    encoded.keys = job.keys;
    encoded
}

/// Writer of results in the order of their jobs.
struct InOrder<'a> {
    results: Receiver<Done>,
    early: BTreeMap<usize, Option<Encoded>>,
    next: usize,
    out: &'a mut SegmentWriter,
}

impl InOrder<'_> {
    /// Waits for the result of the next job, and writes it.
    fn write_next(&mut self) -> Result<(), IndexError> {
        loop {
            if let Some(encoded) = self.early.remove(&self.next) {
                self.next += 1;
                return self.write(&encoded.ok_or_else(crate::error::stopped)?);
            }
            let (number, encoded) = self.results.recv().map_err(|_| crate::error::stopped())?;
            self.early.insert(number, encoded);
        }
    }

    fn write(&mut self, encoded: &Encoded) -> Result<(), IndexError> {
        let (mut key_at, mut postings_at, mut positions_at) = (0, 0, 0);
        for (key_end, counts) in &encoded.lists {
            let key = &encoded.keys[key_at..*key_end];
            key_at = *key_end;
            let Some(counts) = counts else {
                self.out.push_written(&key[1..])?;
                continue;
            };
            let postings_end = postings_at + counts.postings_bytes;
            let positions_end = positions_at + counts.positions_bytes;
            self.out.push_list(
                key,
                counts,
                [&encoded.postings[postings_at..postings_end], &[]],
                [&encoded.positions[positions_at..positions_end], &[]],
            )?;
            (postings_at, positions_at) = (postings_end, positions_end);
        }
        Ok(())
    }
}
