//! Audit of system calls: before a manifest gets its name, every file that it names is synced, and so is its own name
//! in the directory; after that, the directory is synced before a caller hears of it. A log is synced before a change is
//! acknowledged.

use crate::child::{self, Process};
use crate::made::{build, document, history};
use ingest::{LiveOptions, LiveWriter};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use testkit::size;
use vfs::{RealStorage, SharedStorage};

/// Writes where the environment asks for it: the process that is traced.
#[test]
fn child_that_is_traced() {
    let Some(task) = child::task() else {
        return;
    };
    let storage: SharedStorage = Arc::new(RealStorage::open(&task[0]).unwrap());
    let options = LiveOptions {
        refresh: Duration::from_secs(3600),
        segments: 4,
        merge_percent: 100,
        ..LiveOptions::default()
    };
    let writer = LiveWriter::open(storage, options).unwrap();
    for (changes, _) in history(3, task[1].parse().unwrap()) {
        writer.apply(changes).unwrap();
        child::tell("ACKNOWLEDGED");
        writer.refresh().unwrap();
        child::tell("COMMITTED");
    }
    child::tell(&format!("MERGES {}", writer.status().merges));
}

/// What a trace shows.
#[derive(Debug, Default)]
struct Audit {
    commits: usize,
    acknowledged: usize,
    wrong: Vec<String>,
    /// Files by name: whether all of the file is synced.
    synced: BTreeMap<String, bool>,
    /// Names that a loss of power could take.
    unsynced_names: BTreeSet<String>,
    /// Contents of manifests that have no name yet, as the trace quotes them.
    manifests: BTreeMap<String, String>,
    /// Those of them that were there when a sync of the directory began, by thread.
    syncing_names: BTreeMap<String, BTreeSet<String>>,
    /// Syncs of logs since the last acknowledgement.
    log_syncs: usize,
}

impl Audit {
    fn of(trace: &str, folder: &Path) -> Audit {
        let mut audit = Audit::default();
        let mut unfinished = BTreeMap::new();
        for line in trace.lines() {
            let Some((thread, call)) = line.split_once(' ') else {
                continue;
            };
            let call = call.trim_start();
            if let Some(begun) = call.strip_suffix(" <unfinished ...>") {
                audit.begin(thread, begun, folder);
                unfinished.insert(thread, begun);
            } else if call.starts_with("<... ") {
                let begun = unfinished.remove(thread).unwrap_or_default();
                audit.end(thread, begun, call);
            } else {
                audit.begin(thread, call, folder);
                audit.end(thread, call, call);
            }
        }
        audit
    }

    /// Takes what holds as soon as a call has begun.
    fn begin(&mut self, thread: &str, call: &str, folder: &Path) {
        if call.starts_with("rename") {
            let (from, to) = renamed(call);
            if to.starts_with("MANIFEST-") {
                self.name_manifest(&from, &to);
            }
            self.unsynced_names.insert(to);
        } else if call.starts_with("write(1") && call.contains("COMMITTED") {
            let is_lost = self
                .unsynced_names
                .iter()
                .any(|name| name.starts_with("MANIFEST-"));
            if is_lost {
                self.wrong
                    .push("told before the sync of the directory".to_owned());
            }
            self.commits += 1;
        } else if call.starts_with("write(1") && call.contains("ACKNOWLEDGED") {
            let is_lost = self
                .unsynced_names
                .iter()
                .any(|name| name.starts_with("log-"));
            if is_lost || self.log_syncs == 0 {
                self.wrong
                    .push("acknowledged before the sync of the log".to_owned());
            }
            (self.log_syncs, self.acknowledged) = (0, self.acknowledged + 1);
        } else if call.contains("sync(") && call.contains(&format!("<{}>", folder.display())) {
            let names = self.unsynced_names.clone();
            self.syncing_names.insert(thread.to_owned(), names);
        } else if call.starts_with("write(") || call.starts_with("writev(") {
            let name = descriptor_name(call);
            if name.starts_with("tmp-MANIFEST-") {
                self.manifests
                    .entry(name.clone())
                    .or_default()
                    .push_str(call);
            }
            self.synced.insert(name, false);
        }
    }

