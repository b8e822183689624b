//! Completeness, fairness and promises of each placement.

use crate::recorded::{MACHINES, machine, read};
use proptest::prelude::*;
use schedule::placement::{HandlerPlace, Why};
use schedule::{CpuSet, CpuTopology, Placement, PlacementRequest, Places, place};
use std::collections::{BTreeMap, BTreeSet};

fn request(placement: Placement, partitions: usize, handlers: usize) -> PlacementRequest {
    PlacementRequest {
        placement,
        smt: true,
        cpus: None,
        partitions,
        handlers,
    }
}

/// Returns the CPU of a pinned handler.
fn cpu(place: &HandlerPlace) -> u32 {
    assert_eq!(place.cpus.len(), 1, "{place:?}");
    place.cpus.first().unwrap()
}

/// Returns the CPUs of each partition, in the order of handlers.
fn cpus(places: &Places) -> Vec<Vec<u32>> {
    let mut partitions: Vec<Vec<u32>> = Vec::new();
    for place in &places.handlers {
        if partitions.len() <= place.partition {
            partitions.push(Vec::new());
        }
        partitions[place.partition].push(cpu(place));
    }
    partitions
}

fn check(name: &str, request: &PlacementRequest, expected: &[&[u32]]) -> Places {
    let places = place(&machine(name), request).unwrap();
    assert_eq!(cpus(&places), expected, "{name} {request:?}\n{places}");
    places
}

#[test]
fn two_sockets() {
    let name = "two-sockets";
    let (data, query) = (Placement::Data, Placement::Query);
    // One partition per socket, on whole cores.
    check(
        name,
        &request(data, 2, 4),
        &[&[0, 16, 1, 17], &[8, 24, 9, 25]],
    );
    check(name, &request(data, 1, 3), &[&[0, 16, 1]]);
    check(
        name,
        &request(query, 2, 4),
        &[&[0, 1, 2, 3], &[16, 17, 18, 19]],
    );
    // Two pairs of partitions, one pair per socket.
    check(
        name,
        &request(query, 4, 2),
        &[&[0, 1], &[16, 17], &[8, 9], &[24, 25]],
    );
    let off = |placement| PlacementRequest {
        smt: false,
        ..request(placement, 2, 2)
    };
    check(name, &off(data), &[&[0, 1], &[8, 9]]);
    let places = check(name, &off(query), &[&[0, 1], &[8, 9]]);
    assert_eq!(
        places.notes,
        ["partitions cannot meet on a core: --smt off"]
    );
    assert_eq!(places.spare.to_string(), "2-7,10-15");
    // The whole machine: sixteen handlers per partition, one partition per socket.
    let places = place(&machine(name), &request(data, 2, 16)).unwrap();
    assert!(places.spare.is_empty() && places.notes.is_empty());
    assert!(
        places
            .handlers
            .iter()
            .all(|p| p.node == Some(p.partition as u32))
    );
}

#[test]
fn big_and_little_cores_are_dealt_fairly() {
    let name = "big-little";
    let (data, query) = (Placement::Data, Placement::Query);
    check(name, &request(data, 1, 3), &[&[4, 5, 0]]);
    check(name, &request(data, 2, 3), &[&[4, 0, 1], &[5, 2, 3]]);
    check(name, &request(query, 2, 2), &[&[4, 0], &[5, 1]]);
}

#[test]
fn small_machines_share() {
    let (data, query) = (Placement::Data, Placement::Query);
    for placement in [data, query] {
        let places = check("one-core", &request(placement, 2, 2), &[&[0, 0], &[0, 0]]);
        assert!(
            places
                .notes
                .iter()
                .any(|note| note.contains("4 handlers share 1 CPU"))
        );
        assert_eq!(places.handlers[3].why, Why::Shares { handlers: 3 });
    }
    let places = check("virtual-machine", &request(query, 2, 1), &[&[0], &[1]]);
    assert!(places.notes[0].contains("virtual machine"), "{places}");
}

