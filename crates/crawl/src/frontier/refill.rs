//! Refill of a host's queue: the best URLs that are due, from windows of its records in the store.
use super::core::Frontier;
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
        let host = &self.hosts[id as usize];
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
            let (left, later) = (choice.left, choice.due_later);
            host.queue.extend(choice.into_order());
            if from_start && reached_end {
                // All of the host was seen.
                host.check_at = if left { now } else { later };
                return;
            }
            if !host.queue.is_empty() {
                host.check_at = now;
                return;
            }
            if from_start {
                // Nothing due in the first window: the pass goes on, and its earliest due time counts.
                return self.pass(id, &end, later, now);
            }
            from = match (&host.resume, reached_end) {
                (Some(resume), false) => resume.to_vec(),
                _ => start.clone(),
            };
        }
    }

    /// Continues a pass that began at the first page of the host and found nothing due in its first window.
    fn pass(&mut self, id: u32, end: &[u8], mut later: TimeMs, now: TimeMs) {
        let mut choice = Choice::new(self.options.queue_urls_max.max(4));
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
        later = later.min(choice.due_later);
        let host = &mut self.hosts[id as usize];
        host.check_at = if choice.left { now } else { later };
        host.queue.extend(choice.into_order());
    }
}

/// The best URLs seen: new ones and revisits apart.
struct Choice {
    capacity: usize,
    new: BinaryHeap<Rank>,
    revisits: BinaryHeap<Rank>,
    /// Whether a URL that is due was left out.
    left: bool,
    /// Earliest due time of those not due.
    due_later: TimeMs,
}

impl Choice {
    fn new(capacity: usize) -> Choice {
        Choice {
            capacity,
            new: BinaryHeap::new(),
            revisits: BinaryHeap::new(),
            left: false,
            due_later: TimeMs::NEVER,
        }
    }

    fn offer(&mut self, key: &[u8], record: &Record, due: TimeMs, now: TimeMs) {
        if due > now {
            self.due_later = self.due_later.min(due);
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
