//! Maximum speed of every core, and its speed class.

use super::Gap;
use super::texts::{CPU, File, gap, value};
use crate::CpuSet;
use std::collections::BTreeMap;

/// Lower limit on the speed of a core relative to the fastest of its class, in percent; a slower core
/// starts the next class. Favoured turbo cores differ by a few percent, big and little cores by a third
/// or more.
const SAME_CLASS_PERCENT: u64 = 80;

/// Returns the maximum performance of every context, with the fastest scaled to 1024.
pub(super) fn capacities(file: &File, online: &CpuSet, gaps: &mut Vec<Gap>) -> BTreeMap<u32, u32> {
    let all = |path: &str| -> Result<BTreeMap<u32, u32>, String> {
        online
            .iter()
            .map(|cpu| {
                let path = format!("{CPU}/cpu{cpu}/{path}");
                match value(file, &path)? {
                    0 => Err(format!("{path} is 0")),
                    capacity => Ok((cpu, capacity)),
                }
            })
            .collect()
    };
    // Capacity includes the work per cycle, which frequency does not: a little core's clock may be as
    // fast. The two scales are never mixed, because they are not comparable.
    let found = all("cpu_capacity").or_else(|_| all("cpufreq/cpuinfo_max_freq"));
    match found {
        Ok(capacities) => {
            let max = u64::from(capacities.values().copied().max().unwrap_or(1));
            let scaled = |capacity| (u64::from(capacity) * 1024 / max) as u32;
            capacities
                .into_iter()
                .map(|(cpu, capacity)| (cpu, scaled(capacity)))
                .collect()
        }
        Err(why) => {
            let why = format!("{why}; all are taken as equally fast");
            gaps.push(gap("speed of cores", why));
            BTreeMap::new()
        }
    }
}

pub(super) fn speed_classes(capacities: &BTreeMap<u32, u32>) -> BTreeMap<u32, u32> {
    let mut fastest_first: Vec<(u32, u32)> = capacities.iter().map(|(&c, &v)| (v, c)).collect();
    fastest_first.sort_unstable_by(|a, b| b.cmp(a));
    let mut classes = BTreeMap::new();
    let mut class = 0;
    let mut top = fastest_first.first().map_or(0, |&(capacity, _)| capacity);
    for (capacity, cpu) in fastest_first {
        if u64::from(capacity) * 100 < u64::from(top) * SAME_CLASS_PERCENT {
            class += 1;
            top = capacity;
        }
        classes.insert(cpu, class);
    }
    classes
}
