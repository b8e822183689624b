//! How many integers a second do the codecs read and write, from the first-level cache?
use codec::packed::{self, BLOCK};
use codec::vint;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

/// A few blocks, so that branch prediction and the cache see more than one, within 32 KiB.
const BLOCKS: usize = 8;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32
    }
}

/// Every value below `2^bits`, the top bit set often enough that no exceptions pay.
fn uniform(bits: u32) -> Vec<[u32; BLOCK]> {
    let mut random = Random(1 + u64::from(bits));
    let value = |_| random.next().checked_shr(32 - bits).unwrap_or(0);
    let values: Vec<u32> = (0..BLOCKS * BLOCK).map(value).collect();
    values.as_chunks().0.to_vec()
}

/// Gaps of a term that is in one of `mean` documents at random: a geometric distribution.
fn gaps(mean: f64) -> Vec<[u32; BLOCK]> {
    let mut random = Random(mean as u64);
    let value = |_| {
        let uniform = (f64::from(random.next()) + 1.0) / 4_294_967_297.0;
        (uniform.ln() / (1.0 - 1.0 / mean).ln()) as u32 + 1
    };
    let values: Vec<u32> = (0..BLOCKS * BLOCK).map(value).collect();
    values.as_chunks().0.to_vec()
}

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

criterion_group!(benches, bench_blocks, bench_scalar, bench_vint);
criterion_main!(benches);
