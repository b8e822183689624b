//! Time that each CPU was busy, as the kernel counts it.

use super::SystemTree;
use std::collections::BTreeMap;

/// Ticks of every CPU since the machine started.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CpuTicks(BTreeMap<u32, Ticks>);

#[derive(Debug, Clone, Copy, PartialEq)]
struct Ticks {
    busy: u64,
    total: u64,
}

impl CpuTicks {
    /// Returns the ticks of now; of no CPU where the kernel does not tell them. Takes 20 to 100 µs.
    pub fn now() -> CpuTicks {
        let text = SystemTree::default().read("proc/stat");
        text.map_or_else(|_| CpuTicks::default(), |text| CpuTicks::of(&text))
    }

    /// Returns the ticks in a text of `/proc/stat`.
    pub fn of(text: &str) -> CpuTicks {
        CpuTicks(text.lines().filter_map(cpu).collect())
    }

    /// Returns the share of time since `before` in which each CPU was busy, by its number. Time
    /// stolen by the hypervisor counts as busy, because no task could run.
    pub fn busy_since(&self, before: &CpuTicks) -> BTreeMap<u32, f64> {
        let share = |(number, now): (&u32, &Ticks)| {
            let before = before.0.get(number)?;
            let total = now
                .total
                .checked_sub(before.total)
                .filter(|ticks| *ticks > 0)?;
            let busy = now.busy.saturating_sub(before.busy);
            Some((*number, busy as f64 / total as f64))
        };
        self.0.iter().filter_map(share).collect()
    }
}

/// Parses `cpu1 user nice system idle iowait irq softirq steal guest guest_nice`; `user` already
/// includes guest time.
fn cpu(line: &str) -> Option<(u32, Ticks)> {
    let mut fields = line.split_whitespace();
    let number = fields.next()?.strip_prefix("cpu")?.parse().ok()?;
    let ticks: Option<Vec<u64>> = fields.take(8).map(|field| field.parse().ok()).collect();
    let ticks = ticks.filter(|ticks| ticks.len() >= 5)?;
    let total = ticks.iter().sum();
    let idle = ticks[3] + ticks[4];
    let busy = total - idle;
    Some((number, Ticks { busy, total }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cpu_has_its_share() {
        let stat = |cpu0: &str, cpu1: &str| {
            CpuTicks::of(&format!(
                "cpu  9 9 9 9 9 9 9 9 9 9\n{cpu0}\n{cpu1}\nintr 5\n"
            ))
        };
        let before = stat("cpu0 10 0 10 70 10 0 0 0 5 0", "cpu1 0 0 0 5 0 0 0 0 0 0");
        let after = stat("cpu0 20 0 10 90 20 5 3 2 9 0", "cpu1 0 0 0 5 0 0 0 0 0 0");
        // 20 of 50 ticks are busy; a CPU whose ticks stand still is left out.
        assert_eq!(after.busy_since(&before), BTreeMap::from([(0, 0.4)]));
        assert_eq!(CpuTicks::default().busy_since(&before), BTreeMap::new());
        assert_eq!(cpu("cpu0 1 2 x 4 5"), None);
    }
}
