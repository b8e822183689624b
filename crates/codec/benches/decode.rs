//! Encoding and decoding rates of the codecs, in integers a second from the first-level cache.
//! The reference is the memory bandwidth, in integers of 4 bytes a second: a faster codec is not a search's bottleneck.
mod made;

use codec::packed::{self, BLOCK};
use codec::{docs, lanes, tail, vint};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use made::{BLOCKS, gaps, uniform};
use std::hint::black_box;

fn encoded(blocks: &[[u32; BLOCK]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    blocks
        .iter()
        .for_each(|block| packed::encode(block, &mut bytes));
    bytes
}

fn bench_blocks(criterion: &mut Criterion) {
    let sets = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32]
        .map(|bits| (format!("{bits} bits"), uniform(bits)));
    let geometric =
        [2.0, 10.0, 100.0, 10_000.0].map(|mean| (format!("gaps of {mean}"), gaps(mean)));
    for (name, blocks) in sets.into_iter().chain(geometric) {
        let bytes = encoded(&blocks);
        let mut group = criterion.benchmark_group("packed");
        group.throughput(Throughput::Elements((BLOCKS * BLOCK) as u64));
        group.bench_function(BenchmarkId::new("decode", &name), |bencher| {
            let mut values = [0; BLOCK];
            bencher.iter(|| {
                let mut at = 0;
                while at < bytes.len() {
                    at +=
                        packed::decode(black_box(&bytes[at..]), &mut values).unwrap_or(usize::MAX);
                    black_box(&mut values);
                }
            });
        });
        group.bench_function(BenchmarkId::new("decode_gaps", &name), |bencher| {
            let mut values = [0; BLOCK];
            bencher.iter(|| {
                let mut at = 0;
                while at < bytes.len() {
                    at += packed::decode_gaps(black_box(&bytes[at..]), 7, &mut values)
                        .unwrap_or(usize::MAX);
                    black_box(&mut values);
                }
            });
        });
        group.bench_function(BenchmarkId::new("encode", &name), |bencher| {
            let mut out = Vec::new();
            bencher.iter(|| {
                out.clear();
                black_box(&blocks)
                    .iter()
                    .for_each(|block| packed::encode(block, &mut out));
            });
        });
    }
}

fn bench_scalar(criterion: &mut Criterion) {
    let payload = encoded(&uniform(32));
    let mut group = criterion.benchmark_group("scalar twin");
    group.throughput(Throughput::Elements(BLOCK as u64));
    for bits in [1, 4, 7, 8, 13, 32] {
        group.bench_function(BenchmarkId::new("unpack", bits), |bencher| {
            let mut values = [0; BLOCK];
            bencher
                .iter(|| packed::scalar::unpack(bits, black_box(&payload), black_box(&mut values)));
        });
    }
    group.bench_function("prefix_sum", |bencher| {
        let mut values = [1; BLOCK];
        bencher.iter(|| packed::scalar::prefix_sum(black_box(&mut values), 7));
    });
}

fn bench_vint(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("vint");
    group.throughput(Throughput::Elements((BLOCKS * BLOCK) as u64));
    for bits in [7, 14, 32] {
        let mut bytes = Vec::new();
        for value in uniform(bits).as_flattened() {
            vint::write_u32(&mut bytes, *value);
        }
        group.bench_function(BenchmarkId::new("read_u32", bits), |bencher| {
            bencher.iter(|| {
                let (mut at, mut sum) = (0, 0u32);
                while let Ok(value) = vint::read_u32(black_box(&bytes), &mut at) {
                    sum = sum.wrapping_add(value);
                }
                sum
            });
        });
    }
}

/// Blocks of bits, of dense documents: decoding all 256 documents, and joining the bits into a window undecoded.
fn bench_bits(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("bits");
    group.throughput(Throughput::Elements((BLOCKS * BLOCK) as u64));
    for mean in [1.5, 3.0, 5.0] {
        let mut bytes = Vec::new();
        for block in gaps(mean) {
            docs::encode(u32::MAX, &block, &mut bytes);
        }
        let name = format!("gaps of {mean}");
        group.bench_function(BenchmarkId::new("decode", &name), |bencher| {
            let mut values = [0; BLOCK];
            bencher.iter(|| {
                let mut at = 0;
                while at < bytes.len() {
                    at += docs::decode(black_box(&bytes[at..]), u32::MAX, &mut values)
                        .unwrap_or(usize::MAX);
                    black_box(&mut values);
                }
            });
        });
        let is_bits = |at: usize| matches!(docs::Bits::read(&bytes[at..], u32::MAX), Ok(Some(_)));
        assert!(is_bits(0), "blocks of {name} are not of bits");
        group.bench_function(BenchmarkId::new("join_into", &name), |bencher| {
            let mut window = [0; 256];
            bencher.iter(|| {
                let mut at = 0;
                while let Ok(Some(bits)) = docs::Bits::read(black_box(&bytes[at..]), u32::MAX) {
                    bits.join_into(&mut window, 0);
                    black_box(&mut window);
                    at += docs::encoded_bytes(&bytes[at..]).unwrap_or(usize::MAX);
                }
            });
        });
    }
}

/// Postings of a tail: documents and frequencies. Every fourth frequency is not 1.
fn bench_tail(criterion: &mut Criterion) {
    const POSTINGS: usize = BLOCK - 1;
    let mut group = criterion.benchmark_group("tail");
    group.throughput(Throughput::Elements(POSTINGS as u64));
    for mean in [10.0, 1000.0] {
        let mut bytes = Vec::new();
        for (index, gap) in gaps(mean).as_flattened()[..POSTINGS].iter().enumerate() {
            let once = !index.is_multiple_of(4);
            vint::write_u32(&mut bytes, gap << 1 | u32::from(once));
            if !once {
                vint::write_u32(&mut bytes, 2 + index as u32 % 7);
            }
        }
        group.bench_function(
            BenchmarkId::new("decode", format!("gaps of {mean}")),
            |bencher| {
                let (mut docs, mut frequencies) = ([0; POSTINGS], [0; POSTINGS]);
                bencher.iter(|| {
                    let mut at = 0;
                    let read = tail::decode(
                        black_box(&bytes),
                        &mut at,
                        u32::MAX,
                        &mut docs,
                        &mut frequencies,
                    );
                    black_box((&mut docs, &mut frequencies));
                    read.is_ok()
                });
            },
        );
    }
}

/// The cost of reading alone: the addition costs next to nothing.
fn bench_memory(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("memory bandwidth");
    for (name, integers_count) in [
        ("first-level cache", 4 << 10),
        ("memory, 256 MiB", 64 << 20),
    ] {
        let integers = vec![1u32; integers_count];
        group.throughput(Throughput::Elements(integers_count as u64));
        group.bench_function(BenchmarkId::new("sum", name), |bencher| {
            bencher.iter(|| lanes::sum(black_box(&integers)));
        });
    }
}

criterion_group!(
    benches,
    bench_memory,
    bench_blocks,
    bench_scalar,
    bench_vint,
    bench_bits,
    bench_tail
);
criterion_main!(benches);
