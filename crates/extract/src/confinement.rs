//! Confinement of the child: resource limits, no capabilities, Landlock and a seccomp filter, set by the child for itself.
//!
//! The child does this before it reads its first byte, so no code runs between `fork` and `exec` in the parent.
//! The seccomp filter alone denies files, sockets, processes and signals. Landlock denies files and connections once
//! more where the kernel has it (5.13 and later); its absence is no error.

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;

/// Limits of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Address space in bytes.
    pub memory_bytes: u64,
    /// Processor time of one document in seconds. A file with many documents may take 20 times as much.
    pub document_s: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            memory_bytes: 512 << 20,
            document_s: 30,
        }
    }
}

impl Limits {
    /// Processor time of the whole child, in seconds.
    pub(crate) fn child_s(self) -> u64 {
        self.document_s.saturating_mul(20)
    }

    /// Allows the next document its processor time, counted from now.
    pub(crate) fn next_document(self) -> Result<(), String> {
        let soft = cpu_ms() / 1000 + self.document_s;
        limit(Resource::Cpu, soft.min(self.child_s()), self.child_s())
    }
}

/// Returns the processor time of this process in milliseconds.
pub(crate) fn cpu_ms() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1000 + u64::try_from(time.tv_nsec / 1_000_000).unwrap_or(0)
}

/// Confines this process for the rest of its life. After an error it must read nothing.
pub fn confine(limits: Limits) -> Result<(), String> {
    limit(Resource::As, limits.memory_bytes, limits.memory_bytes)?;
    limits.next_document()?;
    limit(Resource::Fsize, 0, 0)?;
    limit(Resource::Core, 0, 0)?;
    limit(Resource::Nofile, 16, 16)?;
    rustix::thread::set_no_new_privs(true)
        .map_err(|error| format!("cannot give up privileges: {error}"))?;
    drop_capabilities()?;
    deny_paths_and_connections();
    filter_calls()
}

/// Drops the capabilities that a child of root has: with them it could raise its limits again.
fn drop_capabilities() -> Result<(), String> {
    use rustix::thread::{CapabilitySet, CapabilitySets};
    // Whoever may not take a capability from the bounding set has none to lose, and executes nothing in any case.
    for capability in CapabilitySet::all().iter() {
        let _ = rustix::thread::remove_capability_from_bounding_set(capability);
    }
    let _ = rustix::thread::clear_ambient_capability_set();
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, none)
        .map_err(|error| format!("cannot give up capabilities: {error}"))
}

fn limit(resource: Resource, soft: u64, hard: u64) -> Result<(), String> {
    let limits = Rlimit {
        current: Some(soft),
        maximum: Some(hard),
    };
    setrlimit(resource, limits)
        .map_err(|error| format!("cannot set a limit ({resource:?}): {error}"))
}

/// Denies all paths and connections by Landlock, as far as the kernel knows it and a container lets it be called.
fn deny_paths_and_connections() {
    use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, Scope};
    let denied = || -> Result<(), landlock::RulesetError> {
        Ruleset::default()
            .handle_access(AccessFs::from_all(ABI::V6))?
            .handle_access(AccessNet::from_all(ABI::V6))?
            .scope(Scope::from_all(ABI::V6))?
            .create()?
            .restrict_self()?;
        Ok(())
    };
    // The filter of calls denies the same, and without that filter nothing is read.
    let _ = denied();
}

/// Installs the filter of system calls: those of a program that reads, writes, computes and ends. Any other fails.
fn filter_calls() -> Result<(), String> {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, SeccompRule};
    let own = u64::from(std::process::id());
    let filter = || -> Result<(), Box<dyn std::error::Error>> {
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
            ALLOWED.iter().map(|&call| (call, Vec::new())).collect();
        // Limits of this process alone, and the signal of an abort to itself.
        rules.insert(libc::SYS_prlimit64, first_argument(&[0, own])?);
        rules.insert(libc::SYS_tgkill, first_argument(&[own])?);
        let denied = SeccompAction::Errno(libc::EPERM.cast_unsigned());
        let arch = std::env::consts::ARCH.try_into()?;
        let filter = SeccompFilter::new(rules, denied, SeccompAction::Allow, arch)?;
        let program: BpfProgram = filter.try_into()?;
        Ok(seccompiler::apply_filter(&program)?)
    };
    filter().map_err(|error| format!("cannot filter system calls: {error}"))
}

/// Returns a rule for each value that the first argument may have.
fn first_argument(
    values: &[u64],
) -> Result<Vec<seccompiler::SeccompRule>, seccompiler::BackendError> {
    use seccompiler::{SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};
    let rule = |&value: &u64| {
        let is_value = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)?;
        SeccompRule::new(vec![is_value])
    };
    values.iter().map(rule).collect()
}

/// Calls of a program that reads and writes open files, allocates, tells the time and ends.
const ALLOWED: [i64; 27] = [
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_fstat,
    libc::SYS_ppoll,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_sigaltstack,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_clock_gettime,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_sched_yield,
    libc::SYS_restart_syscall,
];
