//! Settings written for each knob on a recorded server.

use super::*;
use crate::journal::Journal;
use crate::tree::tests::recorded;

const SERVER: [(&str, &str); 18] = [
    (
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "powersave\n",
    ),
    (
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
        "powersave\n",
    ),
    (
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors",
        "performance powersave\n",
    ),
    (
        "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_min_freq",
        "1200000\n",
    ),
    (
        "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
        "3100000\n",
    ),
    (
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq",
        "3100000\n",
    ),
    ("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state0/disable", "0\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "0\n"),
    ("sys/devices/system/cpu/cpu1/cpuidle/state1/disable", "0\n"),
    ("sys/devices/system/cpu/smt/control", "on\n"),
    (
        "sys/kernel/mm/transparent_hugepage/enabled",
        "always [madvise] never\n",
    ),
    (
        "sys/fs/resctrl/schemata",
        "    MB:0=100;1=100\n    L3:0=fffff;1=fffff\n",
    ),
    ("sys/fs/resctrl/info/L3/cbm_mask", "fffff\n"),
    ("sys/fs/resctrl/info/L3/min_cbm_bits", "2\n"),
    ("dev/cpu_dma_latency", "\0\u{3}\0\0"),
    ("dev/cpu/0/msr", REGISTERS),
    ("dev/cpu/1/msr", REGISTERS),
];

/// Register 0x1a4 holds 0x20, a bit unrelated to the prefetchers.
const REGISTERS: &str = {
    const BYTES: [u8; 0x1a4 + 8] = {
        let mut bytes = [0; 0x1a4 + 8];
        bytes[0x1a4] = 0x20;
        bytes
    };
    match std::str::from_utf8(&BYTES) {
        Ok(text) => text,
        Err(_) => panic!("these bytes are text"),
    }
};

/// Sets a knob on a recorded server, and checks that the settings hold until the journal is dropped.
fn check(knob: Knob, value: &str, expected: &[(&str, &str)]) {
    let (root, tree) = recorded(&SERVER);
    let path = root.path().join("settings.journal");
    let now = |expected: &[(&str, &str)]| -> Vec<String> {
        let values = expected.iter().map(|(name, _)| setting::read(&tree, name));
        values.map(Result::unwrap).collect()
    };
    let before = now(expected);
    let mut journal = Journal::begin(&path, &tree).unwrap();
    journal.turn(knob, value).unwrap();
    let wanted: Vec<&str> = expected.iter().map(|(_, value)| *value).collect();
    assert_eq!(now(expected), wanted, "{knob}={value}");
    assert_ne!(now(expected), before, "{knob}={value} changes something");
    assert!(path.exists(), "{knob}: noted before the change");
    drop(journal);
    assert_eq!(now(expected), before, "{knob} comes back");
    assert!(!path.exists());
}

#[test]
fn every_knob_is_turned_and_comes_back() {
    const CPU: &str = "sys/devices/system/cpu";
    let cpu = |name: &str| format!("{CPU}/{name}");
    check(
        Knob::Governor,
        "performance",
        &[
            (&cpu("cpu0/cpufreq/scaling_governor"), "performance"),
            (&cpu("cpu1/cpufreq/scaling_governor"), "performance"),
        ],
    );
    check(
        Knob::FrequencyMax,
        "1600",
        &[(&cpu("cpu0/cpufreq/scaling_max_freq"), "1600000")],
    );
    check(Knob::Turbo, "off", &[(&cpu("intel_pstate/no_turbo"), "1")]);
    check(
        Knob::IdleStates,
        "off",
        &[
            (&cpu("cpu0/cpuidle/state1/disable"), "1"),
            (&cpu("cpu1/cpuidle/state1/disable"), "1"),
        ],
    );
    check(Knob::Smt, "off", &[(&cpu("smt/control"), "off")]);
    let pages = "sys/kernel/mm/transparent_hugepage/enabled";
    check(Knob::HugePages, "always", &[(pages, "always")]);
    // Other bits of the register are preserved.
    let registers = [("dev/cpu/0/msr@1a4", "0x2f"), ("dev/cpu/1/msr@1a4", "0x2f")];
    check(Knob::Prefetchers, "off", &registers);
    let ways = [("sys/fs/resctrl/schemata@L3", "0=3ff;1=3ff")];
    check(Knob::CacheWays, "0.5", &ways);
    // The mask has at least the processor's minimum number of ways.
    let least = [("sys/fs/resctrl/schemata@L3", "0=3;1=3")];
    check(Knob::CacheWays, "0.01", &least);
}

#[test]
fn a_wish_is_held_open_and_needs_no_journal() {
    let (root, tree) = recorded(&SERVER);
    let path = root.path().join("settings.journal");
    let mut journal = Journal::begin(&path, &tree).unwrap();
    journal.turn(Knob::WakeUpMax, "10").unwrap();
    let bytes = std::fs::read(tree.path("dev/cpu_dma_latency")).unwrap();
    assert_eq!(bytes, 10u32.to_le_bytes());
    assert!(!path.exists(), "the kernel puts it back");
}

#[test]
fn a_wrong_value_says_what_is_right() {
    let (_root, tree) = recorded(&SERVER);
    let says = |knob: Knob, value: &str, part: &str| {
        let error = knob.changes(&tree, value).unwrap_err().to_string();
        assert!(
            error.contains(part) && error.contains(knob.name()),
            "{error}"
        );
    };
    says(Knob::Governor, "fast", "performance powersave");
    says(Knob::FrequencyMax, "100", "1200 to 3100 MHz");
    says(Knob::FrequencyMax, "18446744073709551615", "3100 MHz");
    says(Knob::Turbo, "perhaps", "on or off");
    says(Knob::WakeUpMax, "-1", "microseconds");
    says(Knob::HugePages, "on", "madvise");
    says(Knob::CacheWays, "2", "at most 1");
    says(Knob::CacheWays, "NaN", "at most 1");
}

#[test]
fn a_machine_without_the_setting_says_so() {
    let (_root, tree) = recorded(&[("sys/devices/system/cpu/cpu0/online", "1")]);
    for (knob, value) in [
        (Knob::Governor, "performance"),
        (Knob::Turbo, "off"),
        (Knob::IdleStates, "off"),
        (Knob::Prefetchers, "off"),
        (Knob::CacheWays, "0.5"),
    ] {
        let error = knob.changes(&tree, value).unwrap_err().to_string();
        assert!(error.contains("no such setting"), "{knob}: {error}");
    }
    assert!("flying".parse::<Knob>().unwrap_err().contains("cache-ways"));
}
