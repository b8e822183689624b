//! Capabilities found on recorded machines.

use super::*;
use crate::tree::tests::recorded;
use std::path::Path;

fn states(tree: &Tree) -> Vec<(String, State)> {
    examine(tree)
        .into_iter()
        .map(|found| (found.id, found.state))
        .collect()
}

fn check(files: &[(&str, &str)], expected: &[(&str, State)]) {
    let (_root, tree) = recorded(files);
    let found = states(&tree);
    for (id, state) in expected {
        let of_id = found.iter().find(|(known, _)| known == id);
        assert_eq!(
            of_id.map(|(_, state)| *state),
            Some(*state),
            "{id}: {:#?}",
            examine(&tree)
        );
    }
}

const CPU: &str = "sys/devices/system/cpu";

/// Examines two sockets of eight cores with two threads each and all features enabled.
#[test]
fn a_server_of_metal_has_it_all() {
    check(
        &[
            (
                "proc/cpuinfo",
                "vendor_id : GenuineIntel\nflags : fpu sse avx2\n",
            ),
            ("sys/bus/event_source/devices/cpu/type", "4"),
            (
                &format!("{CPU}/cpu0/cpufreq/scaling_governor"),
                "performance\n",
            ),
            (&format!("{CPU}/intel_pstate/no_turbo"), "1\n"),
            (&format!("{CPU}/cpuidle/current_driver"), "intel_idle\n"),
            (&format!("{CPU}/cpu0/cpuidle/state0/name"), "POLL\n"),
            (&format!("{CPU}/cpu0/cpuidle/state1/name"), "C6\n"),
            (
                &format!("{CPU}/cpu0/topology/thread_siblings_list"),
                "0,16\n",
            ),
            (&format!("{CPU}/smt/control"), "on\n"),
            ("sys/devices/system/node/node0/cpulist", "0-7"),
            ("sys/devices/system/node/node1/cpulist", "8-15"),
            ("proc/filesystems", "nodev\tsysfs\nnodev\tresctrl\n"),
            ("sys/fs/resctrl/info/L3/cbm_mask", "fffff"),
            ("dev/cpu/0/msr", &"\0".repeat(0x1a4 + 8)),
            ("sys/class/powercap/intel-rapl:0/energy_uj", "123456\n"),
            (
                "sys/kernel/mm/transparent_hugepage/enabled",
                "always [madvise] never\n",
            ),
            (
                "proc/pressure/cpu",
                "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
            ),
            ("proc/stat", "cpu  1 2 3 4 5 6 7 8 9 10\n"),
        ],
        &[
            ("bare-metal", State::Available),
            // Counters cannot be tried on a recorded machine.
            ("counters", State::Untested),
            ("frequency", State::Available),
            ("turbo", State::Available),
            ("idle-states", State::Available),
            ("smt", State::Available),
            ("numa", State::Available),
            ("cache-ways", State::Available),
            ("prefetchers", State::Available),
            ("energy", State::Available),
            ("huge-pages", State::Available),
            ("pressure", State::Available),
            ("steal", State::Available),
        ],
    );
}

/// Examines a small virtual machine: directories exist and are empty.
#[test]
fn a_virtual_machine_is_not_taken_for_metal() {
    check(
        &[
            (
                "proc/cpuinfo",
                "vendor_id : AuthenticAMD\nflags : fpu hypervisor\nsiblings : 2\n",
            ),
            ("sys/bus/event_source/devices/software/type", "1"),
            ("sys/bus/event_source/devices/msr/type", "8"),
            (&format!("{CPU}/cpufreq/.keep"), ""),
            (&format!("{CPU}/cpuidle/current_driver"), "haltpoll\n"),
            (&format!("{CPU}/cpu0/cpuidle/state0/name"), "POLL\n"),
            (
                &format!("{CPU}/cpu0/cpuidle/state1/name"),
                "haltpoll idle\n",
            ),
            (&format!("{CPU}/cpu0/topology/thread_siblings_list"), "0\n"),
            (&format!("{CPU}/cpu1/topology/thread_siblings_list"), "1\n"),
            (&format!("{CPU}/smt/control"), "notsupported\n"),
            ("sys/devices/system/node/node0/cpulist", "0-1"),
            ("proc/filesystems", "nodev\tsysfs\n"),
            ("dev/cpu/0/cpuid", ""),
        ],
        &[
            ("bare-metal", State::Unavailable),
            ("counters", State::Unavailable),
            ("frequency", State::Unavailable),
            ("turbo", State::Unavailable),
            ("idle-states", State::Unavailable),
            ("smt", State::Unavailable),
            ("numa", State::Unavailable),
            ("cache-ways", State::Unavailable),
            ("prefetchers", State::Unavailable),
            ("energy", State::Unavailable),
            ("pressure", State::Unavailable),
            ("steal", State::Unavailable),
        ],
    );
}

#[test]
fn degraded_and_invalid_are_told_apart() {
    check(
        &[
            (
                &format!("{CPU}/cpu0/cpufreq/scaling_governor"),
                "powersave\n",
            ),
            (&format!("{CPU}/cpufreq/boost"), "1\n"),
            ("proc/filesystems", "nodev\tresctrl\n"),
            ("sys/class/powercap/zone/energy_uj", "<not supported>\n"),
            ("proc/pressure/cpu", "0.00\n"),
        ],
        &[
            ("frequency", State::Degraded),
            ("turbo", State::Degraded),
            ("cache-ways", State::Degraded),
            ("energy", State::Invalid),
            ("pressure", State::Invalid),
        ],
    );
}

#[test]
fn whatever_cannot_be_used_says_why_and_what_was_seen() {
    let (_root, nothing) = recorded(&[]);
    for tree in [nothing, Tree::here()] {
        for found in examine(&tree) {
            assert!(!found.reason.is_empty(), "{found:?}");
            let is_explained = found.state.is_usable() || !found.evidence.is_empty();
            assert!(is_explained, "{found:?}");
        }
    }
    assert!(Tree::here().is_here() && !Tree::at(Path::new("/proc")).is_here());
}
