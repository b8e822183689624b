//! Assignment of whole cores to units, and of shared contexts once cores run out.
//!
//! A *unit* is a group of handlers that should stay on one node: a partition (`data`), or the
//! partitions that meet on the same cores (`query`). It is a list of *bundles*; a bundle starts on a
//! core of its own and fills the core's contexts before it takes the next core.
//!
//! Round 1: each unit in turn takes cores, the fastest class first, and no more of a class than its
//! equal share. Round 2: slots without a core take the least used context; free contexts thus come
//! first, and then all CPUs are shared evenly. Cost: O(slots × cores).

use super::request::{HandlerPlace, Why};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// A handler to be placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) partition: usize,
    pub(super) handler: usize,
}

/// Handlers that should share a core.
pub(super) type Bundle = Vec<Slot>;

/// A core and its available contexts.
#[derive(Debug, Clone)]
pub(super) struct Core {
    pub(super) number: u32,
    pub(super) cpus: Vec<u32>,
    pub(super) speed_class: u32,
    pub(super) socket: Option<u32>,
    pub(super) node: Option<u32>,
    /// Last-level cache of the core, identified by its lowest context.
    pub(super) cache: Option<u32>,
}

/// Assigns `cores`, at least one, to `units`.
pub(super) fn deal(cores: &[Core], units: &[Vec<Bundle>]) -> Vec<HandlerPlace> {
    let mut table = Table {
        cores,
        free: vec![true; cores.len()],
        handlers: cores.iter().map(|core| vec![0; core.cpus.len()]).collect(),
        partitions: vec![BTreeSet::new(); cores.len()],
        places: Vec::new(),
    };
    let mut shares = equal_shares(cores, units.len());
    let mut left = Vec::new();
    for (unit, share) in units.iter().zip(&mut shares) {
        let (home, without) = table.deal_unit(unit, share);
        left.extend(
            without
                .into_iter()
                .map(|(bundle, slot)| (bundle, slot, home)),
        );
    }
    // Units take turns, so that the shared contexts are spread over all of them.
    left.sort_by_key(|&(bundle, slot, _)| (bundle, slot.handler, slot.partition));
    for (_, slot, home) in left {
        table.least_used(slot, home);
    }
    table
        .places
        .sort_by_key(|place| (place.partition, place.handler));
    table.places
}

/// Returns the number of cores of each class for every unit: as equal as possible, with the remainder
/// going to the units with the fewest cores so far.
fn equal_shares(cores: &[Core], units: usize) -> Vec<BTreeMap<u32, usize>> {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for core in cores {
        *counts.entry(core.speed_class).or_default() += 1;
    }
    let mut shares = vec![BTreeMap::new(); units];
    let mut remainders = vec![0; units];
    for (class, count) in counts {
        let mut by_remainders: Vec<usize> = (0..units).collect();
        by_remainders.sort_by_key(|&unit| remainders[unit]);
        for (rank, unit) in by_remainders.into_iter().enumerate() {
            let more = usize::from(rank < count % units);
            remainders[unit] += more;
            shares[unit].insert(class, count / units + more);
        }
    }
    shares
}

struct Table<'a> {
    cores: &'a [Core],
    /// Whether each core is unassigned.
    free: Vec<bool>,
    /// Number of handlers on each context, by core.
    handlers: Vec<Vec<usize>>,
    /// Partitions on each core.
    partitions: Vec<BTreeSet<usize>>,
    places: Vec<HandlerPlace>,
}

