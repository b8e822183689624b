//! Energy of a run in joules, from the counters of powercap (RAPL) and hwmon.
//!
//! A powercap counter wraps to 0 after `max_energy_range_uj`, which a busy server reaches within
//! minutes, so a thread reads it every few seconds; a decrease is one wrap. Zones within a zone
//! (`intel-rapl:0:0`, the cores of a package) are part of it and not added, except memory, which is
//! separate from the package. `psys` contains all other zones and is not added either.
use crate::capability::{Capability, State};
use crate::tree::Tree;
use serde::Serialize;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Interval between two reads, shorter than the time in which any counter wraps.
const POLL: Duration = Duration::from_secs(10);

/// Energy counted by one counter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Zone {
    /// Name of the zone in the kernel.
    pub(crate) name: String,
    /// Energy since the start, in joules.
    pub(crate) joules: f64,
    /// Whether the zone is part of the total.
    pub(crate) is_added: bool,
    #[serde(skip)]
    file: String,
    /// Highest value before the counter wraps; `None` for a counter that does not wrap.
    #[serde(skip)]
    range_uj: Option<u64>,
    #[serde(skip)]
    last_uj: u64,
}

/// Tests whether energy counters can be read.
pub(crate) fn probe(tree: &Tree) -> Capability {
    let id = "energy";
    match zones(tree) {
        Ok(zones) => {
            let names: Vec<&str> = zones.iter().map(|zone| zone.name.as_str()).collect();
            let mut found = Capability::new(id, State::Available, names.join(", "));
            for zone in &zones {
                found = found.seen(format!("/{}: {} µJ", zone.file, zone.last_uj));
            }
            found
        }
        Err(missing) => missing,
    }
}

/// Reads all counters; returns at least one.
fn zones(tree: &Tree) -> Result<Vec<Zone>, Capability> {
    let id = "energy";
    let (mut zones, mut trouble) = (Vec::new(), None);
    for (file, name, range_file, is_added) in files(tree) {
        match tree.read(&file).map(|text| (text.parse(), text)) {
            Ok((Ok(last_uj), _)) => zones.push(Zone {
                name,
                joules: 0.0,
                is_added,
                range_uj: range_file.and_then(|range| tree.number(&range)),
                file,
                last_uj,
            }),
            Ok((Err(_), text)) => {
                let found = Capability::new(id, State::Invalid, "not a number");
                trouble.get_or_insert(found.seen(format!("/{file}: {text:?}")));
            }
            Err((State::Forbidden, evidence)) => {
                let found = Capability::new(id, State::Forbidden, "only root may read it");
                let remedy = "run as root, or make energy_uj readable";
                trouble.get_or_insert(found.seen(evidence).remedy(remedy));
            }
            Err(_) => {}
        }
    }
    if !zones.is_empty() {
        return Ok(zones);
    }
    let nothing = || {
        Capability::new(id, State::Unavailable, "no energy counter")
            .seen("/sys/class/powercap and /sys/class/hwmon have none")
            .remedy("use bare metal with RAPL, or a host that exports its powercap tree")
    };
    Err(trouble.unwrap_or_else(nothing))
}

/// Returns the file, the name, the file of the range, and whether the zone is part of the total.
fn files(tree: &Tree) -> Vec<(String, String, Option<String>, bool)> {
    let mut files = Vec::new();
    for zone in tree.names("sys/class/powercap") {
        let directory = format!("sys/class/powercap/{zone}");
        let name = tree.read(&format!("{directory}/name"));
        let name = name.unwrap_or_else(|_| zone.clone());
        let is_part = zone.matches(':').count() > 1 && name != "dram";
        let is_added = !is_part && name != "psys";
        let range = format!("{directory}/max_energy_range_uj");
        files.push((
            format!("{directory}/energy_uj"),
            name,
            Some(range),
            is_added,
        ));
    }
    for device in tree.names("sys/class/hwmon") {
        let directory = format!("sys/class/hwmon/{device}");
        for input in tree.names(&directory) {
            let Some(stem) = input.strip_suffix("_input") else {
                continue;
            };
            if stem.starts_with("energy") {
                let label = tree.read(&format!("{directory}/{stem}_label"));
                let name = label.unwrap_or_else(|_| format!("{device} {stem}"));
                files.push((format!("{directory}/{input}"), name, None, true));
            }
        }
    }
    files
}

