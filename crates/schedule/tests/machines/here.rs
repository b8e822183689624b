//! Topology of the machine that runs this test, and pinning of its handlers.
#![cfg(target_os = "linux")]

use schedule::{CpuSet, CpuTopology, Placement, PlacementRequest, place};
use vfs::platform::{SystemTree, pin_current_thread};

#[test]
fn handlers_are_pinned_where_they_were_placed() {
    let tree = SystemTree::default();
    let topology = CpuTopology::read(|path| tree.read(path).map_err(|error| error.to_string()));
    assert!(!topology.allowed.is_empty(), "{topology}");
    for placement in [Placement::Data, Placement::Query] {
        let request = PlacementRequest {
            placement,
            smt: true,
            cpus: None,
            partitions: 2,
            handlers: 2,
        };
        for handler in place(&topology, &request).unwrap().handlers {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let really: CpuSet = pin_current_thread(&handler.cpus).unwrap();
                    assert_eq!(really, handler.cpus);
                });
            });
        }
    }
}