#[test]
fn a_cpuset_and_a_list_are_kept() {
    let name = "offline-cpuset";
    let (data, query) = (Placement::Data, Placement::Query);
    let places = check(name, &request(data, 2, 2), &[&[0, 8], &[1, 9]]);
    assert_eq!(places.spare.to_string(), "2-3");
    assert_eq!(
        places.notes,
        ["others may run on siblings of CPU 2-3, which are kept from this process"]
    );
    check(name, &request(query, 2, 2), &[&[0, 1], &[8, 9]]);
    let within = |cpus: &str| PlacementRequest {
        cpus: Some(cpus.parse().unwrap()),
        ..request(data, 1, 2)
    };
    check(name, &within("1-3"), &[&[1, 2]]);
    check(name, &within("1,3,9"), &[&[1, 9]]);
    let refused = |cpus: &str, words: [&str; 3]| {
        let error = place(&machine(name), &within(cpus))
            .unwrap_err()
            .to_string();
        for word in words {
            assert!(error.contains(word), "{word}: {error}");
        }
    };
    refused("0,13", ["--cpus 0,13", "13 (switched off)", "0-3,8-9"]);
    refused("0-5", ["--cpus 0-5", "4-5 (kept from it by", "0-3,8-9"]);
    refused("99", ["--cpus 99", "not there", "0-3,8-9"]);
    refused("", ["--cpus names no CPU", "leave it out", "0-3,8-9"]);
}

#[test]
fn none_leaves_it_to_the_kernel() {
    let all = place(&machine("two-sockets"), &request(Placement::None, 2, 2)).unwrap();
    assert!(
        all.handlers
            .iter()
            .all(|place| place.cpus.is_empty() && place.node.is_none())
    );
    let narrow = |request: PlacementRequest| {
        let places = place(&machine("two-sockets"), &request).unwrap();
        let first = places.handlers[0].clone();
        assert!(places.handlers.iter().all(|place| place.cpus == first.cpus));
        (first.cpus.to_string(), first.node, first.core)
    };
    let none = request(Placement::None, 2, 2);
    let cpus = |list: &str| Some(list.parse().unwrap());
    let some = PlacementRequest {
        cpus: cpus("8-9,24"),
        ..none.clone()
    };
    assert_eq!(narrow(some), ("8-9,24".into(), Some(1), None));
    let one = PlacementRequest {
        cpus: cpus("17"),
        ..none.clone()
    };
    assert_eq!(narrow(one), ("17".into(), Some(0), Some(1)));
    let off = PlacementRequest {
        smt: false,
        ..none.clone()
    };
    assert_eq!(narrow(off), ("0-15".into(), None, None));
    // An unknown topology does not prevent placement by the kernel.
    assert!(place(&read(&BTreeMap::new()), &none).is_ok());
    let error = place(&read(&BTreeMap::new()), &request(Placement::Data, 1, 1)).unwrap_err();
    assert!(error.to_string().contains("--placement none"), "{error}");
}

#[test]
fn nothing_and_too_much_are_refused() {
    for (partitions, handlers) in [(0, 1), (1, 0), (usize::MAX, 2), (70_000, 1)] {
        let request = request(Placement::Data, partitions, handlers);
        let error = place(&machine("one-core"), &request).unwrap_err();
        assert!(
            error.to_string().contains("at least one of each"),
            "{error}"
        );
    }
}

#[test]
fn the_table_shows_it() {
    let places = place(&machine("offline-cpuset"), &request(Placement::Data, 2, 4)).unwrap();
    let expected = "\
partition  handler  cpu  core  socket  node  why
        0        0    0     0       0     0  first core
        0        1    8     0       0     0  sibling of cpu 0, same partition
        0        2    1     1       0     0  next core of the node
        0        3    9     1       0     0  sibling of cpu 1, same partition
        1        0    2     2       0     0  first core
        1        1    3     3       0     0  next core of the node
        1        2    0     0       0     0  shares the cpu: more handlers than cpus
        1        3    1     1       0     0  shares the cpu: more handlers than cpus
note: others may run on siblings of CPU 2-3, which are kept from this process
note: 8 handlers share 6 CPUs; give --handlers 3 for one each
";
    assert_eq!(places.to_string(), expected);
    let none = place(&machine("big-little"), &request(Placement::None, 1, 1)).unwrap();
    let expected = "\
partition  handler  cpu  core  socket  node  why
        0        0  any     –       –     –  the kernel chooses
";
    assert_eq!(none.to_string(), expected);
}

/// Checks the order: node by node, and within a node cache by cache, starting with the most free cores.
#[test]
fn partitions_stay_on_a_node_and_behind_a_cache() {
    let name = "two-nodes";
    let off = |partitions, handlers| PlacementRequest {
        smt: false,
        ..request(Placement::Data, partitions, handlers)
    };
    check(
        name,
        &off(4, 3),
        &[&[0, 1, 2], &[8, 9, 10], &[4, 5, 6], &[12, 13, 14]],
    );
    check(
        name,
        &off(2, 6),
        &[&[0, 1, 2, 3, 4, 5], &[8, 9, 10, 11, 12, 13]],
    );
    // The third partition takes the remaining cores on both nodes.
    let places = check(
        name,
        &off(3, 5),
        &[&[0, 1, 2, 3, 4], &[8, 9, 10, 11, 12], &[5, 6, 7, 13, 14]],
    );
    assert_eq!(places.handlers[12].why, Why::NextCore);
    assert_eq!(places.handlers[13].why, Why::OtherNode);
}