/// Reader of the counters that runs until it is finished or dropped.
#[derive(Debug)]
pub(crate) struct EnergyMeter {
    /// Ends the thread when dropped.
    end: Option<Sender<()>>,
    counting: Option<JoinHandle<Result<Vec<Zone>, Capability>>>,
}

/// Energy of a run, or the reason why it is missing.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Energy {
    Counted {
        state: State,
        /// Energy of all zones in the total, in joules.
        joules: f64,
        zones: Vec<Zone>,
    },
    Missing(Capability),
}

impl Energy {
    /// Returns the total energy of the machine, in joules.
    pub(crate) fn joules(&self) -> Option<f64> {
        match self {
            Energy::Counted { joules, .. } => Some(*joules),
            Energy::Missing(_) => None,
        }
    }
}

impl EnergyMeter {
    /// Starts the measurement.
    pub(crate) fn start(tree: &Tree) -> EnergyMeter {
        let (end, ended) = channel::<()>();
        let tree = tree.clone();
        let started = zones(&tree);
        let counting = std::thread::spawn(move || {
            let mut zones = started?;
            loop {
                let is_over = ended.recv_timeout(POLL) != Err(RecvTimeoutError::Timeout);
                for zone in &mut zones {
                    zone.poll(&tree)?;
                }
                if is_over {
                    return Ok(zones);
                }
            }
        });
        EnergyMeter {
            end: Some(end),
            counting: Some(counting),
        }
    }

    /// Ends the measurement and returns the energy.
    pub(crate) fn finish(mut self) -> Energy {
        let zones = self.join();
        let lost = || Capability::new("energy", State::Invalid, "the reader of counters ended");
        match zones.unwrap_or_else(|| Err(lost())) {
            Ok(zones) => {
                let added = zones.iter().filter(|zone| zone.is_added);
                let joules = added.map(|zone| zone.joules).sum();
                if joules > 0.0 {
                    return Energy::Counted {
                        state: State::Available,
                        joules,
                        zones,
                    };
                }
                Energy::Missing(
                    Capability::new("energy", State::Invalid, "the counters stood still")
                        .seen(format!("{} zones, 0 J", zones.len())),
                )
            }
            Err(missing) => Energy::Missing(missing),
        }
    }

    fn join(&mut self) -> Option<Result<Vec<Zone>, Capability>> {
        drop(self.end.take());
        self.counting.take()?.join().ok()
    }
}

impl Drop for EnergyMeter {
    fn drop(&mut self) {
        self.join();
    }
}

