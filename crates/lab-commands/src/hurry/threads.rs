//! Identity of threads, and whether they may be moved.

use anyhow::{Context, ensure};
use vfs::platform::SystemTree;

/// A thread, as nobody but it can be named: ids are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    /// Id in the kernel.
    pub(super) tid: u32,
    /// Start of the thread in clock ticks since the start of the machine.
    pub(super) started: u64,
}

/// The threads of this machine that may be moved.
#[derive(Debug)]
pub(super) struct Threads {
    tree: SystemTree,
    /// Effective user of this process.
    user: u32,
    own_pid: u32,
    /// The only process whose threads may be moved, if there is one.
    only: Option<Identity>,
    boot_id: String,
}

impl Threads {
    /// Reads who this process is. `pid` limits moves to the threads of one process.
    pub(super) fn new(tree: SystemTree, pid: Option<u32>) -> anyhow::Result<Threads> {
        let status = tree.read("proc/self/status")?;
        let owner = Owner::parse(&status).context("/proc/self/status has no Tgid or Uid")?;
        let boot_id = tree.read("proc/sys/kernel/random/boot_id")?;
        let mut threads = Threads {
            tree,
            user: owner.user,
            own_pid: owner.pid,
            only: None,
            boot_id: boot_id.trim().to_owned(),
        };
        if let Some(pid) = pid {
            let process = threads.identity(pid);
            let process = process.with_context(|| format!("there is no process {pid}"))?;
            let leader = threads.owner(pid).is_some_and(|owner| owner.pid == pid);
            ensure!(leader, "{pid} is a thread; give --pid its process");
            threads.only = Some(process);
        }
        Ok(threads)
    }

    /// Returns the id of this start of the machine.
    pub(super) fn boot_id(&self) -> &str {
        &self.boot_id
    }

    /// Returns whether the process of `--pid` has ended.
    pub(super) fn target_has_ended(&self) -> bool {
        self.only.is_some_and(|process| !self.is_alive(process))
    }

    /// Returns the thread if it may be moved: one of the same user, of another process than this one, and of
    /// the process of `--pid`.
    pub(super) fn admit(&self, tid: u32) -> Option<Identity> {
        let identity = self.identity(tid)?;
        let owner = self.owner(tid)?;
        let wanted = self.only.is_none_or(|process| process.tid == owner.pid);
        let admitted = owner.user == self.user && owner.pid != self.own_pid && wanted;
        admitted.then_some(identity)
    }

    /// Returns whether the thread is the same one still.
    pub(super) fn is_alive(&self, thread: Identity) -> bool {
        self.identity(thread.tid) == Some(thread)
    }

    fn identity(&self, tid: u32) -> Option<Identity> {
        let stat = self.tree.read(&format!("proc/{tid}/stat")).ok()?;
        let started = parse_started(&stat)?;
        Some(Identity { tid, started })
    }

    fn owner(&self, tid: u32) -> Option<Owner> {
        Owner::parse(&self.tree.read(&format!("proc/{tid}/status")).ok()?)
    }
}

/// Process and effective user of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Owner {
    pid: u32,
    user: u32,
}

impl Owner {
    /// Parses `/proc/TID/status`. Its first line has a name that the program chose, without line ends.
    fn parse(status: &str) -> Option<Owner> {
        let field = |name: &str, idx: usize| {
            let values = status
                .lines()
                .skip(1)
                .find_map(|line| line.strip_prefix(name));
            values?.split_whitespace().nth(idx)?.parse().ok()
        };
        Some(Owner {
            pid: field("Tgid:", 0)?,
            user: field("Uid:", 1)?,
        })
    }
}

/// Parses field 22 of `/proc/TID/stat`. The name in field 2 may hold anything, so fields count from its end.
fn parse_started(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_threads_of_the_same_user_and_process_are_admitted() {
        let root = tempfile::tempdir().unwrap();
        let thread = |tid: &str, pid: u32, user: u32, started: u64| {
            let folder = root.path().join("proc").join(tid);
            fs::create_dir_all(&folder).unwrap();
            // A hostile name.
            let zeros = "0 ".repeat(18);
            fs::write(
                folder.join("stat"),
                format!("{tid} (a) b) S {zeros}{started} 7\n"),
            )
            .unwrap();
            let status = format!("Name:\tUid: 0\nTgid:\t{pid}\nUid:\t9\t{user}\t9\t9\n");
            fs::write(folder.join("status"), status).unwrap();
        };
        thread("self", 50, 1000, 1);
        fs::create_dir_all(root.path().join("proc/sys/kernel/random")).unwrap();
        fs::write(root.path().join("proc/sys/kernel/random/boot_id"), "b\n").unwrap();
        for (tid, pid, user) in [
            ("50", 50, 1000),
            ("60", 60, 1000),
            ("61", 60, 1000),
            ("70", 70, 0),
            ("80", 80, 1000),
        ] {
            thread(tid, pid, user, tid.parse().unwrap());
        }
        let tree = SystemTree::at(root.path());
        let admitted = |pid| {
            let threads = Threads::new(tree.clone(), pid).unwrap();
            let tids = [1, 50, 60, 61, 70, 80].into_iter();
            tids.filter(|&tid| threads.admit(tid).is_some())
                .collect::<Vec<_>>()
        };
        assert_eq!(admitted(None), [60, 61, 80]);
        assert_eq!(admitted(Some(60)), [60, 61]);
        let wrong = |pid| {
            Threads::new(tree.clone(), Some(pid))
                .unwrap_err()
                .to_string()
        };
        assert!(wrong(61).contains("is a thread") && wrong(99).contains("no process"));
        let threads = Threads::new(tree.clone(), Some(60)).unwrap();
        let old = threads.admit(61).unwrap();
        assert!(threads.is_alive(old) && !threads.target_has_ended());
        thread("61", 60, 1000, 5_000);
        assert!(!threads.is_alive(old), "its id is used again");
        fs::remove_dir_all(root.path().join("proc/60")).unwrap();
        assert!(threads.target_has_ended());
    }
}
