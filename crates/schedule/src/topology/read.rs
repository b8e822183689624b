//! Reader of a topology from the texts of `/sys` and `/proc`, including invalid ones.
//!
//! Every read yields a value or a gap; no function here fails.

use super::caches::caches;
use super::speed::{capacities, speed_classes};
use super::texts::{CPU, File, Missing, gap, list, value};
use super::{Context, CpuTopology, Gap};
use crate::CpuSet;
use std::collections::BTreeMap;

const NODE: &str = "sys/devices/system/node";

impl CpuTopology {
    /// Reads a machine through `file`, which returns the text of a file by its path below the root
    /// (`sys/…`, `proc/…`), or the reason why it cannot be read.
    pub fn read(file: impl Fn(&str) -> Result<String, String>) -> CpuTopology {
        read(&file)
    }
}

fn read(file: &File) -> CpuTopology {
    let mut gaps = Vec::new();
    let allowed = allowed(file);
    let online = online(file, &allowed, &mut gaps);
    let allowed = match allowed {
        Ok(allowed) => allowed.intersection(&online),
        Err(why) => {
            gaps.push(gap("allowed CPUs", format!("{why}; all are taken")));
            online.clone()
        }
    };
    let offline = list(file, &format!("{CPU}/offline")).unwrap_or_default();
    let cores = cores(file, &online, &mut gaps);
    let sockets = sockets(file, &online, &mut gaps);
    let nodes = nodes(file, &online, &mut gaps);
    let capacities = capacities(file, &online, &mut gaps);
    let classes = speed_classes(&capacities);
    let contexts: Vec<Context> = online
        .iter()
        .map(|cpu| Context {
            cpu,
            core: cores.get(&cpu).copied().unwrap_or(cpu),
            socket: sockets.get(&cpu).copied(),
            node: nodes.get(&cpu).copied(),
            capacity: capacities.get(&cpu).copied(),
            speed_class: classes.get(&cpu).copied().unwrap_or(0),
        })
        .collect();
    let topology = CpuTopology {
        contexts,
        caches: caches(file, &online, &mut gaps),
        offline: offline.difference(&online),
        allowed,
        gaps,
    };
    with_hidden_siblings(file, topology)
}

/// Reads the CPU affinity of this process, which a cpuset also restricts.
fn allowed(file: &File) -> Result<CpuSet, String> {
    let path = "proc/self/status";
    let status = file(path)?;
    let allowed = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .ok_or_else(|| format!("{path} has no Cpus_allowed_list"))?;
    let allowed: CpuSet = allowed
        .parse()
        .map_err(|error| format!("{path}: {error}"))?;
    if allowed.is_empty() {
        return Err(format!("{path}: Cpus_allowed_list is empty"));
    }
    Ok(allowed)
}

fn online(file: &File, allowed: &Result<CpuSet, String>, gaps: &mut Vec<Gap>) -> CpuSet {
    let path = format!("{CPU}/online");
    let why = match list(file, &path) {
        Ok(online) if !online.is_empty() => return online,
        Ok(_) => format!("{path} is empty"),
        Err(why) => why,
    };
    match allowed {
        Ok(allowed) => {
            let why = format!("{why}; the CPUs that this process may use are taken");
            gaps.push(gap("online CPUs", why));
            allowed.clone()
        }
        Err(_) => {
            gaps.push(gap("online CPUs", why));
            CpuSet::default()
        }
    }
}

/// Returns the core of every context, numbered by lowest context.
fn cores(file: &File, online: &CpuSet, gaps: &mut Vec<Gap>) -> BTreeMap<u32, u32> {
    let mut named = BTreeMap::new();
    let mut missing = Missing::default();
    for cpu in online {
        // `thread_siblings_list` is the older name.
        let siblings =
            list(file, &format!("{CPU}/cpu{cpu}/topology/core_cpus_list")).or_else(|_| {
                list(
                    file,
                    &format!("{CPU}/cpu{cpu}/topology/thread_siblings_list"),
                )
            });
        match siblings {
            Ok(siblings) => {
                named.insert(cpu, siblings.intersection(online));
            }
            Err(why) => missing.note(cpu, format!("{why}; taken as a core alone")),
        }
    }
    let mut cores = BTreeMap::new();
    let mut next = 0;
    for cpu in online {
        if cores.contains_key(&cpu) {
            continue;
        }
        cores.insert(cpu, next);
        if let Some(members) = named.get(&cpu) {
            // Contexts form a core only if all of them list the same siblings.
            let agreed = members.contains(cpu)
                && members
                    .iter()
                    .all(|member| named.get(&member) == Some(members));
            if agreed {
                cores.extend(members.iter().map(|member| (member, next)));
            } else {
                let why = format!("its list, {members}, is not theirs; taken as a core alone");
                missing.note(cpu, why);
            }
        }
        next += 1;
    }
    missing.tell("siblings", gaps);
    cores
}

fn sockets(file: &File, online: &CpuSet, gaps: &mut Vec<Gap>) -> BTreeMap<u32, u32> {
    let mut sockets = BTreeMap::new();
    let mut missing = Missing::default();
    for cpu in online {
        let path = format!("{CPU}/cpu{cpu}/topology/physical_package_id");
        // The kernel writes -1 for unknown; it does not parse as a number.
        match value(file, &path) {
            Ok(socket) => {
                sockets.insert(cpu, socket);
            }
            Err(why) => missing.note(cpu, why),
        }
    }
    missing.tell("socket", gaps);
    sockets
}

fn nodes(file: &File, online: &CpuSet, gaps: &mut Vec<Gap>) -> BTreeMap<u32, u32> {
    let mut nodes = BTreeMap::new();
    // Nodes are listed in the same grammar as CPUs.
    let listed = match list(file, &format!("{NODE}/online")) {
        Ok(listed) => listed,
        Err(why) => {
            gaps.push(gap("NUMA nodes", format!("{why}; memory is taken as one")));
            return nodes;
        }
    };
    for node in &listed {
        match list(file, &format!("{NODE}/node{node}/cpulist")) {
            Ok(cpus) => {
                for cpu in &cpus.intersection(online) {
                    nodes.entry(cpu).or_insert(node);
                }
            }
            Err(why) => gaps.push(gap(format!("CPUs of NUMA node {node}"), why)),
        }
    }
    let mut missing = Missing::default();
    for cpu in online.iter().filter(|cpu| !nodes.contains_key(cpu)) {
        missing.note(cpu, "no node lists it".into());
    }
    missing.tell("NUMA node", gaps);
    nodes
}

/// Adds a gap if no core has siblings although SMT may be active.
fn with_hidden_siblings(file: &File, mut topology: CpuTopology) -> CpuTopology {
    if topology.contexts_per_core_max() != 1 {
        return topology;
    }
    let control = file(&format!("{CPU}/smt/control")).unwrap_or_default();
    // The flags of the first processor apply to all.
    let guest = file("proc/cpuinfo").is_ok_and(|info| {
        let flags = info.lines().find(|line| line.starts_with("flags"));
        flags.is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
    });
    let why = match control.trim() {
        "off" | "forceoff" => "SMT is switched off (smt/control): each core has one context",
        _ if guest => {
            "this is a virtual machine, and it shows none: two of its CPUs may be siblings of \
             one real core; ask for a machine that shows its threads per core"
        }
        // The processor has no SMT, so nothing is hidden.
        _ => return topology,
    };
    topology.gaps.push(gap("SMT siblings", why));
    topology
}
