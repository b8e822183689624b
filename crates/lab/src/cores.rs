//! Utilisation of each core during a run.
use crate::tree::Tree;
use std::collections::BTreeMap;

/// Ticks of every core since the machine started.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Cores(BTreeMap<u32, Ticks>);

#[derive(Debug, Clone, Copy, PartialEq)]
struct Ticks {
    busy: u64,
    total: u64,
}

impl Cores {
    /// Reads `/proc/stat`; returns no cores if it is missing.
    pub(crate) fn now(tree: &Tree) -> Cores {
        let text = tree.read("proc/stat").unwrap_or_default();
        Cores(text.lines().filter_map(core).collect())
    }

    /// Returns the share of time since `before` in which each core was busy, by core number. Time
    /// stolen by the hypervisor counts as busy, because no task could run.
    pub(crate) fn busy_since(&self, before: &Cores) -> BTreeMap<u32, f64> {
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
fn core(line: &str) -> Option<(u32, Ticks)> {
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
    use crate::tree::tests::recorded;

    #[test]
    fn each_core_has_its_share() {
        let stat = |cpu0: &str, cpu1: &str| {
            let text = format!("cpu  9 9 9 9 9 9 9 9 9 9\n{cpu0}\n{cpu1}\nintr 5\n");
            let (_root, tree) = recorded(&[("proc/stat", &text)]);
            Cores::now(&tree)
        };
        let before = stat("cpu0 10 0 10 70 10 0 0 0 5 0", "cpu1 0 0 0 5 0 0 0 0 0 0");
        let after = stat("cpu0 20 0 10 90 20 5 3 2 9 0", "cpu1 0 0 0 5 0 0 0 0 0 0");
        // 20 of 50 ticks are busy; a core whose ticks stand still is left out.
        assert_eq!(after.busy_since(&before), BTreeMap::from([(0, 0.4)]));
        assert_eq!(Cores::default().busy_since(&before), BTreeMap::new());
        assert_eq!(core("cpu0 1 2 x 4 5"), None);
    }
}
