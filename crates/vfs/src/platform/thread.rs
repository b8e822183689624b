//! Placement of threads on CPUs, and of their memory on NUMA nodes.
//!
//! Both are asked of the kernel and read back, because a kernel may refuse, narrow or not know what
//! it is asked for: containers forbid one, other systems have neither. What came of it is said.

use crate::platform::affinity::PinError;
#[cfg(target_os = "linux")]
use crate::platform::affinity::{affinity, set_affinity};
use std::io;

/// Origin of a thread's new memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryBinding {
    /// Memory of this NUMA node, while it has some; read back from the kernel.
    Node(u32),
    /// Memory of any node, as the kernel chooses.
    Unavailable {
        /// Reason for which it could not be bound.
        reason: String,
    },
}

impl std::fmt::Display for MemoryBinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MemoryBinding::Node(node) => write!(f, "node {node}"),
            MemoryBinding::Unavailable { reason } => write!(f, "unavailable: {reason}"),
        }
    }
}

/// Pins the calling thread to `cpus`, and threads that it starts from now on. Returns the CPUs that
/// it may really use, as the kernel reads them back: fewer than asked for where some are off or
/// kept from this process.
#[cfg(target_os = "linux")]
pub fn pin_current_thread<S: FromIterator<u32>>(
    cpus: impl IntoIterator<Item = u32>,
) -> Result<S, PinError> {
    let cpus: Vec<u32> = cpus.into_iter().collect();
    set_affinity(0, cpus.iter().copied())?;
    let pinned = affinity(0).map_err(|source| PinError::Refused { cpus, source })?;
    Ok(pinned.into_iter().collect())
}

/// Pins nothing: this system cannot.
#[cfg(not(target_os = "linux"))]
pub fn pin_current_thread<S: FromIterator<u32>>(
    cpus: impl IntoIterator<Item = u32>,
) -> Result<S, PinError> {
    match cpus.into_iter().next() {
        None => Err(PinError::NoCpus),
        Some(_) => Err(PinError::Unavailable),
    }
}

/// Lets the calling thread take its new memory from a NUMA node, and pages of files that it is the
/// first to read. When the node has none left, other nodes give it: a far page is slow, and a
/// killed process answers nothing (`MPOL_PREFERRED`, see set_mempolicy(2)).
#[cfg(target_os = "linux")]
pub fn bind_memory_to_node(node: u32) -> MemoryBinding {
    let unavailable = |reason: String| MemoryBinding::Unavailable { reason };
    if node as usize >= NODES_MAX {
        return unavailable(format!(
            "node {node} is beyond any kernel's highest, {}",
            NODES_MAX - 1
        ));
    }
    let mut nodes: NodeMask = [0; NODES_MAX / WORD_BITS];
    nodes[node as usize / WORD_BITS] = 1 << (node as usize % WORD_BITS);
    if let Err(error) = set_policy(libc::MPOL_PREFERRED, &nodes) {
        return unavailable(match error.raw_os_error() {
            Some(libc::ENOSYS) => "the kernel has no NUMA".into(),
            Some(libc::EPERM) => "the container forbids set_mempolicy".into(),
            Some(libc::EINVAL) => format!("there is no node {node} with memory for this process"),
            _ => format!("set_mempolicy: {error}"),
        });
    }
    match policy() {
        Ok((libc::MPOL_PREFERRED, read_back)) if read_back == nodes => MemoryBinding::Node(node),
        Ok((policy, _)) => unavailable(format!("the kernel kept policy {policy} instead")),
        Err(error) => unavailable(format!("it cannot be read back: get_mempolicy: {error}")),
    }
}

/// Binds nothing: this system cannot.
#[cfg(not(target_os = "linux"))]
pub fn bind_memory_to_node(_node: u32) -> MemoryBinding {
    MemoryBinding::Unavailable {
        reason: "this system has no call for it".into(),
    }
}

/// Nice value of threads for background work, which get less processor time than others.
#[cfg(target_os = "linux")]
const BACKGROUND_NICE: i32 = 10;
/// Niceness of work that may wait for all other: the lowest priority.
#[cfg(target_os = "linux")]
const LOWEST_NICE: i32 = 19;

/// Lowers the priority of this thread for background work, reads of the disk included. Where the system
/// refuses, it runs like the others.
#[cfg(target_os = "linux")]
pub fn lower_priority() {
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), BACKGROUND_NICE);
}

/// Nothing: on this system a priority is that of a whole process.
#[cfg(not(target_os = "linux"))]
pub fn lower_priority() {}

/// Lowers the priority of this thread below that of [`lower_priority`], for work that may wait for all other.
#[cfg(target_os = "linux")]
pub fn lowest_priority() {
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), LOWEST_NICE);
}

