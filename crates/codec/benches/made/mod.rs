//! Synthetic integers, the same in every run.
use codec::packed::BLOCK;

/// Number of blocks: more than one, to exercise branch prediction and cache, but within 32 KiB.
pub(crate) const BLOCKS: usize = 8;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32
    }
}

/// Uniform values below `2^bits`. The top bit is set often enough that exceptions never pay.
pub(crate) fn uniform(bits: u32) -> Vec<[u32; BLOCK]> {
    let mut random = Random(1 + u64::from(bits));
    let value = |_| random.next().checked_shr(32 - bits).unwrap_or(0);
    let values: Vec<u32> = (0..BLOCKS * BLOCK).map(value).collect();
    values.as_chunks().0.to_vec()
}

/// Gaps of a term that occurs at random in one of `mean` documents: a geometric distribution.
pub(crate) fn gaps(mean: f64) -> Vec<[u32; BLOCK]> {
    let mut random = Random(mean as u64);
    let value = |_| {
        let uniform = (f64::from(random.next()) + 1.0) / 4_294_967_297.0;
        (uniform.ln() / (1.0 - 1.0 / mean).ln()) as u32 + 1
    };
    let values: Vec<u32> = (0..BLOCKS * BLOCK).map(value).collect();
    values.as_chunks().0.to_vec()
}
