//! Knobs: machine settings that an experiment can change, and their values on this machine.
//!
//! A knob has the same meaning on every machine; the values to be written differ. This module only
//! computes them; the [`Journal`](crate::Journal) writes and restores them.
use crate::tree::Tree;
use crate::{LabError, setting};
use serde::Deserialize;
use std::fmt;
use std::str::FromStr;

const CPU: &str = "sys/devices/system/cpu";
/// Register and mask of Intel's prefetcher switches, shared by the siblings of a core; a set bit
/// disables a prefetcher (Intel, *Disclosure of hardware prefetcher control on some Intel processors*).
const PREFETCHERS: (u32, u64) = (0x1a4, 0xf);

/// A machine setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub enum Knob {
    /// Frequency governor, such as `performance`.
    Governor,
    /// Upper limit on the frequency, in MHz.
    FrequencyMax,
    /// Whether the processor may go beyond its nominal frequency.
    Turbo,
    /// Whether idle processors may sleep.
    IdleStates,
    /// Upper limit on the wake-up latency, in microseconds.
    WakeUpMax,
    /// Whether both contexts of a core are used.
    Smt,
    /// Transparent huge pages: `always`, `madvise`, `never`.
    HugePages,
    /// Whether the hardware prefetchers are enabled.
    Prefetchers,
    /// Share of the last-level cache that programs may use.
    CacheWays,
}

/// Action that sets a value of a knob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// Write a value to a setting.
    Write {
        /// Name of the setting; see [`crate::setting`].
        name: String,
        value: String,
    },
    /// Write a number to a file and keep it open: the kernel drops it when the file is closed.
    Hold { file: String, number: u32 },
}

impl Knob {
    /// All knobs.
    pub const ALL: [Knob; 9] = [
        Knob::Governor,
        Knob::FrequencyMax,
        Knob::Turbo,
        Knob::IdleStates,
        Knob::WakeUpMax,
        Knob::Smt,
        Knob::HugePages,
        Knob::Prefetchers,
        Knob::CacheWays,
    ];

    /// Returns the name used in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Knob::Governor => "governor",
            Knob::FrequencyMax => "frequency-max",
            Knob::Turbo => "turbo",
            Knob::IdleStates => "idle-states",
            Knob::WakeUpMax => "wake-up-max",
            Knob::Smt => "smt",
            Knob::HugePages => "huge-pages",
            Knob::Prefetchers => "prefetchers",
            Knob::CacheWays => "cache-ways",
        }
    }

    /// Returns the actions that set this value on a machine.
    pub(crate) fn changes(self, tree: &Tree, value: &str) -> Result<Vec<Change>, LabError> {
        let wrong = |wanted: &str| LabError::Setting {
            setting: format!("{}={value}", self.name()),
            reason: format!("give {wanted}"),
        };
        let switch = || match value {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err(wrong("on or off")),
        };
        let changes = match self {
            Knob::Governor => {
                let changes = each_processor(tree, "cpufreq/scaling_governor", value);
                let known = tree.read(&format!("{CPU}/cpu0/cpufreq/scaling_available_governors"));
                match known {
                    Ok(known) if !known.split_whitespace().any(|name| name == value) => {
                        return Err(wrong(&format!("one of: {known}")));
                    }
                    _ => changes,
                }
            }
            Knob::FrequencyMax => {
                let mhz: u64 = value.parse().map_err(|_| wrong("a number of MHz"))?;
                let khz = mhz.saturating_mul(1000);
                let limit = |name: &str| tree.number(&format!("{CPU}/cpu0/cpufreq/{name}"));
                let limits = limit("cpuinfo_min_freq").zip(limit("cpuinfo_max_freq"));
                if let Some((low, high)) = limits.filter(|(low, high)| khz < *low || khz > *high) {
                    let wanted = format!("{} to {} MHz", low.div_ceil(1000), high / 1000);
                    return Err(wrong(&wanted));
                }
                each_processor(tree, "cpufreq/scaling_max_freq", &khz.to_string())
            }
            Knob::Turbo => turbo(tree, switch()?),
            Knob::IdleStates => idle_states(tree, switch()?),
            Knob::WakeUpMax => vec![Change::Hold {
                file: "dev/cpu_dma_latency".into(),
                number: value
                    .parse()
                    .map_err(|_| wrong("a number of microseconds"))?,
            }],
            Knob::Smt => {
                switch()?;
                vec![write(format!("{CPU}/smt/control"), value)]
            }
            Knob::HugePages => match value {
                "always" | "madvise" | "never" => {
                    vec![write("sys/kernel/mm/transparent_hugepage/enabled", value)]
                }
                _ => return Err(wrong("always, madvise or never")),
            },
            Knob::Prefetchers => prefetchers(tree, switch()?)?,
            Knob::CacheWays => {
                let share: f64 = value.parse().unwrap_or_default();
                if !(share > 0.0 && share <= 1.0) {
                    return Err(wrong("a share above 0, at most 1"));
                }
                cache_ways(tree, share)?
            }
        };
        match changes.is_empty() {
            true => Err(LabError::Setting {
                setting: self.name().into(),
                reason: "this machine has no such setting; see `shorttail lab doctor`".into(),
            }),
            false => Ok(changes),
        }
    }
}