/// Checks that the example in the documentation is the actual output.
#[test]
fn the_document_shows_what_happens() {
    let places = place(&machine("two-sockets"), &request(Placement::Data, 2, 4)).unwrap();
    let document = include_str!("../../../../docs/placement.md");
    assert!(document.contains(&places.to_string()), "{places}");
}

/// Checks the invariants of every machine, placement and number of handlers.
fn check_fairness(topology: &CpuTopology, request: &PlacementRequest, places: &Places) {
    let pool = request.cpus.clone().unwrap_or(topology.allowed.clone());
    let mut loads: BTreeMap<u32, usize> = BTreeMap::new();
    for place in &places.handlers {
        *loads.entry(cpu(place)).or_default() += 1;
        assert!(pool.contains(cpu(place)), "not allowed: {place:?}");
        let context = topology.context(cpu(place)).unwrap();
        assert_eq!(place.core, Some(context.core));
        assert_eq!((place.socket, place.node), (context.socket, context.node));
    }
    let numbered: Vec<(usize, usize)> = places
        .handlers
        .iter()
        .map(|place| (place.partition, place.handler))
        .collect();
    let all: Vec<(usize, usize)> = (0..request.partitions)
        .flat_map(|p| (0..request.handlers).map(move |h| (p, h)))
        .collect();
    assert_eq!(numbered, all);
    // CPUs available to handlers.
    let mut cores = BTreeSet::new();
    let usable: CpuSet = pool
        .iter()
        .filter(|&cpu| cores.insert(topology.context(cpu).unwrap().core) || request.smt)
        .collect();
    for cpu in loads.keys() {
        assert!(usable.contains(*cpu), "a second context of a core is used");
    }
    let given: CpuSet = loads.keys().copied().collect();
    assert_eq!(places.spare, usable.difference(&given));
    let most = loads.values().copied().max().unwrap();
    let least = usable
        .iter()
        .map(|cpu| loads.get(&cpu).copied().unwrap_or(0))
        .min()
        .unwrap();
    assert!(most <= 1 || most - least <= 1, "unequal: {loads:?}");
}

/// Returns the handlers by core.
fn by_core(places: &Places) -> BTreeMap<u32, Vec<&HandlerPlace>> {
    let mut cores: BTreeMap<u32, Vec<&HandlerPlace>> = BTreeMap::new();
    for place in &places.handlers {
        cores.entry(place.core.unwrap()).or_default().push(place);
    }
    cores
}

/// Returns the number of available cores, and the fewest and most contexts of a core.
fn cores(topology: &CpuTopology) -> (usize, usize, usize) {
    let mut contexts: BTreeMap<u32, usize> = BTreeMap::new();
    for cpu in &topology.allowed {
        *contexts
            .entry(topology.context(cpu).unwrap().core)
            .or_default() += 1;
    }
    let least = contexts.values().min().unwrap();
    let most = contexts.values().max().unwrap();
    (contexts.len(), *least, *most)
}

fn any_request() -> impl Strategy<Value = PlacementRequest> {
    let placement = proptest::sample::select(vec![Placement::Data, Placement::Query]);
    (placement, any::<bool>(), 1..9usize, 1..20usize).prop_map(
        |(placement, smt, partitions, handlers)| PlacementRequest {
            smt,
            ..request(placement, partitions, handlers)
        },
    )
}

