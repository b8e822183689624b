//! Searches at a fixed rate, alone and beside a writer; then durable writes as fast as possible.
//!
//! ```text
//! half of the corpus ─ index ─► searches alone ─► searches beside a writer ─► batches of 500, without searches
//! ```
//!
//! The other programs do the same with the same queries at the same instants, and the same writes. They write title and
//! URL to the disk, and make writes durable and visible once a second (Tantivy) or do not sync them (Lucene); here the
//! whole document is written, a write is durable when the call returns, and refreshes are those of a server that writes.

mod durable;
mod pace;
mod process;
mod times;
mod writes;

use crate::Result;
use crate::build::{in_one_field, new_index};
use crate::words::query_of;
use document::Document;
use index::{Index, Segment};
use ingest::{LiveOptions, LiveWriter};
use pace::{Random, until};
use search::{Operator, Plan, Ranking, top_of_partition};
use serve::Generations;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use times::Times;
use vfs::SharedStorage;
use writes::Writes;

/// Searches a second.
const SEARCHES_QPS: f64 = 200.0;
/// Memory limit of the writer, in bytes; that of the other programs.
const MEMORY_BYTES: u64 = 64 << 20;
/// Time of searches that are not counted.
const WARM: Duration = Duration::from_secs(3);

/// Durations of the parts, and the rate of writes.
pub(crate) struct Sizes {
    /// Seconds of searches beside the writer.
    pub(crate) beside_s: u64,
    /// Seconds of searches alone.
    pub(crate) alone_s: u64,
    /// Upper limit on the seconds of durable writes.
    pub(crate) durable_s: u64,
    /// Writes a second.
    pub(crate) rate: u64,
}

impl Sizes {
    /// Reads the options of the command line.
    pub(crate) fn parse(options: &[&str]) -> Result<Sizes> {
        let mut sizes = Sizes {
            beside_s: 60,
            alone_s: 30,
            durable_s: 15,
            rate: 1000,
        };
        for option in options.chunks(2) {
            let size = match option[0] {
                "--secs" => &mut sizes.beside_s,
                "--base" => &mut sizes.alone_s,
                "--durable" => &mut sizes.durable_s,
                "--rate" => &mut sizes.rate,
                other => return Err(format!("there is no option `{other}`").into()),
            };
            let value = option
                .get(1)
                .ok_or_else(|| format!("{} has no value", option[0]))?;
            *size = value.parse()?;
        }
        Ok(sizes)
    }
}