    /// Takes what holds only after a call, whose result is in `ended`.
    fn end(&mut self, thread: &str, call: &str, ended: &str) {
        if ended.contains(") = -1 ") {
            return;
        }
        if call.starts_with("openat") && call.contains("O_EXCL") {
            let name = quoted(call).next().unwrap_or_default();
            let name = name.rsplit('/').next().unwrap_or_default().to_owned();
            self.synced.insert(name.clone(), false);
            self.unsynced_names.insert(name);
        } else if call.starts_with("fsync") || call.starts_with("fdatasync") {
            let kept = self.syncing_names.remove(thread).unwrap_or_default();
            self.unsynced_names.retain(|name| !kept.contains(name));
            let name = descriptor_name(call);
            self.log_syncs += usize::from(name.starts_with("log-"));
            self.synced.insert(name, true);
        }
    }

    fn name_manifest(&mut self, from: &str, to: &str) {
        let contents = self.manifests.remove(from).unwrap_or_default();
        let named = |name: &&String| contents.contains(&format!("\\\"{name}\\\""));
        let needed: Vec<&String> = self.synced.keys().filter(named).collect();
        if needed.is_empty() {
            self.wrong.push(format!("{to} names no file of the trace"));
        }
        for name in needed {
            if !self.synced[name] || self.unsynced_names.contains(name) {
                self.wrong.push(format!("{to} before the sync of {name}"));
            }
        }
        if self.synced.get(from) != Some(&true) {
            self.wrong.push(format!("{to} before its own sync"));
        }
    }
}

/// Returns the texts in quotes of a call.
fn quoted(call: &str) -> impl Iterator<Item = &str> {
    call.split('"').skip(1).step_by(2)
}

/// Returns the file names of a rename.
fn renamed(call: &str) -> (String, String) {
    let mut names = quoted(call).map(|path| path.rsplit('/').next().unwrap_or_default().to_owned());
    (
        names.next().unwrap_or_default(),
        names.next().unwrap_or_default(),
    )
}

/// Returns the name of the file in `write(7</folder/name>, …`.
fn descriptor_name(call: &str) -> String {
    let path = call
        .split_once('<')
        .and_then(|(_, rest)| rest.split_once('>'));
    let path = path.map_or("", |(path, _)| path);
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

#[test]
fn nothing_is_told_before_it_is_synced() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let storage: SharedStorage = Arc::new(RealStorage::open(&folder).unwrap());
    build(&storage, (0..5).map(|number| document(number, 1)));
    let trace = tempfile::NamedTempFile::new().unwrap();
    let calls = "trace=openat,write,writev,fsync,fdatasync,rename,renameat,renameat2";
    // Whole manifests, and the files of descriptors.
    let out = trace.path().to_str().unwrap();
    let strace = ["strace", "-f", "-y", "-s", "100000", "-e", calls, "-o", out];
    if std::process::Command::new("strace")
        .arg("-V")
        .output()
        .is_err()
    {
        return tier::skipped("strace is not installed");
    }
    let commits = size(8, 50);
    let words = [commits.to_string()];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let test = "syscalls::child_that_is_traced";
    let mut process = Process::start(child::command(test, &folder, &words, &strace));
    let merges = process.next("MERGES ").expect("the process ends well");
    assert!(process.wait());
    let merges: usize = merges.parse().unwrap();
    let trace = std::fs::read_to_string(trace.path()).unwrap();
    let audit = Audit::of(&trace, &folder);
    println!(
        "{} commits, {} acknowledged, {merges} merges",
        audit.commits, audit.acknowledged
    );
    assert_eq!(audit.wrong, [""; 0]);
    assert_eq!((audit.commits, audit.acknowledged), (commits, commits));
    assert!(merges >= size(1, 5), "{merges}");
    // Each of these is noticed where it is missing.
    let directory = format!("<{}>", folder.display());
    for (what, is_left_out) in [
        (
            "directory",
            &(|line: &str| line.contains("sync(") && line.contains(&directory))
                as &dyn Fn(&str) -> bool,
        ),
        ("files", &|line| {
            line.contains("fsync(") && line.contains("/segment-")
        }),
        ("logs", &|line| {
            line.contains("sync(") && line.contains("/log-")
        }),
    ] {
        let left: Vec<&str> = trace.lines().filter(|line| !is_left_out(line)).collect();
        let noticed = Audit::of(&left.join("\n"), &folder).wrong.len();
        assert!(noticed >= commits, "syncs of {what}: {noticed}");
    }
}
