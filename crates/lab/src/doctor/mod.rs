//! Examination of a machine: the list of all capabilities that experiments may need.
use crate::capability::{Capability, State};
use crate::tree::Tree;
use crate::{counters, energy, setting, simulated};

/// Examines a machine. Capabilities that must be tried are `untested` on a recorded machine.
pub fn examine(tree: &Tree) -> Vec<Capability> {
    vec![
        bare_metal(tree),
        counters::probe(tree),
        counters::probe_software(tree),
        frequency(tree),
        turbo(tree),
        idle_states(tree),
        smt(tree),
        numa(tree),
        cache_ways(tree),
        prefetchers(tree),
        energy::probe(tree),
        huge_pages(tree),
        pressure(tree),
        steal(tree),
        simulated::probe(tree),
    ]
}

fn bare_metal(tree: &Tree) -> Capability {
    let signs = tree.hypervisor_signs();
    if signs.is_empty() {
        return Capability::new("bare-metal", State::Available, "no sign of a hypervisor");
    }
    let mut found = Capability::new(
        "bare-metal",
        State::Unavailable,
        "a virtual machine: the host decides on frequency, idle states, neighbours and counters",
    );
    found.evidence = signs;
    found.remedy("run on a machine of your own for anything about hardware")
}

fn frequency(tree: &Tree) -> Capability {
    const DIRECTORY: &str = "sys/devices/system/cpu/cpu0/cpufreq";
    let id = "frequency";
    match tree.read(&format!("{DIRECTORY}/scaling_governor")) {
        Ok(governor) => {
            let range = ["scaling_min_freq", "scaling_max_freq"].map(|name| {
                tree.read(&format!("{DIRECTORY}/{name}"))
                    .unwrap_or_default()
            });
            let state = if governor == "performance" {
                State::Available
            } else {
                State::Degraded
            };
            let reason = format!("governor {governor}, {} to {} kHz", range[0], range[1]);
            let found =
                Capability::new(id, state, reason).seen(format!("/{DIRECTORY}: {governor}"));
            match state {
                State::Available => found,
                _ => found.remedy(
                    "set the governor to `performance` before comparing, or frequency will differ",
                ),
            }
        }
        Err((state, evidence)) => {
            let empty = tree.names("sys/devices/system/cpu/cpufreq").is_empty();
            Capability::new(
                id,
                state,
                "no frequency control; the processor's speed is unknown",
            )
            .seen(evidence)
            .seen(format!(
                "/sys/devices/system/cpu/cpufreq is {}",
                if empty {
                    "empty or absent"
                } else {
                    "not empty"
                }
            ))
            .remedy("use bare metal with a cpufreq driver")
        }
    }
}

fn turbo(tree: &Tree) -> Capability {
    let id = "turbo";
    // Intel's file holds 1 for turbo off, the others hold 1 for on.
    let files = [
        ("sys/devices/system/cpu/intel_pstate/no_turbo", "0"),
        ("sys/devices/system/cpu/cpufreq/boost", "1"),
    ];
    for (file, on) in files {
        if let Ok(value) = tree.read(file) {
            let is_on = value == on;
            let reason = if is_on {
                "on: speed depends on heat and neighbours"
            } else {
                "off"
            };
            let state = if is_on {
                State::Degraded
            } else {
                State::Available
            };
            let found = Capability::new(id, state, reason).seen(format!("/{file}: {value}"));
            return if is_on {
                found.remedy("switch it off to compare runs")
            } else {
                found
            };
        }
    }
    Capability::new(id, State::Unavailable, "no switch for it")
        .seen("neither intel_pstate/no_turbo nor cpufreq/boost is there")
        .remedy("use bare metal, or the firmware's setup")
}

fn idle_states(tree: &Tree) -> Capability {
    const DIRECTORY: &str = "sys/devices/system/cpu/cpu0/cpuidle";
    let id = "idle-states";
    let states = tree.names(DIRECTORY);
    let named: Vec<String> = states
        .iter()
        .map(|state| {
            let name = tree
                .read(&format!("{DIRECTORY}/{state}/name"))
                .unwrap_or_default();
            let latency = tree.number(&format!("{DIRECTORY}/{state}/latency"));
            format!(
                "{state} {name} ({} µs)",
                latency.map_or("?".into(), |us| us.to_string())
            )
        })
        .collect();
    let driver = tree
        .read("sys/devices/system/cpu/cpuidle/current_driver")
        .unwrap_or_default();
    if states.is_empty() {
        return Capability::new(id, State::Unavailable, "the kernel has no idle states here")
            .seen(format!("/{DIRECTORY} is empty or absent"))
            .remedy("use bare metal with a cpuidle driver");
    }
    let evidence = format!("driver {driver}: {}", named.join(", "));
    if driver == "haltpoll" || !tree.hypervisor_signs().is_empty() {
        return Capability::new(
            id,
            State::Unavailable,
            "these are the guest's ways to halt, not the processor's idle states",
        )
        .seen(evidence)
        .remedy("use bare metal");
    }
    Capability::new(id, State::Available, format!("{} states", states.len())).seen(evidence)
}

