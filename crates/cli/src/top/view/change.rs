//! Change of metrics between two readings.

use crate::top::exposition::{Exposition, Histogram, Labels};
use std::collections::BTreeMap;

/// Two readings and the seconds between them; a first reading has none before.
pub(super) struct Change<'a> {
    pub(super) now: &'a Exposition,
    pub(super) before: Option<(&'a Exposition, f64)>,
    /// Whether a counter decreased.
    pub(super) restarted: bool,
}

impl Change<'_> {
    /// Returns the rate of a counter, over all labels.
    pub(super) fn rate(&mut self, counter: &str) -> Option<f64> {
        let now = self.now.sum(counter)?;
        let (before, elapsed_s) = self.before?;
        // A counter that is missing in the earlier reading began at 0.
        self.per_s(now, before.sum(counter).unwrap_or(0.0), elapsed_s)
    }

    /// Returns the rates of a counter by a label.
    pub(super) fn rates(&mut self, counter: &str, label: &str) -> BTreeMap<String, f64> {
        let Some((before, elapsed_s)) = self.before else {
            return BTreeMap::new();
        };
        let before = before.by(counter, label);
        let now = self.now.by(counter, label).into_iter();
        now.filter_map(|(value, now)| {
            let before = before.get(&value).copied().unwrap_or(0.0);
            Some((value, self.per_s(now, before, elapsed_s)?))
        })
        .collect()
    }

    fn per_s(&mut self, now: f64, before: f64, elapsed_s: f64) -> Option<f64> {
        if now < before {
            self.restarted = true;
            return None;
        }
        Some((now - before) / elapsed_s).filter(|rate| rate.is_finite())
    }

    /// Returns the histograms of the time between the readings, by labels.
    pub(super) fn histograms(&mut self, name: &str) -> BTreeMap<Labels, Histogram> {
        let Some((before, _)) = self.before else {
            return BTreeMap::new();
        };
        let before = before.histograms(name);
        let mut histograms = BTreeMap::new();
        for (labels, now) in self.now.histograms(name) {
            match difference(&now, before.get(&labels)) {
                Some(histogram) => {
                    histograms.insert(labels, histogram);
                }
                None => self.restarted = true,
            }
        }
        histograms
    }
}

/// Subtracts `before` from `now`; `None` if a count decreased.
fn difference(now: &Histogram, before: Option<&Histogram>) -> Option<Histogram> {
    let Some(before) = before else {
        return Some(now.clone());
    };
    if before.buckets.len() != now.buckets.len() {
        return None;
    }
    let mut last = 0.0;
    let pairs = now.buckets.iter().zip(&before.buckets);
    let buckets: Option<Vec<(f64, f64)>> = pairs
        .map(|(now, before)| {
            let count = now.1 - before.1;
            let consistent = now.0 == before.0 && count >= last;
            last = count;
            consistent.then_some((now.0, count))
        })
        .collect();
    Some(Histogram {
        buckets: buckets?,
        sum_s: now
            .sum_s
            .zip(before.sum_s)
            .map(|(now, before)| now - before),
    })
}
