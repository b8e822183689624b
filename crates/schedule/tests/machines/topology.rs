//! Reading of recorded machines, and of invalid files.

use crate::recorded::{Files, MACHINES, files, gaps, machine, read};
use proptest::prelude::*;
use schedule::CpuTopology;

fn check(name: &str, line: &str, siblings: &[&str]) -> CpuTopology {
    let topology = machine(name);
    assert_eq!(topology.to_string(), line, "{name}");
    let cores: Vec<String> = (0..topology.cores_count() as u32)
        .map(|core| {
            let first = topology.contexts.iter().find(|c| c.core == core).unwrap();
            topology.siblings(first.cpu).to_string()
        })
        .collect();
    assert_eq!(cores, siblings, "{name}");
    topology
}

#[test]
fn two_sockets() {
    let topology = check(
        "two-sockets",
        "32 contexts, 16 cores, 2 sockets, 2 NUMA nodes",
        &[
            "0,16", "1,17", "2,18", "3,19", "4,20", "5,21", "6,22", "7,23", "8,24", "9,25",
            "10,26", "11,27", "12,28", "13,29", "14,30", "15,31",
        ],
    );
    assert_eq!(gaps(&topology), "");
    let context = topology.context(25).unwrap();
    assert_eq!(
        (context.core, context.socket, context.node, context.capacity),
        (9, Some(1), Some(1), Some(1024))
    );
    let last = topology.last_cache(25).unwrap();
    assert_eq!(
        (last.level, last.bytes, last.cpus.to_string()),
        (3, Some(11 << 20), "8-15,24-31".into())
    );
    // One first- and one second-level cache per core, one third-level cache per socket; instruction
    // caches are excluded.
    let levels = |level| topology.caches.iter().filter(|c| c.level == level).count();
    assert_eq!((levels(1), levels(2), levels(3)), (16, 16, 2));
}

#[test]
fn two_nodes_of_one_socket() {
    let topology = machine("two-nodes");
    assert_eq!(
        topology.to_string(),
        "32 contexts, 16 cores, 1 socket, 2 NUMA nodes"
    );
    let context = topology.context(29).unwrap();
    assert_eq!(
        (context.core, context.socket, context.node),
        (13, Some(0), Some(1))
    );
    let last = topology.last_cache(29).unwrap();
    assert_eq!(last.cpus.to_string(), "12-15,28-31");
    assert_eq!(gaps(&topology), "");
}

#[test]
fn big_and_little_cores() {
    let topology = check(
        "big-little",
        "6 contexts, 6 cores, 1 socket, NUMA nodes unknown",
        &["0", "1", "2", "3", "4", "5"],
    );
    let kinds: Vec<_> = topology
        .contexts
        .iter()
        .map(|context| (context.capacity.unwrap(), context.speed_class))
        .collect();
    assert_eq!(kinds[0], (485, 1));
    assert_eq!(kinds[3], (485, 1));
    assert_eq!(kinds[4], (1024, 0));
    assert_eq!(topology.last_cache(2).unwrap().cpus.to_string(), "0-3");
    assert_eq!(
        gaps(&topology),
        "NUMA nodes: sys/devices/system/node/online: not found; memory is taken as one\n"
    );
}

#[test]
fn one_core() {
    let topology = check(
        "one-core",
        "1 context, 1 core, 1 socket, 1 NUMA node",
        &["0"],
    );
    let gaps = gaps(&topology);
    assert!(
        gaps.contains("speed of cores") && gaps.contains("virtual machine"),
        "{gaps}"
    );
}

#[test]
fn a_virtual_machine_that_hides_siblings() {
    let topology = check(
        "virtual-machine",
        "2 contexts, 2 cores, 1 socket, 1 NUMA node",
        &["0", "1"],
    );
    let gaps = gaps(&topology);
    assert!(
        gaps.starts_with("SMT siblings: this is a virtual machine"),
        "{gaps}"
    );
    assert_eq!(gaps.lines().count(), 1, "{gaps}");
}

