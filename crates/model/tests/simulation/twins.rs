//! Agreement of the engine with its twin query by query, and of all layouts for equal parts.

use crate::support::{both, drawn, poisson, ran};
use model::simulate::assignment::Fifo;
use model::simulate::recursion::Sharing;
use model::simulate::{Distribution, Layout, Machine, Settings, Split};

#[test]
fn the_engine_equals_its_twin_query_by_query() {
    let mut compared = 0;
    for (cores, parts) in [
        (1, 1),
        (8, 1),
        (8, 2),
        (8, 4),
        (8, 8),
        (3, 3),
        (4, 8),
        (70, 7),
    ] {
        for split in [Split::perfect(parts), Split::independent(parts)] {
            let mut layouts = vec![(Layout::Shared, Sharing::Shared)];
            if parts <= cores {
                layouts.push((Layout::Gang, Sharing::Gang));
                let groups = parts;
                if cores % groups == 0 {
                    layouts.push((Layout::Pinned { groups }, Sharing::Pinned { groups }));
                }
            }
            for (layout, sharing) in layouts {
                let times = drawn(50.0, Distribution::Exponential, split);
                let (engine, twin) = both(cores, layout, sharing, times, 18.0 * cores as f64);
                for (idx, (a, b)) in engine.iter().zip(&twin).enumerate() {
                    let near = (a - b).abs() <= 1e-6 * (1.0 + b);
                    assert!(
                        near,
                        "{cores} cores, {split:?}, {layout:?}, query {idx}: {a} {b}"
                    );
                }
                compared += engine.len();
            }
        }
    }
    assert_eq!(compared, 44 * 5_000);
}

#[test]
fn equal_parts_make_all_layouts_the_same() {
    for rate in [80.0, 120.0, 150.0] {
        for parts in [1, 2, 4, 8] {
            let times = drawn(50.0, Distribution::Exponential, Split::perfect(parts));
            let mut settings = Settings::new(Machine::of_cores(8), poisson(rate), times, 20_000);
            settings.keep_order = true;
            let mut of = |layout| {
                settings.layout = layout;
                ran(&settings, &mut Fifo { degree: parts }).in_order_ms
            };
            let shared = of(Layout::Shared);
            assert_eq!(shared, of(Layout::Gang), "{rate} {parts}");
            assert_eq!(
                shared,
                of(Layout::Pinned { groups: parts }),
                "{rate} {parts}"
            );
        }
    }
}