impl Table<'_> {
    /// Assigns cores to a unit. Returns its first core, and the slots without a core (with the number
    /// of their bundle).
    fn deal_unit(
        &mut self,
        unit: &[Bundle],
        share: &mut BTreeMap<u32, usize>,
    ) -> (Option<usize>, Vec<(usize, Slot)>) {
        let mut home = None;
        let mut last = None;
        let mut left = Vec::new();
        for (bundle_idx, bundle) in unit.iter().enumerate() {
            let mut slots = bundle.iter().copied().peekable();
            while slots.peek().is_some() {
                let Some(core) = self.next_core(share, last) else {
                    left.extend(slots.map(|slot| (bundle_idx, slot)));
                    break;
                };
                self.free[core] = false;
                if let Some(cores) = share.get_mut(&self.cores[core].speed_class) {
                    *cores -= 1;
                }
                let reached = self.reached(last, core);
                home.get_or_insert(core);
                last = Some(core);
                self.fill(core, reached, &mut slots);
            }
        }
        (home, left)
    }

    /// Returns the best unassigned core: fast, close to the last one, and in the node and cache with
    /// the most free cores.
    fn next_core(&self, share: &BTreeMap<u32, usize>, last: Option<usize>) -> Option<usize> {
        let free = || {
            self.cores
                .iter()
                .enumerate()
                .filter(|&(idx, _)| self.free[idx])
        };
        let alike = |of: fn(&Core) -> Option<u32>, core: &Core| {
            free().filter(|(_, other)| of(other) == of(core)).count()
        };
        let far = |of: fn(&Core) -> Option<u32>, core: &Core| {
            last.is_some_and(|last| of(&self.cores[last]) != of(core))
        };
        // Among cores of the same node, socket and cache the lowest number wins, so few cores need
        // counting.
        let mut kinds = BTreeMap::new();
        for (idx, core) in free() {
            if share.get(&core.speed_class).is_some_and(|&cores| cores > 0) {
                let kind = (core.speed_class, core.node, core.socket, core.cache);
                kinds.entry(kind).or_insert((idx, core));
            }
        }
        let best = kinds.into_values().min_by_key(|&(_, core)| {
            (
                core.speed_class,
                far(|core| core.node, core),
                far(|core| core.socket, core),
                far(|core| core.cache, core),
                Reverse(alike(|core| core.node, core)),
                Reverse(alike(|core| core.cache, core)),
                core.cpus[0],
            )
        });
        best.map(|(idx, _)| idx)
    }

    fn reached(&self, last: Option<usize>, core: usize) -> Why {
        match last {
            None => Why::First,
            Some(last) if self.cores[last].node == self.cores[core].node => Why::NextCore,
            Some(_) => Why::OtherNode,
        }
    }

    /// Assigns the contexts of a free core to the next slots of a bundle.
    fn fill(&mut self, core: usize, reached: Why, slots: &mut impl Iterator<Item = Slot>) {
        let mut first: Option<(Slot, u32)> = None;
        for context in 0..self.cores[core].cpus.len() {
            let Some(slot) = slots.next() else { break };
            let cpu = self.cores[core].cpus[context];
            let why = match first {
                None => reached,
                Some((other, of)) if other.partition == slot.partition => Why::Sibling { of },
                Some((other, _)) => Why::Meets {
                    partition: other.partition,
                },
            };
            first.get_or_insert((slot, cpu));
            self.take(core, context, slot, why);
        }
    }

    /// Assigns a slot to the context with the fewest handlers, preferring cores without its partition.
    fn least_used(&mut self, slot: Slot, home: Option<usize>) {
        let far = |core: &Core| home.is_some_and(|home| self.cores[home].node != core.node);
        let contexts = self.cores.iter().enumerate().flat_map(|(idx, core)| {
            let handlers = &self.handlers[idx];
            (0..core.cpus.len()).map(move |context| (idx, core, context, handlers[context]))
        });
        let best = contexts.min_by_key(|&(idx, core, context, handlers)| {
            (
                handlers,
                self.partitions[idx].contains(&slot.partition),
                far(core),
                core.speed_class,
                self.handlers[idx].iter().sum::<usize>(),
                core.cpus[context],
            )
        });
        if let Some((core, _, context, handlers)) = best {
            let why = match handlers {
                0 => Why::LeftOver,
                handlers => Why::Shares { handlers },
            };
            self.take(core, context, slot, why);
        }
    }

    fn take(&mut self, core: usize, context: usize, slot: Slot, why: Why) {
        let at = &self.cores[core];
        self.free[core] = false;
        self.handlers[core][context] += 1;
        self.partitions[core].insert(slot.partition);
        self.places.push(HandlerPlace {
            partition: slot.partition,
            handler: slot.handler,
            cpus: [at.cpus[context]].into_iter().collect(),
            core: Some(at.number),
            socket: at.socket,
            node: at.node,
            why,
        });
    }
}
