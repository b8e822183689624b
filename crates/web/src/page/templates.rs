//! Templates of a host: blocks that recur on a share of its pages.
//!
//! A bounded counter of block hashes (Misra & Gries 1982): when it is full, a new hash lowers all
//! counts by one and zeroes leave. So a kept count is at most `decrements_count` below the true one, and any
//! hash on more than pages × mean blocks ÷ limit pages is kept. While no more hashes than the limit
//! were ever seen, counts are exact, and neither order nor merging matters; beyond, the kept set of
//! rare hashes depends on the order, that of frequent ones does not.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Limits of templates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TemplateOptions {
    /// Hashes kept of a host.
    pub hashes_max: usize,
    /// Pages of a host before any block counts as template.
    pub pages_min: u32,
    /// Share of the pages, 0 to 1, from which on a block is a template.
    pub share_min: f64,
}

impl Default for TemplateOptions {
    fn default() -> Self {
        Self {
            hashes_max: 4096,
            pages_min: 5,
            share_min: 0.3,
        }
    }
}

/// Counts of block hashes over the pages of one host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostTemplates {
    options: TemplateOptions,
    pages_count: u32,
    decrements_count: u32,
    counts: BTreeMap<u64, u32>,
}

impl HostTemplates {
    /// Empty counts with the given limits.
    pub fn new(options: TemplateOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Returns the number of pages counted.
    pub fn pages_count(&self) -> u32 {
        self.pages_count
    }

    /// Returns the number of hashes kept.
    pub fn hashes_count(&self) -> usize {
        self.counts.len()
    }

    /// Counts a page by the hashes of its blocks; repeated ones count once.
    pub fn add_page(&mut self, hashes: impl IntoIterator<Item = u64>) {
        let mut hashes: Vec<u64> = hashes.into_iter().collect();
        hashes.sort_unstable();
        hashes.dedup();
        self.pages_count = self.pages_count.saturating_add(1);
        // Known hashes first: a page must not push out what it is about to raise.
        hashes.retain(|hash| match self.counts.get_mut(hash) {
            Some(count) => {
                *count = count.saturating_add(1);
                false
            }
            None => true,
        });
        // At most one lowering a page bounds its cost; what finds no place then stays out.
        for (i, &hash) in hashes.iter().enumerate() {
            if self.counts.len() >= self.options.hashes_max {
                if i == 0 {
                    self.lower(1);
                }
                if self.counts.len() >= self.options.hashes_max {
                    break;
                }
            }
            self.counts.insert(hash, 1);
        }
    }

    /// Adds the counts of `other`, of the same host.
    pub fn merge(&mut self, other: &Self) {
        self.pages_count = self.pages_count.saturating_add(other.pages_count);
        self.decrements_count = self.decrements_count.saturating_add(other.decrements_count);
        for (&hash, &count) in &other.counts {
            let sum = self.counts.entry(hash).or_default();
            *sum = sum.saturating_add(count);
        }
        let excess = self.counts.len().saturating_sub(self.options.hashes_max);
        if excess > 0 {
            let mut counts: Vec<u32> = self.counts.values().copied().collect();
            let (_, &mut lowered, _) = counts.select_nth_unstable(excess - 1);
            self.lower(lowered);
        }
    }

    /// Returns whether the block recurs on enough pages of the host.
    pub fn is_template(&self, hash: u64) -> bool {
        let count = self.counts.get(&hash);
        count.is_some_and(|&count| self.is_frequent(count))
    }

    /// Drops the counts of blocks that are no templates.
    pub fn into_templates(mut self) -> Self {
        let mut counts = std::mem::take(&mut self.counts);
        counts.retain(|_, count| self.is_frequent(*count));
        self.counts = counts;
        self
    }

    fn is_frequent(&self, count: u32) -> bool {
        let least = (f64::from(self.pages_count) * self.options.share_min).ceil() as u32;
        self.pages_count >= self.options.pages_min && count >= least.max(2)
    }

    fn lower(&mut self, by: u32) {
        self.decrements_count = self.decrements_count.saturating_add(by);
        self.counts.retain(|_, count| {
            *count = count.saturating_sub(by);
            *count > 0
        });
    }
}
