//! Throughput of the loops over decoded blocks: intersecting, scoring, counting and joining bits.
mod made;

use codec::packed::{self, BLOCK};
use codec::sorted::{self, Pairs};
use codec::{bits, lanes};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use made::{BLOCKS, gaps, uniform};
use std::hint::black_box;

/// Blocks of increasing documents with a mean gap of `mean`, each block counted from document 0.
fn documents(mean: f64) -> Vec<[u32; BLOCK]> {
    let mut blocks = gaps(mean);
    for block in &mut blocks {
        packed::prefix_sum(block, u32::MAX);
    }
    blocks
}

/// Intersection of a block with wanted documents of several densities; the block holds every other wanted document.
fn bench_intersect(criterion: &mut Criterion) {
    let blocks = documents(10.0);
    let mut group = criterion.benchmark_group("intersect");
    type Form = fn(&[u32], &[u32; BLOCK], &mut Pairs) -> usize;
    let forms: [(&str, Form); 2] = [
        ("vectors", sorted::intersect),
        ("scalar twin", sorted::intersect_scalar),
    ];
    for ratio in [1, 2, 4, 8, 16, 32, 64, 128, 256] {
        let wanted: Vec<Vec<u32>> = blocks
            .iter()
            .map(|block| {
                let every = block.iter().skip(ratio / 2).step_by(ratio).enumerate();
                let mut wanted: Vec<u32> = every
                    .map(|(number, doc)| doc + (number % 2) as u32)
                    .collect();
                wanted.dedup();
                wanted
            })
            .collect();
        let wanted_count: usize = wanted.iter().map(Vec::len).sum();
        group.throughput(Throughput::Elements(wanted_count as u64));
        for (name, form) in forms {
            group.bench_function(BenchmarkId::new(name, format!("1:{ratio}")), |bencher| {
                let mut pairs = Pairs::default();
                bencher.iter(|| {
                    let all = wanted.iter().zip(&blocks);
                    let found =
                        all.map(|(wanted, block)| form(wanted, black_box(block), &mut pairs));
                    found.sum::<usize>()
                });
            });
        }
    }
}

fn bench_score(criterion: &mut Criterion) {
    let frequencies: Vec<u32> = uniform(3)
        .as_flattened()
        .iter()
        .map(|one| one + 1)
        .collect();
    let lengths = uniform(8);
    let factors = lengths
        .as_flattened()
        .iter()
        .map(|&length| 0.3 + length as f32 / 200.0);
    let factors: Vec<f32> = factors.collect();
    let mut scores = vec![0.0; BLOCKS * BLOCK];
    let mut group = criterion.benchmark_group("score");
    group.throughput(Throughput::Elements((BLOCKS * BLOCK) as u64));
    group.bench_function("saturate", |bencher| {
        bencher.iter(|| {
            let frequencies = black_box(&frequencies);
            lanes::saturate(5.5, 1024.0, frequencies, &factors, &mut scores);
            black_box(&mut scores);
        });
    });
    for share in [1, 10, 50] {
        let least = 5.5 * (1.0 - share as f32 / 100.0);
        let name = format!("{share} % of the highest");
        group.bench_function(BenchmarkId::new("at_least", name), |bencher| {
            let mut kept = [0; BLOCK];
            bencher.iter(|| {
                let blocks = black_box(&scores).as_chunks::<BLOCK>().0.iter();
                let counts = blocks.map(|scores| lanes::at_least(scores, least, &mut kept));
                counts.sum::<usize>()
            });
        });
    }
}

/// Bit operations on a window of 16,384 documents, the window size of searches.
fn bench_bits(criterion: &mut Criterion) {
    const WORDS: usize = 256;
    let words: Vec<u64> = (0..WORDS as u64)
        .map(|at| at.wrapping_mul(0x9E37_79B9_7F4A_7C15))
        .collect();
    let mut window = vec![0; WORDS];
    let mut group = criterion.benchmark_group("bits");
    group.throughput(Throughput::Elements(WORDS as u64 * 64));
    group.bench_function("count", |bencher| {
        bencher.iter(|| bits::count(black_box(&words)));
    });
    group.bench_function("join", |bencher| {
        let bytes: Vec<[u8; 8]> = words.iter().map(|word| word.to_le_bytes()).collect();
        bencher.iter(|| bits::join(black_box(&mut window), &bytes));
    });
    group.bench_function("intersect", |bencher| {
        bencher.iter(|| bits::intersect(black_box(&mut window), &words));
    });
    let documents = documents(10.0);
    group.throughput(Throughput::Elements((BLOCKS * BLOCK) as u64));
    group.bench_function("set", |bencher| {
        bencher.iter(|| {
            for block in &documents {
                bits::set(black_box(&mut window), 0, block);
            }
        });
    });
}

criterion_group!(benches, bench_intersect, bench_score, bench_bits);
criterion_main!(benches);
