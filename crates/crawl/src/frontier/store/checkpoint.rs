//! Checkpoints: the batch becomes a run, a new journal begins, the manifest names both.
use super::cursor::Cursor;
use super::found::find;
use super::journal::JournalWriter;
use super::manifest::{Manifest, ManifestRun, journal_name, run_name};
use super::map::{CREDIT_MAX, MERGE_STEP, MERGED_PER_CHANGE, NO_CLASS, Slot, Store, TierRun};
use super::merge::Merge;
use super::run_builder::RunBuilder;
use crate::frontier::error::FrontierError;
use crate::frontier::record::Record;
use std::sync::Arc;
use vfs::StorageError;

impl Store {
    /// Checks the batch against the runs, writes it, and makes everything durable.
    pub(crate) fn checkpoint(&mut self) -> Result<(), FrontierError> {
        if self.failed {
            return Err(FrontierError::Stopped);
        }
        if self.batch.is_empty() && self.obsolete.is_empty() {
            return self.sync();
        }
        // Any error leaves files and counts between two states: opening again decides.
        self.failed = true;
        let new_run = self.write_batch()?;
        self.runs.extend(new_run);
        let journal_file = self.next_file();
        let journal = JournalWriter::create(&self.storage, journal_name(journal_file))?;
        let manifest = Manifest {
            journal: journal_file,
            next_file: self.manifest.next_file,
            runs: self
                .runs
                .iter()
                .map(|run| ManifestRun {
                    file: run.file,
                    tier: run.tier,
                })
                .collect(),
            counts: self.manifest.counts.clone(),
        };
        manifest.write(&self.storage)?;
        self.obsolete.push(journal_name(self.manifest.journal));
        (self.manifest, self.journal) = (manifest, journal);
        self.batch.clear();
        (self.batch_bytes, self.unchecked) = (0, 0);
        self.renew_reader();
        for name in std::mem::take(&mut self.obsolete) {
            match self.storage.remove(&name) {
                Ok(()) | Err(StorageError::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.failed = false;
        self.start_merge()
    }

    fn write_batch(&mut self) -> Result<Option<TierRun>, FrontierError> {
        if self.batch.is_empty() {
            return Ok(None);
        }
        let file = self.next_file();
        let name = run_name(file);
        let keys_max = self.batch.len() as u64;
        let mut builder =
            RunBuilder::create(&self.storage, name, self.options.block_bytes, keys_max)?;
        let mut new = 0;
        for (key, slot) in &self.batch {
            match slot {
                Slot::Put(value) => builder.push(&self.storage, key, value)?,
                Slot::Seen(sighting) => {
                    let stored = find(&mut self.reader, key, &mut self.damage);
                    match stored.and_then(Record::decode) {
                        Some(mut record) => {
                            if record.note(sighting) {
                                builder.push(&self.storage, key, &record.encode())?;
                            }
                        }
                        None => {
                            builder.push(&self.storage, key, &Record::new(sighting).encode())?;
                            new += 1;
                        }
                    }
                }
            }
        }
        let queued = crate::frontier::state::State::Queued.class();
        for _ in 0..new {
            self.count(NO_CLASS, queued);
        }
        let run = builder.finish(&self.storage)?;
        Ok(Some(TierRun {
            file,
            tier: 0,
            run: Arc::new(run),
        }))
    }

    fn next_file(&mut self) -> u64 {
        self.manifest.next_file += 1;
        self.manifest.next_file
    }

    pub(super) fn renew_reader(&mut self) {
        self.reader = self
            .runs
            .iter()
            .map(|run| Cursor::new(run.run.clone()))
            .collect();
    }

    /// Starts the merge of the lowest tier that has enough runs.
    fn start_merge(&mut self) -> Result<(), FrontierError> {
        let wanted = self.options.tier_runs.max(2);
        if self.merge.is_some() {
            return Ok(());
        }
        let tiers: Vec<u8> = self.runs.iter().map(|run| run.tier).collect();
        let Some(tier) =
            (0..=u8::MAX - 1).find(|t| tiers.iter().filter(|x| *x == t).count() >= wanted)
        else {
            return Ok(());
        };
        let first = tiers.iter().position(|t| *t == tier).unwrap_or_default();
        let file = self.next_file();
        let merge = Merge::start(
            &self.storage,
            &self.reader_runs(),
            (first, wanted, tier + 1),
            run_name(file),
            (self.options.block_bytes, self.options.drops_empty),
            &mut self.damage,
        )?;
        self.merge = Some((file, merge));
        Ok(())
    }

    /// Merges a little for each change.
    pub(super) fn merge_some(&mut self) -> Result<(), FrontierError> {
        if self.merge.is_none() {
            self.merge_credit = 0;
            return Ok(());
        }
        self.merge_credit = (self.merge_credit + MERGED_PER_CHANGE).min(CREDIT_MAX);
        if self.merge_credit >= MERGE_STEP {
            self.merge_credit -= MERGE_STEP;
            self.work(MERGE_STEP)?;
        }
        Ok(())
    }

    /// Merges at most `entries` entries. True when there is more to merge.
    pub(crate) fn work(&mut self, entries: usize) -> Result<bool, FrontierError> {
        if self.failed {
            return Err(FrontierError::Stopped);
        }
        let Some((_, merge)) = &mut self.merge else {
            return Ok(false);
        };
        self.failed = true;
        let done = merge.step(&self.storage, entries, &mut self.damage)?;
        if done && let Some((file, merge)) = self.merge.take() {
            let (first, count, tier) = (merge.first, merge.count, merge.tier);
            let run = Arc::new(merge.finish(&self.storage)?);
            let merged = TierRun { file, tier, run };
            let old = self.runs.splice(first..first + count, [merged]);
            self.obsolete.extend(old.map(|run| run_name(run.file)));
            self.renew_reader();
        }
        self.failed = false;
        if done {
            self.start_merge()?;
        }
        Ok(self.merge.is_some())
    }
}