fn smt(tree: &Tree) -> Capability {
    let id = "smt";
    let control = tree.read("sys/devices/system/cpu/smt/control");
    let pairs: Vec<String> = tree
        .processors()
        .iter()
        .filter_map(|cpu| {
            let file = format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
            tree.read(&file)
                .ok()
                .filter(|list| list.contains([',', '-']))
        })
        .collect();
    let evidence = match &control {
        Ok(control) => format!("/sys/devices/system/cpu/smt/control: {control}"),
        Err((_, evidence)) => evidence.clone(),
    };
    match pairs.first() {
        Some(pair) => {
            Capability::new(id, State::Available, format!("siblings such as {pair}")).seen(evidence)
        }
        None => Capability::new(id, State::Unavailable, "no processor shows a sibling")
            .seen(evidence)
            .remedy(
                "use bare metal with SMT switched on; a hypervisor may hide siblings that exist",
            ),
    }
}

fn numa(tree: &Tree) -> Capability {
    let nodes: Vec<String> = tree
        .names("sys/devices/system/node")
        .into_iter()
        .filter(|name| {
            name.strip_prefix("node")
                .is_some_and(|n| n.parse::<u32>().is_ok())
        })
        .collect();
    let evidence = format!("/sys/devices/system/node: {}", nodes.join(" "));
    match nodes.len() {
        0 | 1 => Capability::new("numa", State::Unavailable, "one memory node")
            .seen(evidence)
            .remedy("use a machine with two sockets to compare placements"),
        count => Capability::new("numa", State::Available, format!("{count} nodes")).seen(evidence),
    }
}

fn cache_ways(tree: &Tree) -> Capability {
    let id = "cache-ways";
    let known = tree.read("proc/filesystems").unwrap_or_default();
    if !known
        .lines()
        .any(|line| line.split_whitespace().last() == Some("resctrl"))
    {
        return Capability::new(
            id,
            State::Unavailable,
            "the kernel or processor has no resctrl",
        )
        .seen("/proc/filesystems: no `resctrl`")
        .remedy("use bare metal with Intel RDT or AMD QoS");
    }
    match tree.names("sys/fs/resctrl/info").is_empty() {
        true => Capability::new(id, State::Degraded, "there, but not mounted")
            .seen("/sys/fs/resctrl/info is empty")
            .remedy("mount -t resctrl resctrl /sys/fs/resctrl"),
        false => Capability::new(id, State::Available, "resctrl is mounted"),
    }
}

fn prefetchers(tree: &Tree) -> Capability {
    let id = "prefetchers";
    let intel = tree
        .read("proc/cpuinfo")
        .unwrap_or_default()
        .contains("GenuineIntel");
    if !tree.names("dev/cpu/0").iter().any(|name| name == "msr") {
        return Capability::new(
            id,
            State::Unavailable,
            "no access to model-specific registers",
        )
        .seen("/dev/cpu/0/msr is absent")
        .remedy("use bare metal, and load the kernel module `msr`");
    }
    if !intel {
        return Capability::new(
            id,
            State::Unavailable,
            "only Intel's switches are known here",
        )
        .seen("/dev/cpu/0/msr is there, /proc/cpuinfo: not GenuineIntel");
    }
    let name = "dev/cpu/0/msr@1a4";
    match setting::read(tree, name) {
        Ok(value) => Capability::new(id, State::Available, "model-specific register 0x1a4")
            .seen(format!("/{name}: {value}")),
        // A hypervisor may show the file but block the register.
        Err((state, evidence)) => Capability::new(id, state, "register 0x1a4 cannot be read")
            .seen(evidence)
            .remedy("run as root on bare metal"),
    }
}

fn huge_pages(tree: &Tree) -> Capability {
    let id = "huge-pages";
    let file = "sys/kernel/mm/transparent_hugepage/enabled";
    match tree.read(file) {
        Ok(modes) => {
            let chosen = modes.split(['[', ']']).nth(1).unwrap_or("?").to_owned();
            Capability::new(id, State::Available, format!("transparent: {chosen}"))
                .seen(format!("/{file}: {modes}"))
        }
        Err((state, evidence)) => Capability::new(id, state, "the kernel has none").seen(evidence),
    }
}

fn pressure(tree: &Tree) -> Capability {
    let id = "pressure";
    match tree.read("proc/pressure/cpu") {
        Ok(text) if text.starts_with("some ") => {
            let first = text.lines().next().unwrap_or_default().to_owned();
            Capability::new(
                id,
                State::Available,
                "the kernel tells when work waits for a core",
            )
            .seen(format!("/proc/pressure/cpu: {first}"))
        }
        Ok(text) => Capability::new(id, State::Invalid, "not in the form of PSI")
            .seen(format!("/proc/pressure/cpu: {text:?}")),
        Err((state, evidence)) => Capability::new(id, state, "contention cannot be told")
            .seen(evidence)
            .remedy("boot with psi=1"),
    }
}

fn steal(tree: &Tree) -> Capability {
    let text = tree.read("proc/stat").unwrap_or_default();
    let line = text
        .lines()
        .find(|line| line.starts_with("cpu "))
        .unwrap_or_default()
        .to_owned();
    let stolen = line
        .split_whitespace()
        .nth(8)
        .and_then(|field| field.parse::<u64>().ok());
    match stolen {
        Some(ticks) => Capability::new(
            "steal",
            State::Available,
            format!("{ticks} ticks since boot"),
        )
        .seen(format!("/proc/stat: {line}")),
        None => Capability::new("steal", State::Unavailable, "the kernel does not tell")
            .seen("/proc/stat has no eighth field"),
    }
}

#[cfg(test)]
mod tests;
