//! Durable writes a second, in batches and one by one from several clients, while refreshes commit them:
//!
//! ```text
//! cargo run --release -p shorttail-ingest --example durable_writes -- INDEX DOCUMENTS.jsonl
//! ```
//!
//! INDEX is an existing index, which gets the documents; DOCUMENTS has one document a line.

use document::Document;
use index::IndexError;
use ingest::{Change, LiveOptions, LiveWriter};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use vfs::RealStorage;

const BATCH: usize = 500;
const CLIENTS: usize = 16;
/// Duration of the part with single documents.
const SINGLE: Duration = Duration::from_secs(10);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(directory), Some(file)) = (arguments.next(), arguments.next()) else {
        return Err("INDEX and DOCUMENTS are missing".into());
    };
    let lines = std::fs::read_to_string(file)?;
    let documents: Result<Vec<Document>, _> = lines
        .lines()
        .map(|line| Document::from_json_line(line.as_bytes()))
        .collect();
    let documents = documents?;
    let storage = Arc::new(RealStorage::open(&directory).map_err(IndexError::from)?);
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let options = LiveOptions {
        threads,
        ..LiveOptions::default()
    };
    let writer = LiveWriter::open(storage, options)?;
    let begun = Instant::now();
    let mut full = 0;
    for batch in documents.chunks(BATCH) {
        let changes: Vec<_> = batch
            .iter()
            .map(|document| Change::Put(document.clone()).into())
            .collect();
        // More than memory allows waits for a refresh.
        while let Err(error) = writer.apply(changes.clone()) {
            if !matches!(error, ingest::LiveError::Full { .. }) {
                return Err(error.into());
            }
            full += 1;
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    let durable = begun.elapsed();
    writer.wait_for_refresh()?;
    let per_s = |count: usize, elapsed: Duration| count as f64 / elapsed.as_secs_f64();
    println!(
        "batches of {BATCH}: {:.0} documents/s durable, {:.0} searchable ({full} waits for memory)",
        per_s(documents.len(), durable),
        per_s(documents.len(), begun.elapsed())
    );
    let (begun, next) = (Instant::now(), AtomicUsize::new(0));
    let waits: Vec<Vec<Duration>> = std::thread::scope(|scope| {
        let client = || {
            let mut waits = Vec::new();
            while begun.elapsed() < SINGLE {
                let document = &documents[next.fetch_add(1, Ordering::Relaxed) % documents.len()];
                let asked = Instant::now();
                if writer
                    .apply(vec![Change::Put(document.clone()).into()])
                    .is_ok()
                {
                    waits.push(asked.elapsed());
                }
            }
            waits
        };
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(client)).collect();
        let joined = clients.into_iter().map(|client| client.join());
        joined.map(Result::unwrap_or_default).collect()
    });
    let mut waits: Vec<Duration> = waits.into_iter().flatten().collect();
    waits.sort_unstable();
    let at = |percent: usize| {
        waits
            .get(waits.len() * percent / 100)
            .copied()
            .unwrap_or_default()
    };
    println!(
        "one by one, {CLIENTS} clients: {:.0} documents/s durable, median {:.2} ms, p99 {:.2} ms",
        per_s(waits.len(), begun.elapsed()),
        at(50).as_secs_f64() * 1e3,
        at(99).as_secs_f64() * 1e3
    );
    Ok(())
}