/// Nothing: on this system a priority is that of a whole process.
#[cfg(not(target_os = "linux"))]
pub fn lowest_priority() {}

/// Linux is built for 1,024 nodes at most.
#[cfg(target_os = "linux")]
const NODES_MAX: usize = 1024;
#[cfg(target_os = "linux")]
const WORD_BITS: usize = libc::c_ulong::BITS as usize;
#[cfg(target_os = "linux")]
type NodeMask = [libc::c_ulong; NODES_MAX / WORD_BITS];

#[cfg(target_os = "linux")]
fn set_policy(policy: libc::c_int, nodes: &NodeMask) -> io::Result<()> {
    // SAFETY: set_mempolicy(int, const unsigned long *, unsigned long) reads `maxnode - 1` bits at
    // the pointer and keeps nothing of it: NODES_MAX bits, which the array has. It changes where
    // pages of this thread come from, and no memory that Rust knows of.
    let result = unsafe {
        libc::syscall(
            libc::SYS_set_mempolicy,
            libc::c_long::from(policy),
            nodes.as_ptr(),
            NODES_MAX + 1,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(target_os = "linux")]
fn policy() -> io::Result<(libc::c_int, NodeMask)> {
    let mut policy: libc::c_int = 0;
    let mut nodes: NodeMask = [0; NODES_MAX / WORD_BITS];
    // SAFETY: get_mempolicy(int *, unsigned long *, unsigned long maxnode, void *addr, flags)
    // writes an int at the first pointer and at most `maxnode - 1` bits, rounded up to words, at
    // the second: both live here and have that room. Without flags `addr` must be null and is not
    // looked at.
    let result = unsafe {
        libc::syscall(
            libc::SYS_get_mempolicy,
            &raw mut policy,
            nodes.as_mut_ptr(),
            NODES_MAX,
            std::ptr::null::<libc::c_void>(),
            0 as libc::c_ulong,
        )
    };
    match result {
        0 => Ok((policy, nodes)),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::platform::system::SystemTree;
    use std::collections::BTreeSet;

    /// Returns the allowed CPUs of the calling thread from the kernel's file.
    fn allowed() -> String {
        let status = SystemTree::default()
            .read("proc/thread-self/status")
            .unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("Cpus_allowed_list:"));
        line.unwrap().split_once(':').unwrap().1.trim().to_owned()
    }

    /// Runs `work` in a thread of its own, which may be pinned and forgotten.
    fn in_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| scope.spawn(work).join().unwrap())
    }

    #[test]
    fn a_thread_is_pinned_and_the_mask_read_back() {
        let cpu = rustix::thread::sched_getcpu() as u32;
        in_thread(|| {
            let really: BTreeSet<u32> = pin_current_thread([cpu]).unwrap();
            assert_eq!(really, BTreeSet::from([cpu]));
            assert_eq!(allowed(), cpu.to_string());
            assert_eq!(rustix::thread::sched_getcpu() as u32, cpu);
            // A CPU that is not there is left out, not an error, where another one is.
            let really: Vec<u32> = pin_current_thread([cpu, 1023]).unwrap();
            assert!(really.contains(&cpu));
            assert_eq!(really.len(), allowed().split(',').count());
        });
    }

    #[test]
    fn what_cannot_be_is_refused_and_changes_nothing() {
        in_thread(|| {
            let before = allowed();
            let refused = |cpus: &[u32]| {
                let cpus = cpus.iter().copied();
                pin_current_thread::<Vec<u32>>(cpus)
                    .unwrap_err()
                    .to_string()
            };
            assert!(refused(&[]).contains("no CPU"));
            assert!(refused(&[0, 1024]).contains("1023 is the highest"));
            let missing = refused(&[1022, 1023]);
            assert!(missing.contains("[1022, 1023]") && missing.contains("Cpus_allowed_list"));
            assert_eq!(allowed(), before);
        });
    }

    #[test]
    fn memory_is_bound_where_there_is_a_node() {
        in_thread(|| {
            // A container may forbid it; the result then has the reason, as for missing nodes.
            match bind_memory_to_node(0) {
                MemoryBinding::Node(node) => {
                    assert_eq!(node, 0);
                    assert_eq!(policy().unwrap().0, libc::MPOL_PREFERRED);
                }
                MemoryBinding::Unavailable { reason } => {
                    assert!(
                        reason.contains("NUMA") || reason.contains("forbids"),
                        "{reason}"
                    );
                }
            }
            for node in [1000, 1024, u32::MAX] {
                let binding = bind_memory_to_node(node);
                assert!(
                    matches!(binding, MemoryBinding::Unavailable { .. }),
                    "{binding}"
                );
            }
        });
    }
}