fn write(name: impl Into<String>, value: &str) -> Change {
    Change::Write {
        name: name.into(),
        value: value.to_owned(),
    }
}

/// Returns a write of the value for every processor that has this file.
fn each_processor(tree: &Tree, file: &str, value: &str) -> Vec<Change> {
    let names = tree.processors().into_iter();
    let names = names.map(|cpu| format!("{CPU}/cpu{cpu}/{file}"));
    names
        .filter(|name| tree.path(name).exists())
        .map(|name| write(name, value))
        .collect()
}

fn turbo(tree: &Tree, is_on: bool) -> Vec<Change> {
    // Intel's file holds 1 for turbo off, the others hold 1 for on.
    let files = [
        (format!("{CPU}/intel_pstate/no_turbo"), !is_on),
        (format!("{CPU}/cpufreq/boost"), is_on),
    ];
    let found = files.into_iter().find(|(file, _)| tree.path(file).exists());
    let change = |(file, one): (String, bool)| write(file, if one { "1" } else { "0" });
    found.map(change).into_iter().collect()
}

fn idle_states(tree: &Tree, is_on: bool) -> Vec<Change> {
    let mut changes = Vec::new();
    for cpu in tree.processors() {
        let directory = format!("{CPU}/cpu{cpu}/cpuidle");
        // State 0 polls and must stay enabled, as no idle state would remain.
        let states = tree.names(&directory).into_iter();
        for state in states.filter(|name| name != "state0") {
            let disable = if is_on { "0" } else { "1" };
            changes.push(write(format!("{directory}/{state}/disable"), disable));
        }
    }
    changes
}

fn prefetchers(tree: &Tree, is_on: bool) -> Result<Vec<Change>, LabError> {
    let (number, mask) = PREFETCHERS;
    let mut changes = Vec::new();
    for cpu in tree.processors() {
        let name = format!("dev/cpu/{cpu}/msr@{number:x}");
        let Ok(before) = setting::read(tree, &name) else {
            continue;
        };
        let digits = before.strip_prefix("0x").unwrap_or(&before);
        let before = u64::from_str_radix(digits, 16)
            .map_err(|error| LabError::file(&tree.path(&name), error))?;
        let after = if is_on { before & !mask } else { before | mask };
        changes.push(write(name, &format!("{after:#x}")));
    }
    Ok(changes)
}

/// Returns the writes that reserve the lowest ways of every cache up to the share: a mask must have no
/// holes.
fn cache_ways(tree: &Tree, share: f64) -> Result<Vec<Change>, LabError> {
    const NAME: &str = "sys/fs/resctrl/schemata@L3";
    let failed = |reason: &str| LabError::file(&tree.path("sys/fs/resctrl"), reason);
    let Ok(before) = setting::read(tree, NAME) else {
        return Ok(Vec::new());
    };
    let full = tree.read("sys/fs/resctrl/info/L3/cbm_mask");
    let full = full.map_err(|(_, evidence)| failed(&evidence))?;
    let full = u64::from_str_radix(&full, 16).map_err(|_| failed("cbm_mask is not a mask"))?;
    let ways = full.count_ones();
    let least = tree.number("sys/fs/resctrl/info/L3/min_cbm_bits");
    let count = (share * f64::from(ways)).round() as u32;
    let count = count.clamp(least.unwrap_or(1).clamp(1, 64) as u32, ways.max(1));
    let mask = u64::MAX >> (64 - count.min(64));
    let caches = before.split(';').map(|cache| {
        let id = cache.split('=').next().unwrap_or_default().trim();
        format!("{id}={mask:x}")
    });
    let value = caches.collect::<Vec<_>>().join(";");
    Ok(vec![write(NAME, &value)])
}

impl fmt::Display for Knob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Knob {
    type Err = String;
    fn from_str(name: &str) -> Result<Knob, String> {
        let found = Knob::ALL.into_iter().find(|knob| knob.name() == name);
        let names = Knob::ALL.map(Knob::name).join(", ");
        found.ok_or_else(|| format!("no setting `{name}`; there are {names}"))
    }
}

impl TryFrom<String> for Knob {
    type Error = String;
    fn try_from(name: String) -> Result<Knob, String> {
        name.parse()
    }
}

#[cfg(test)]
mod tests;
