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
    /// Returns the rate of a counter, over all labels; `None` where one decreased.
    pub(super) fn rate(&mut self, counter: &str) -> Option<f64> {
        let each = self.each_rate(counter)?;
        each.into_iter().map(|(_, rate)| rate).sum()
    }

    /// Returns the rates of a counter by a label.
    pub(super) fn rates(&mut self, counter: &str, label: &str) -> BTreeMap<String, f64> {
        let mut rates: BTreeMap<String, Option<f64>> = BTreeMap::new();
        for (labels, rate) in self.each_rate(counter).into_iter().flatten() {
            if let Some(value) = labels.get(label) {
                let sum = rates.entry(value.clone()).or_insert(Some(0.0));
                *sum = sum.zip(rate).map(|(sum, rate)| sum + rate);
            }
        }
        let known = rates.into_iter();
        known
            .filter_map(|(value, rate)| Some((value, rate?)))
            .collect()
    }

    /// Returns the rate of each series of a counter. One that is missing in the earlier reading began at 0; one that is
    /// missing now, as that of an index that was dropped, has none.
    fn each_rate(&mut self, counter: &str) -> Option<Vec<(&Labels, Option<f64>)>> {
        let samples = self.now.samples(counter)?;
        let (before, elapsed_s) = self.before?;
        let before = before.samples(counter).unwrap_or_default().iter();
        let before: BTreeMap<&Labels, f64> =
            before.map(|(labels, value)| (labels, *value)).collect();
        let mut rates = Vec::with_capacity(samples.len());
        for (labels, now) in samples {
            let before = before.get(labels).copied().unwrap_or(0.0);
            let rate = per_s(*now, before, elapsed_s);
            self.restarted |= *now < before;
            rates.push((labels, rate));
        }
        Some(rates)
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

/// Returns the rate between two readings of a counter; `None` if it decreased.
fn per_s(now: f64, before: f64, elapsed_s: f64) -> Option<f64> {
    let rate = (now >= before).then(|| (now - before) / elapsed_s);
    rate.filter(|rate| rate.is_finite())
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