proptest! {
    #[test]
    fn every_handler_gets_its_place(
        (name, _) in proptest::sample::select(&MACHINES[..]),
        mut request in any_request(),
        named in proptest::option::of(any::<u64>()),
    ) {
        let topology = machine(name);
        let named = named.map(|mask| -> CpuSet {
            topology.allowed.iter().filter(|cpu| mask >> (cpu % 64) & 1 == 1).collect()
        });
        request.cpus = named.filter(|cpus| !cpus.is_empty());
        let places = place(&topology, &request).unwrap();
        check_fairness(&topology, &request, &places);
    }

    /// Checks `data`: while there are enough cores, partitions share none, and each partition uses as
    /// few as possible.
    #[test]
    fn data_keeps_partitions_apart(
        (name, _) in proptest::sample::select(&MACHINES[..]),
        mut request in any_request(),
    ) {
        request.placement = Placement::Data;
        request.smt = true;
        let topology = machine(name);
        let places = place(&topology, &request).unwrap();
        let (cores, least, _) = cores(&topology);
        if request.partitions * request.handlers.div_ceil(least) > cores {
            return Ok(());
        }
        for (core, handlers) in by_core(&places) {
            let partitions: BTreeSet<usize> = handlers.iter().map(|p| p.partition).collect();
            prop_assert_eq!(partitions.len(), 1, "core {}\n{}", core, places);
        }
        for partition in 0..request.partitions {
            let mine = |handlers: &[&HandlerPlace]| handlers[0].partition == partition;
            let used = by_core(&places).values().filter(|handlers| mine(handlers)).count();
            prop_assert!(used <= request.handlers.div_ceil(least), "{}", places);
        }
    }

    /// Checks `query`: while there are enough cores, no core has two handlers of a partition, and
    /// partitions that meet do so for every handler.
    #[test]
    fn query_lets_partitions_meet(
        (name, _) in proptest::sample::select(&MACHINES[..]),
        mut request in any_request(),
    ) {
        request.placement = Placement::Query;
        request.smt = true;
        let topology = machine(name);
        let places = place(&topology, &request).unwrap();
        let (cores, least, most) = cores(&topology);
        let meeting = most.min(request.partitions);
        let rows = request.partitions.div_ceil(meeting) * request.handlers;
        if rows * meeting.div_ceil(least) > cores {
            return Ok(());
        }
        for (core, handlers) in by_core(&places) {
            let partitions: BTreeSet<usize> = handlers.iter().map(|p| p.partition).collect();
            prop_assert_eq!(partitions.len(), handlers.len(), "core {}\n{}", core, places);
            let numbers: BTreeSet<usize> = handlers.iter().map(|p| p.handler).collect();
            prop_assert_eq!(numbers.len(), 1, "core {}\n{}", core, places);
        }
    }
}

proptest! {
    /// Checks that every partition (or group that meets) stays on a node if it fits beside the others
    /// that start there.
    #[test]
    fn what_fits_on_a_node_stays_there(
        name in proptest::sample::select(&["two-sockets", "two-nodes"][..]),
        request in any_request(),
    ) {
        let contexts = if request.smt { 2 } else { 1 };
        // Cores per unit, and units: two nodes of eight cores.
        let (cores, units) = match request.placement {
            Placement::Query => (request.handlers, request.partitions.div_ceil(contexts)),
            _ => (request.handlers.div_ceil(contexts), request.partitions),
        };
        if cores * units.div_ceil(2) > 8 {
            return Ok(());
        }
        let places = place(&machine(name), &request).unwrap();
        for partition in 0..request.partitions {
            let mine = places.handlers.iter().filter(|place| place.partition == partition);
            let nodes: BTreeSet<_> = mine.map(|place| place.node).collect();
            prop_assert_eq!(nodes.len(), 1, "{}", places);
        }
    }
}

/// Checks both promises exactly on a full machine whose cores all have two contexts.
#[test]
fn a_full_machine_keeps_both_promises() {
    let topology = machine("two-sockets");
    for (partitions, handlers) in [(1, 32), (2, 16), (4, 8), (8, 4), (16, 2)] {
        let data = place(&topology, &request(Placement::Data, partitions, handlers)).unwrap();
        for handlers in by_core(&data).values() {
            let [a, b] = handlers[..] else {
                panic!("{data}")
            };
            assert_eq!(
                (a.partition, a.handler + 1),
                (b.partition, b.handler),
                "{data}"
            );
        }
        for partition in 0..partitions.min(handlers) {
            let nodes: BTreeSet<_> = data
                .handlers
                .iter()
                .filter(|place| place.partition == partition)
                .map(|place| place.node)
                .collect();
            assert_eq!(nodes.len(), if partitions == 1 { 2 } else { 1 }, "{data}");
        }
        if partitions > 1 {
            let query = place(&topology, &request(Placement::Query, partitions, handlers)).unwrap();
            for handlers in by_core(&query).values() {
                let [a, b] = handlers[..] else {
                    panic!("{query}")
                };
                assert_eq!(
                    (a.partition + 1, a.handler),
                    (b.partition, b.handler),
                    "{query}"
                );
            }
        }
    }
}