/// Runs all parts, and prints a line of JSON.
pub(crate) fn run(corpus: &Path, directory: &Path, queries: &Path, sizes: &Sizes) -> Result<()> {
    let text = std::fs::read_to_string(corpus)?;
    let lines: Vec<&str> = text.lines().collect();
    let queries = std::fs::read_to_string(queries)?;
    let queries: Vec<&str> = queries.lines().collect();
    let half = lines.len() / 2;
    let begun = Instant::now();
    let storage = preload(&lines[..half], directory)?;
    let preload_s = begun.elapsed().as_secs_f64();
    let generations = Generations::open(storage.clone())?;
    let options = LiveOptions {
        memory_bytes: MEMORY_BYTES,
        ..LiveOptions::default()
    };
    let writer = LiveWriter::open(storage, options)?;
    let shown = Arc::clone(&generations);
    writer.call_after_refresh(move |_| {
        if let Err(error) = shown.reload() {
            eprintln!("cannot open what was written: {error}");
        }
    });
    let segments_start = segments_of(&generations.newest()).len();

    let begun = Instant::now();
    while begun.elapsed() < WARM {
        for query in &queries {
            search(&generations, query)?;
        }
    }
    let cpu_before = process::cpu_s()?;
    let alone = searches(&generations, &queries, sizes.alone_s, 12345)?;
    let cpu_alone = process::cpu_s()?;

    let writes = Writes {
        lines: &lines,
        half,
        rate: sizes.rate,
        total: (sizes.rate * sizes.beside_s) as usize,
    };
    let is_written = AtomicBool::new(false);
    let start = Instant::now() + Duration::from_millis(1);
    let (beside, written, seen) = std::thread::scope(|scope| {
        let (writes, writer, is_written) = (&writes, &writer, &is_written);
        let writing = scope.spawn(move || {
            let written = writes
                .apply(writer, start)
                .map_err(|error| error.to_string());
            is_written.store(true, Ordering::SeqCst);
            written
        });
        let seeing = scope.spawn(move || writes.watch(writer, start, is_written));
        let beside = searches(&generations, &queries, sizes.beside_s, 54321);
        (beside, writing.join(), seeing.join())
    });
    let cpu_beside = process::cpu_s()?;
    let beside = beside?;
    let written = written.map_err(|_| "the writer panicked")??;
    let seen = seen.map_err(|_| "the watch of the writer panicked")?;
    let status = writer.status();
    if let Some(failure) = status.failure {
        return Err(failure.into());
    }
    let newest = generations.newest();
    let live_docs = newest.statistics().documents_count();
    let segments_end = segments_of(&newest).len();
    let (anonymous_mb, peak_mb) = (process::status_mb("RssAnon")?, process::status_mb("VmHWM")?);

    let rest = &lines[written.next..];
    let durable = durable::write(&writer, rest, Duration::from_secs(sizes.durable_s))?;
    println!(
        "{{\"preload_docs\":{half},\"preload_s\":{preload_s:.1},\"segments_start\":{segments_start},\
         \"quiet_us\":{},\"quiet_s\":{},\"quiet_cpu_s\":{:.2},\"busy_us\":{},\"busy_s\":{},\"busy_cpu_s\":{:.2},\
         \"ops\":{},\"ops_late_s\":{:.3},\"visible_us\":{},\"write_us\":{},\"refreshes\":{},\"merges\":{},\
         \"segments_end\":{segments_end},\"live_docs\":{live_docs},\"rss_anon_mb\":{anonymous_mb},\"rss_peak_mb\":{peak_mb},\
         \"durable_docs_per_s\":{:.0},\"durable_s\":{:.1},\"searchable_docs_per_s\":{:.0},\"commit_us\":{}}}",
        Times::of(alone),
        sizes.alone_s,
        cpu_alone - cpu_before,
        Times::of(beside),
        sizes.beside_s,
        cpu_beside - cpu_alone,
        writes.total,
        written.late_s,
        Times::of(seen),
        Times::of(written.calls_us),
        status.refreshes,
        status.merges,
        durable.documents as f64 / durable.durable_s,
        durable.durable_s,
        durable.documents as f64 / durable.searchable_s,
        Times::of(durable.calls_us),
    );
    Ok(())
}

fn document(line: &str) -> Result<Document> {
    Ok(in_one_field(Document::from_json_line(line.as_bytes())?))
}

/// Makes an index of the documents with merges within commits.
fn preload(lines: &[&str], directory: &Path) -> Result<SharedStorage> {
    let (storage, mut writer) = new_index(directory, MEMORY_BYTES)?;
    for line in lines {
        writer.add(document(line)?)?;
    }
    writer.commit()?;
    Ok(storage)
}

fn segments_of(index: &Index) -> Vec<Arc<Segment>> {
    index.segments(0..index.chunks_count()).cloned().collect()
}

/// Finds the ten best documents with all words in the newest generation, and reads their titles.
fn search(generations: &Generations, text: &str) -> Result<()> {
    let index = generations.newest();
    let segments = segments_of(&index);
    let query = query_of(text, index.analyzer(), Operator::And);
    let plan = Plan::new(&query, Ranking::default(), index.statistics())?;
    for hit in top_of_partition(&plan, &segments, 10)? {
        let segment = segments.iter().find(|one| one.id() == hit.segment);
        let segment = segment.ok_or("a hit of no segment")?;
        std::hint::black_box(segment.details(hit.doc)?.title);
    }
    Ok(())
}

/// Searches at random instants; returns the times from the intended instants to the answers, in microseconds.
fn searches(
    generations: &Generations,
    queries: &[&str],
    seconds: u64,
    seed: u64,
) -> Result<Vec<f64>> {
    let (mut random, begun, mut at_s, mut times) = (Random(seed), Instant::now(), 0.0, Vec::new());
    loop {
        at_s += -random.unit().ln() / SEARCHES_QPS;
        if at_s > seconds as f64 {
            return Ok(times);
        }
        let due = begun + Duration::from_secs_f64(at_s);
        until(due);
        search(generations, queries[random.below(queries.len())])?;
        times.push(due.elapsed().as_secs_f64() * 1e6);
    }
}