impl Zone {
    /// Adds the energy since the last read.
    fn poll(&mut self, tree: &Tree) -> Result<(), Capability> {
        let invalid = |state: State, seen: String| {
            Capability::new("energy", state, "a counter ceased to tell").seen(seen)
        };
        let text = tree.read(&self.file);
        let text = text.map_err(|(state, evidence)| invalid(state, evidence))?;
        let seen = || format!("/{}: {text:?} after {}", self.file, self.last_uj);
        let now_uj: u64 = text.parse().map_err(|_| invalid(State::Invalid, seen()))?;
        let counted_uj = match (now_uj.checked_sub(self.last_uj), self.range_uj) {
            (Some(counted_uj), _) => counted_uj,
            // The range is the highest value; 0 follows it.
            (None, Some(range_uj)) if range_uj >= self.last_uj => {
                range_uj - self.last_uj + now_uj + 1
            }
            _ => return Err(invalid(State::Invalid, seen())),
        };
        self.joules += counted_uj as f64 / 1e6;
        self.last_uj = now_uj;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::recorded;

    /// Returns the energy between two states of a recorded machine.
    fn check(before: &[(&str, &str)], after: &[(&str, &str)]) -> Energy {
        let (root, tree) = recorded(before);
        let meter = EnergyMeter::start(&tree);
        for (name, text) in after {
            std::fs::write(root.path().join(name), text).unwrap();
        }
        meter.finish()
    }

    fn texts(files: &[(String, String)]) -> Vec<(&str, &str)> {
        files
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect()
    }

    const RAPL: &str = "sys/class/powercap/intel-rapl:0";

    #[test]
    fn packages_and_memory_are_added_and_parts_are_not() {
        let zone = |zone: &str, file: &str| format!("sys/class/powercap/{zone}/{file}");
        let names = [
            ("intel-rapl:0", "package-0"),
            ("intel-rapl:1", "package-1"),
            ("intel-rapl:0:0", "core"),
            ("intel-rapl:0:1", "dram"),
            ("intel-rapl:2", "psys"),
        ];
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (number, (id, name)) in names.into_iter().enumerate() {
            before.push((zone(id, "name"), format!("{name}\n")));
            before.push((zone(id, "energy_uj"), "1000000\n".to_owned()));
            let joules = 10u64.pow(number as u32);
            after.push((
                zone(id, "energy_uj"),
                format!("{}\n", (1 + joules) * 1_000_000),
            ));
        }
        before.push((zone("intel-rapl", "enabled"), "1".to_owned()));
        let energy = check(&texts(&before), &texts(&after));
        // The zones are package 0, package 1, and memory.
        assert_eq!(energy.joules(), Some(1.0 + 10.0 + 1000.0), "{energy:?}");
        let Energy::Counted { zones, .. } = energy else {
            panic!("counted");
        };
        assert_eq!(zones.len(), 5);
    }

    #[test]
    fn a_counter_that_starts_again_has_not_gone_back() {
        let energy = |file: &str| format!("{RAPL}/{file}");
        let range = (energy("max_energy_range_uj"), "262143328850\n");
        let before = (energy("energy_uj"), "262143328849");
        let after = (energy("energy_uj"), "1999998");
        let wrapped = check(
            &[(&range.0, range.1), (&before.0, before.1)],
            &[(&after.0, after.1)],
        );
        assert_eq!(wrapped.joules(), Some(2.0), "{wrapped:?}");
        let no_range = check(&[(&before.0, before.1)], &[(&after.0, after.1)]);
        assert_eq!(state(&no_range), State::Invalid, "{no_range:?}");
    }

    fn state(energy: &Energy) -> State {
        match energy {
            Energy::Counted { state, .. } => *state,
            Energy::Missing(missing) => missing.state,
        }
    }

    #[test]
    fn a_board_with_sensors_is_summed() {
        let input = |number: u32| format!("sys/class/hwmon/hwmon0/energy{number}_input");
        let label = "sys/class/hwmon/hwmon0/energy1_label";
        let energy = check(
            &[
                (label, "BOARD_ENERGY_BIG"),
                (&input(1), "5"),
                (&input(2), "7"),
                ("sys/class/hwmon/hwmon0/temp1_input", "45000"),
            ],
            &[(&input(1), "1000005"), (&input(2), "500007")],
        );
        assert_eq!(energy.joules(), Some(1.5));
        let Energy::Counted { zones, .. } = energy else {
            panic!("counted");
        };
        assert_eq!(zones[0].name, "BOARD_ENERGY_BIG");
        assert_eq!(zones[1].name, "hwmon0 energy2");
    }

    #[test]
    fn what_is_not_counted_is_never_0() {
        assert_eq!(state(&check(&[], &[])), State::Unavailable);
        let energy = format!("{RAPL}/energy_uj");
        let still = check(&[(&energy, "5")], &[]);
        assert_eq!((state(&still), still.joules()), (State::Invalid, None));
        let text = check(&[(&energy, "<not supported>")], &[]);
        assert_eq!(state(&text), State::Invalid);
        let gone = check(&[(&energy, "5")], &[(&energy, "")]);
        assert_eq!(state(&gone), State::Invalid);
    }
}