#[test]
fn offline_cpus_and_a_cpuset() {
    let topology = check(
        "offline-cpuset",
        "12 contexts, 8 cores, 1 socket, 1 NUMA node; 6 allowed: 0-3,8-9; offline: 12-15",
        &["0,8", "1,9", "2,10", "3,11", "4", "5", "6", "7"],
    );
    // Favoured cores belong to the same speed class.
    assert!(
        topology
            .contexts
            .iter()
            .all(|context| context.speed_class == 0)
    );
    assert_eq!(topology.context(0).unwrap().capacity, Some(983));
    assert_eq!(topology.contexts_per_core_max(), 2);
    assert_eq!(gaps(&topology), "");
}

#[test]
fn smt_switched_off_is_told() {
    let mut files = files("virtual-machine");
    files.insert("sys/devices/system/cpu/smt/control".into(), "off\n".into());
    let gaps = gaps(&read(&files));
    assert!(gaps.contains("switched off"), "{gaps}");
}

#[test]
fn a_machine_that_tells_nothing_is_a_list_of_gaps() {
    let topology = read(&Files::new());
    assert!(topology.contexts.is_empty() && topology.allowed.is_empty());
    let gaps = gaps(&topology);
    assert!(
        gaps.contains("online CPUs: sys/devices/system/cpu/online: not found"),
        "{gaps}"
    );
}

#[test]
fn without_sys_the_allowed_cpus_are_still_known() {
    let mut files = files("two-sockets");
    files.retain(|path, _| path.starts_with("proc/"));
    let topology = read(&files);
    assert_eq!(
        topology.to_string(),
        "32 contexts, 32 cores, sockets unknown, NUMA nodes unknown"
    );
    let gaps = gaps(&topology);
    for what in [
        "online CPUs",
        "siblings of cpu 0-31",
        "socket of cpu 0-31",
        "caches",
        "NUMA",
    ] {
        assert!(gaps.contains(what), "{what}: {gaps}");
    }
}

#[test]
fn siblings_that_contradict_each_other_are_cores_alone() {
    let mut files = files("two-sockets");
    let path = "sys/devices/system/cpu/cpu16/topology/core_cpus_list";
    files.insert(path.into(), "16-17\n".into());
    let topology = read(&files);
    let of = |cpu| topology.siblings(cpu).to_string();
    assert_eq!([of(0), of(16), of(1), of(17)], ["0", "16", "1,17", "1,17"]);
    let gaps = gaps(&topology);
    assert!(
        gaps.starts_with("siblings of cpu 0,16: its list, 0,16, is not theirs"),
        "{gaps}"
    );
}

/// Generates contents of a file, valid and invalid.
fn content() -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        Just(None),
        "[0-9]{1,12}".prop_map(Some),
        "-?[0-9]{1,2}(-[0-9]{1,2})?(,[0-9]{1,2}){0,2}\n".prop_map(Some),
        "[ -~\n]{0,20}".prop_map(Some),
        Just(Some("Cpus_allowed_list:\t0-3\n".into())),
        Just(Some("0-8191\n".into())),
        Just(Some("\u{fffd}\0".into())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Checks that any file contents give a consistent topology.
    #[test]
    fn odd_files_do_no_harm(
        (name, _) in proptest::sample::select(&MACHINES[..]),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), content()), 1..20),
    ) {
        let mut files = files(name);
        let paths: Vec<String> = files.keys().cloned().collect();
        for (at, content) in changes {
            let path = &paths[at.index(paths.len())];
            match content {
                Some(content) => files.insert(path.clone(), content),
                None => files.remove(path),
            };
        }
        let topology = read(&files);
        prop_assert!(topology.contexts.is_sorted_by_key(|context| context.cpu));
        prop_assert!(topology.allowed.difference(&topology.online()).is_empty());
        prop_assert!(topology.offline.intersection(&topology.online()).is_empty());
        for context in &topology.contexts {
            prop_assert!(topology.siblings(context.cpu).contains(context.cpu));
            prop_assert!((context.core as usize) < topology.cores_count());
            prop_assert!(context.capacity.is_none_or(|capacity| capacity <= 1024));
        }
        for cache in &topology.caches {
            prop_assert!(cache.cpus.difference(&topology.online()).is_empty());
        }
    }
}
