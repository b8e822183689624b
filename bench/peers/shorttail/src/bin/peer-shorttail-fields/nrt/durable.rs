//! Batches written as fast as possible.

use super::document;
use crate::Result;
use document::Document;
use ingest::{Change, LiveError, LiveWriter};
use std::time::{Duration, Instant};

/// Documents of a batch.
const BATCH: usize = 500;

/// What was written, and the times until all of it was durable and searchable.
pub(super) struct Durable {
    pub(super) documents: usize,
    pub(super) durable_s: f64,
    pub(super) searchable_s: f64,
    pub(super) calls_us: Vec<f64>,
}

/// Writes batches until the time is over or no whole batch is left.
pub(super) fn write(writer: &LiveWriter, lines: &[&str], duration: Duration) -> Result<Durable> {
    let begun = Instant::now();
    let (mut documents, mut calls_us) = (0, Vec::new());
    for batch in lines.chunks_exact(BATCH) {
        if begun.elapsed() >= duration {
            break;
        }
        let batch: Vec<Document> = batch
            .iter()
            .map(|line| document(line))
            .collect::<Result<_>>()?;
        let asked = Instant::now();
        // More than memory allows waits for a refresh.
        loop {
            let changes = batch.iter().cloned().map(|one| Change::Put(one).into());
            match writer.apply(changes.collect()) {
                Ok(_) => break,
                Err(LiveError::Full { .. }) => std::thread::sleep(Duration::from_millis(5)),
                Err(error) => return Err(error.into()),
            }
        }
        calls_us.push(asked.elapsed().as_secs_f64() * 1e6);
        documents += batch.len();
    }
    let durable_s = begun.elapsed().as_secs_f64();
    writer.wait_for_refresh()?;
    Ok(Durable {
        documents,
        durable_s,
        searchable_s: begun.elapsed().as_secs_f64(),
        calls_us,
    })
}
