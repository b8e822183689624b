//! Order of a partition's documents in its new segment.

use super::forward::{Forward, forward_of};
use super::live::Live;
use super::progress::Phase;
use super::rows::Rows;
use super::work::PartitionWork;
use crate::order::{Limits, Order, bisect, levels, url_key};
use crate::spill::Spill;
use crate::{IndexError, Segment};
use vfs::SharedStorage;

/// New order of documents.
pub(super) struct Arranged {
    /// Arrival of each new document, and new document of each arrival; `None`: the order of arrival.
    pub(super) order: Option<(Vec<u32>, Vec<u32>)>,
    pub(super) terms_left_out: u64,
}

impl PartitionWork<'_> {
    /// Computes the requested order. Names of temporary files begin with `prefix`.
    pub(super) fn arrange(
        &self,
        segments: &[Segment],
        live: &Live,
        rows: &Rows,
        prefix: &str,
        memory_bytes: u64,
    ) -> Result<Arranged, IndexError> {
        let mut arranged = Arranged {
            order: None,
            terms_left_out: 0,
        };
        if self.order == Order::Arrival {
            return Ok(arranged);
        }
        (self.progress)(Phase::Ordering, 0);
        let mut order = url_order(self.storage, prefix, rows, live.count())?;
        let mut new_of = inverse(&order);
        if self.order == Order::Bisection {
            let mut forward = forward_of(segments, live, &new_of, memory_bytes, self.threads)?;
            arranged.terms_left_out = forward.left_out;
            let all = u64::from(live.count()) * u64::from(levels(live.count()));
            let progress = self.progress_of(Phase::Ordering, all);
            let limits = Limits {
                threads: self.threads,
                progress: &progress,
            };
            order = bisected(&order, &mut forward, &limits);
            new_of = inverse(&order);
        }
        arranged.order = Some((order, new_of));
        Ok(arranged)
    }
}

fn inverse(order: &[u32]) -> Vec<u32> {
    let mut inverse = vec![0; order.len()];
    for (at, &arrival) in (0..).zip(order) {
        inverse[arrival as usize] = at;
    }
    inverse
}

/// Returns the arrivals in the order of their URLs.
fn url_order(
    storage: &SharedStorage,
    prefix: &str,
    rows: &Rows,
    count: u32,
) -> Result<Vec<u32>, IndexError> {
    let mut keys = Spill::new(storage, format!("{prefix}-keys"));
    let mut ends = Vec::with_capacity(count as usize);
    let mut key = Vec::new();
    for arrival in 0..count {
        url_key(rows.url(arrival), &mut key);
        keys.write(&key)?;
        ends.push(keys.bytes());
    }
    rows.release();
    let keys = keys.into_region()?;
    let key_of = |arrival: u32| {
        let start = arrival
            .checked_sub(1)
            .map_or(0, |before| ends[before as usize]);
        &keys[start as usize..ends[arrival as usize] as usize]
    };
    let mut order: Vec<u32> = (0..count).collect();
    order.sort_unstable_by(|&a, &b| key_of(a).cmp(key_of(b)).then(a.cmp(&b)));
    Ok(order)
}

/// Returns the documents in the order of a bisection that starts with `order`.
fn bisected(order: &[u32], forward: &mut Forward, limits: &Limits<'_>) -> Vec<u32> {
    let terms_count = forward.terms_count;
    let mut nodes = forward.nodes();
    bisect(&mut nodes, terms_count, limits);
    nodes
        .iter()
        .map(|node| order[node.place as usize])
        .collect()
}
