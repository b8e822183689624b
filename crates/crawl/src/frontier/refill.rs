//! Refill of a host's queue: the best URLs that are due, from windows of its records in the store.
use super::core::Frontier;
use super::host::Host;
use super::key;
use super::law::effective_due;
use super::record::Record;
use crate::politeness::TimeMs;
use std::collections::BinaryHeap;

/// Every fourth visit of a host may be a revisit while it has new URLs.
const REVISIT_SHARE: usize = 4;

/// Rank of a URL on its host: smaller is earlier. New URLs by depth, then importance; revisits by due time.
type Rank = (u64, u64, Box<[u8]>);

impl Frontier {
    /// Takes the best URLs of the host that are due, from a window of its records.
    pub(super) fn refill(&mut self, id: u32, now: TimeMs) {
        let share = self.options.queues_urls_max / self.hosts.len().max(1);
        let capacity = self.options.queue_urls_max.min(share).max(4);
        let window = self.options.refill_records_max.max(1);
        let host = &mut self.hosts[id as usize];
        host.due_next = Vec::new();
        let (start, end) = (key::pages_of(&host.prefix), key::end_of(&host.prefix));
        let mut from = host.resume.as_deref().map_or(start.clone(), <[u8]>::to_vec);
        loop {
            let from_start = from == start;
            let mut choice = Choice::new(capacity);
            let (mut seen, mut resume) = (0, None);
            let (again_at, in_flight) = (self.again_at, &self.keys_in_flight);
            self.store.scan(&from, &end, |key, found| {
                if seen == window {
                    resume = Some(key.into());
                    return false;
                }
                seen += 1;
                if let Some(record) = found.record()
                    && !in_flight.contains(key)
                {
                    choice.offer(key, &record, effective_due(&record, again_at), now);
                }
                true
            });
            let reached_end = resume.is_none();
            let host = &mut self.hosts[id as usize];
            host.resume = resume;
            if from_start && reached_end {
                return choice.end_pass(host, now);
            }
            if !choice.is_empty() {
                host.queue.extend(choice.into_order());
                host.check_at = now;
                return;
            }
            if from_start {
                // Nothing due in the first window: the pass goes on.
                return self.pass(id, &end, choice, now);
            }
            from = match (&host.resume, reached_end) {
                (Some(resume), false) => resume.to_vec(),
                _ => start.clone(),
            };
        }
    }

    /// Continues a pass that began at the first page of the host and found nothing due in its first window.
    fn pass(&mut self, id: u32, end: &[u8], mut choice: Choice, now: TimeMs) {
        choice.capacity = self.options.queue_urls_max.max(4);
        let Some(from) = self.hosts[id as usize].resume.take() else {
            return;
        };
        let (again_at, in_flight) = (self.again_at, &self.keys_in_flight);
        self.store.scan(&from, end, |key, found| {
            if let Some(record) = found.record()
                && !in_flight.contains(key)
            {
                choice.offer(key, &record, effective_due(&record, again_at), now);
            }
            true
        });
        choice.end_pass(&mut self.hosts[id as usize], now);
    }
}

/// The best URLs seen: new ones and revisits apart.
struct Choice {
    capacity: usize,
    new: BinaryHeap<Rank>,
    revisits: BinaryHeap<Rank>,
    /// Whether a URL that is due was left out.
    left: bool,
    /// Next due URLs, so that their turn needs no further look at the host.
    next: BinaryHeap<(TimeMs, Box<[u8]>)>,
    /// Earliest due time of those not due that were left out.
    due_later: TimeMs,
}

impl Choice {
    fn new(capacity: usize) -> Choice {
        Choice {
            capacity,
            new: BinaryHeap::new(),
            revisits: BinaryHeap::new(),
            left: false,
            next: BinaryHeap::new(),
            due_later: TimeMs::NEVER,
        }
    }

    fn offer(&mut self, key: &[u8], record: &Record, due: TimeMs, now: TimeMs) {
        if due > now {
            self.offer_later(key, due);
            return;
        }
        let importance = u64::from(record.importance.to_bits());
        let (heap, rank) = if record.visits + record.failures == 0 {
            (
                &mut self.new,
                u64::from(record.depth) << 32 | (u64::from(u32::MAX) - importance),
            )
        } else {
            (&mut self.revisits, due.0)
        };
        let discovered = record.discovered.0;
        if heap.len() >= self.capacity {
            self.left = true;
            if heap
                .peek()
                .is_some_and(|worst| (worst.0, worst.1) <= (rank, discovered))
            {
                return;
            }
            heap.pop();
        }
        heap.push((rank, discovered, key.into()));
    }

    fn offer_later(&mut self, key: &[u8], due: TimeMs) {
        if due >= self.due_later {
            return;
        }
        if self.next.len() >= self.capacity {
            let latest = self.next.peek().map_or(due, |(latest, _)| *latest);
            self.due_later = due.max(latest);
            if due >= latest {
                return;
            }
            self.next.pop();
        }
        self.next.push((due, key.into()));
    }

    /// Returns whether no URL is due.
    fn is_empty(&self) -> bool {
        self.new.is_empty() && self.revisits.is_empty()
    }

    /// Gives the URLs to a host all of whose records were seen.
    fn end_pass(mut self, host: &mut Host, now: TimeMs) {
        host.check_at = now;
        if !self.left {
            host.check_at = self.due_later;
            let next = std::mem::take(&mut self.next).into_sorted_vec();
            host.due_next = next.into_iter().rev().collect();
        }
        host.queue.extend(self.into_order());
    }

    /// Best first, at most the capacity.
    fn into_order(self) -> Vec<Box<[u8]>> {
        let mut new = self.new.into_sorted_vec().into_iter();
        let mut revisits = self.revisits.into_sorted_vec().into_iter();
        let mut order = Vec::new();
        while order.len() < 2 * self.capacity {
            let revisit = order.len() % REVISIT_SHARE == REVISIT_SHARE - 1;
            let (first, second) = if revisit {
                (&mut revisits, &mut new)
            } else {
                (&mut new, &mut revisits)
            };
            let Some((.., key)) = first.next().or_else(|| second.next()) else {
                break;
            };
            order.push(key);
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_due_next_are_kept_in_order_and_the_first_left_out_is_known() {
        let mut choice = Choice::new(2);
        for due in [9, 5, 7, 3] {
            choice.offer_later(&[due], TimeMs(u64::from(due)));
        }
        let mut host = Host::new("http://a", false, TimeMs(0));
        choice.end_pass(&mut host, TimeMs(1));
        assert_eq!((host.due_at(), host.check_at), (TimeMs(3), TimeMs(7)));
        assert_eq!(host.take_due(TimeMs(2)), None);
        assert_eq!(host.take_due(TimeMs(6)).as_deref(), Some(&[3][..]));
        assert_eq!(host.take_due(TimeMs(6)).as_deref(), Some(&[5][..]));
        assert_eq!((host.take_due(TimeMs(6)), host.due_at()), (None, TimeMs(7)));
    }
}
