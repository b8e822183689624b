//! Recorded machines as text: one line `path:content` per line of a file, as printed by `grep -r .`.

use schedule::CpuTopology;
use std::collections::BTreeMap;

/// All recorded machines.
pub(crate) const MACHINES: [(&str, &str); 6] = [
    ("two-sockets", include_str!("two-sockets.txt")),
    ("two-nodes", include_str!("two-nodes.txt")),
    ("big-little", include_str!("big-little.txt")),
    ("one-core", include_str!("one-core.txt")),
    ("virtual-machine", include_str!("virtual-machine.txt")),
    ("offline-cpuset", include_str!("offline-cpuset.txt")),
];

/// Files of a machine, by path.
pub(crate) type Files = BTreeMap<String, String>;

/// Returns the files of a recorded machine.
pub(crate) fn files(name: &str) -> Files {
    let (_, recorded) = MACHINES
        .iter()
        .find(|(machine, _)| *machine == name)
        .unwrap();
    let mut files = Files::new();
    for line in recorded.lines().filter(|line| !line.starts_with('#')) {
        let (path, content) = line.split_once(':').unwrap();
        let file = files.entry(path.to_owned()).or_default();
        file.push_str(content);
        file.push('\n');
    }
    files
}

/// Reads a topology from files.
pub(crate) fn read(files: &Files) -> CpuTopology {
    CpuTopology::read(|path| {
        let missing = || format!("{path}: not found");
        files.get(path).cloned().ok_or_else(missing)
    })
}

/// Reads a recorded machine.
pub(crate) fn machine(name: &str) -> CpuTopology {
    read(&files(name))
}

/// Returns the gaps of a topology as one text.
pub(crate) fn gaps(topology: &CpuTopology) -> String {
    let gaps = topology.gaps.iter();
    gaps.map(|gap| format!("{}: {}\n", gap.what, gap.why))
        .collect()
}
