//! Simulated queries per second on one core.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use model::simulate::assignment::Fifo;
use model::simulate::{Arrivals, Distribution, Layout, Machine, Settings, Split, Times, run};

fn simulate(c: &mut Criterion) {
    let queries = 200_000;
    let mut group = c.benchmark_group("simulate");
    group.sample_size(10);
    group.throughput(Throughput::Elements(queries as u64));
    for parts in [1, 2, 4, 8] {
        for (name, layout, machine) in [
            ("shared", Layout::Shared, Machine::of_cores(8)),
            (
                "pinned",
                Layout::Pinned { groups: parts },
                Machine::of_cores(8),
            ),
            ("gang", Layout::Gang, Machine::of_cores(8)),
            ("smt", Layout::Shared, Machine::of_smt_cores(8, 1.5)),
        ] {
            let mut settings = Settings::new(
                machine,
                Arrivals::Poisson { rate_per_s: 120.0 },
                Times::Drawn {
                    mean_ms: 50.0,
                    distribution: Distribution::Lognormal { cv2: 2.0 },
                    split: Split::perfect(parts),
                },
                queries,
            );
            settings.layout = layout;
            group.bench_with_input(BenchmarkId::new(name, parts), &settings, |b, settings| {
                b.iter(|| {
                    run(settings, &mut Fifo { degree: parts })
                        .unwrap()
                        .quantile_ms(0.99)
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, simulate);
criterion_main!(benches);
