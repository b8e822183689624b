//! Journal of the CPUs that threads had before they were moved.
//!
//! journal := "shorttail-hurry 1 " boot_id "\n" { tid " " started " " cpus "\n" }
//!
//! Example: `4711 88123 0-5`. A line is written before its thread is moved for the first time, so whatever ends
//! this process, every moved thread is in the journal. A last line without its end names a thread that was not
//! moved. The file is locked while it is used, and empty when all threads have their CPUs back. It is not
//! synced: threads do not survive what the cache of the system does not.

use super::threads::{Identity, Threads};
use anyhow::{Context, bail, ensure};
use schedule::CpuSet;
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// First words of a journal.
const HEADER: &str = "shorttail-hurry 1 ";

/// Upper limit on threads in a journal.
const ENTRIES_MAX: usize = 65_536;

/// Upper limit on the length of a journal that is read, in bytes.
const BYTES_MAX: u64 = 16 << 20;

/// An open, locked journal.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    path: PathBuf,
    /// By thread: when it started, and the CPUs that it had.
    entries: BTreeMap<u32, (u64, CpuSet)>,
}

impl Journal {
    /// Opens or makes a journal, and reads what an earlier run has left in it. Threads of an earlier start of
    /// the machine are forgotten.
    pub(super) fn open(path: &Path, boot_id: &str) -> anyhow::Result<Journal> {
        let mut file = vfs::platform::open_private_file(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!("{}: another mapper uses this journal", path.display())
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("cannot lock {}", path.display()));
            }
        }
        let mut text = String::new();
        let mut limited = (&mut file).take(BYTES_MAX);
        limited
            .read_to_string(&mut text)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let entries = parse(&text, boot_id)
            .with_context(|| format!("{}: give --journal a path of its own", path.display()))?;
        let mut journal = Journal {
            file,
            path: path.to_owned(),
            entries,
        };
        if journal.entries.is_empty() {
            journal.begin(boot_id)?;
        }
        Ok(journal)
    }

    /// Returns the threads in the journal.
    pub(super) fn entries(&self) -> &BTreeMap<u32, (u64, CpuSet)> {
        &self.entries
    }

    /// Notes the CPUs of a thread that is about to be moved for the first time. Returns whether there was room.
    pub(super) fn add(&mut self, thread: Identity, cpus: CpuSet) -> anyhow::Result<bool> {
        let known = self.entries.get(&thread.tid);
        if known.is_some_and(|(started, _)| *started == thread.started) {
            return Ok(true);
        }
        if self.entries.len() >= ENTRIES_MAX {
            return Ok(false);
        }
        let line = format!("{} {} {cpus}\n", thread.tid, thread.started);
        self.write(line.as_bytes())?;
        self.entries.insert(thread.tid, (thread.started, cpus));
        Ok(true)
    }

    /// Gives all threads that live their CPUs back, then empties the journal. Returns their number.
    ///
    /// # Errors
    /// The first thread that the kernel refused. The journal then keeps all of them.
    pub(super) fn restore(&mut self, threads: &Threads) -> anyhow::Result<usize> {
        let mut restored = 0;
        let mut failed = None;
        for (&tid, (started, cpus)) in &self.entries {
            let identity = Identity {
                tid,
                started: *started,
            };
            if !threads.is_alive(identity) {
                continue;
            }
            match vfs::platform::set_affinity(tid, cpus) {
                Ok(()) => restored += 1,
                // It may have ended just now.
                Err(_) if !threads.is_alive(identity) => {}
                Err(error) => failed = failed.or(Some((tid, error))),
            }
        }
        if let Some((tid, error)) = failed {
            let path = self.path.display();
            return Err(error).with_context(|| {
                format!(
                    "thread {tid} does not get its CPUs back; {path} keeps them for the next run"
                )
            });
        }
        self.entries.clear();
        let boot_id = threads.boot_id().to_owned();
        self.begin(&boot_id)?;
        Ok(restored)
    }

    /// Makes the file a journal without threads.
    fn begin(&mut self, boot_id: &str) -> anyhow::Result<()> {
        let emptied = self.file.set_len(0).and_then(|()| self.file.rewind());
        emptied.with_context(|| format!("cannot empty {}", self.path.display()))?;
        self.write(format!("{HEADER}{boot_id}\n").as_bytes())
    }

    fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        let written = self.file.write_all(bytes);
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// Parses the text of a journal. Lines that are damaged name no thread.
fn parse(text: &str, boot_id: &str) -> anyhow::Result<BTreeMap<u32, (u64, CpuSet)>> {
    let mut entries = BTreeMap::new();
    let Some((header, lines)) = text.split_once('\n') else {
        // A run that was killed while it wrote the first line has moved nothing.
        let begun = format!("{HEADER}{boot_id}").starts_with(text) || text.starts_with(HEADER);
        ensure!(begun, "the file is no journal of hurry");
        return Ok(entries);
    };
    let of = header.strip_prefix(HEADER);
    let of = of.context("the file is no journal of hurry")?;
    if of != boot_id {
        return Ok(entries);
    }
    let whole = lines
        .split_inclusive('\n')
        .filter_map(|line| line.strip_suffix('\n'));
    for line in whole.take(ENTRIES_MAX) {
        let mut fields = line.split(' ');
        let entry = (|| {
            let tid = fields.next()?.parse::<u32>().ok()?;
            let started = fields.next()?.parse::<u64>().ok()?;
            let cpus = fields.next()?.parse::<CpuSet>().ok()?;
            (tid > 0 && !cpus.is_empty()).then_some((tid, (started, cpus)))
        })();
        entries.extend(entry);
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_is_read_up_to_where_its_writer_was_killed() {
        let whole = "shorttail-hurry 1 b\n4711 88 0-5\n4712 89 1,3\n";
        for end in 0..=whole.len() {
            let entries = parse(&whole[..end], "b").unwrap();
            let lines = whole[..end].matches('\n').count();
            assert_eq!(entries.len(), lines.saturating_sub(1), "{end}");
        }
        assert_eq!(parse(whole, "b").unwrap()[&4712].1.to_string(), "1,3");
        assert!(parse(whole, "another start").unwrap().is_empty());
        let damaged = "shorttail-hurry 1 b\n0 1 0\nx\n5 5 \n6 6 0-\n7 7 0\n";
        let tids: Vec<u32> = parse(damaged, "b").unwrap().into_keys().collect();
        assert_eq!(tids, [7]);
        for other in ["precious", "precious\n1 2 3\n"] {
            assert!(
                parse(other, "b")
                    .unwrap_err()
                    .to_string()
                    .contains("no journal")
            );
        }
    }

    #[test]
    fn one_mapper_uses_a_journal_and_other_files_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = Journal::open(&path, "b").unwrap();
        let thread = Identity { tid: 5, started: 9 };
        let cpus: CpuSet = "0-1".parse().unwrap();
        assert!(journal.add(thread, cpus.clone()).unwrap());
        assert!(
            journal.add(thread, "7".parse().unwrap()).unwrap(),
            "the first CPUs stay"
        );
        let taken = Journal::open(&path, "b").unwrap_err().to_string();
        assert!(taken.contains("another mapper"), "{taken}");
        drop(journal);
        let journal = Journal::open(&path, "b").unwrap();
        assert_eq!(journal.entries()[&5], (9, cpus));
        let other = folder.path().join("other");
        std::fs::write(&other, "precious\n").unwrap();
        std::fs::set_permissions(&other, std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .unwrap();
        Journal::open(&other, "b").unwrap_err();
        assert_eq!(std::fs::read(&other).unwrap(), b"precious\n");
    }
}
