//! Filter of a run: whether a key may be in it, without a look at its blocks.
//!
//! A split block Bloom filter (Putze, Sanders, Singler: Cache-, Hash- and Space-Efficient Bloom Filters, 2007; the
//! layout is that of Apache Parquet): the upper half of a key's hash chooses a group of eight 32-bit words, the lower
//! half one bit of each. With ten bits a key about one absent key in a hundred seems to be there; no present one is missed.
//!
//! filter := group*      group := u32le × 8
use xxhash_rust::xxh3::xxh3_64;

const BITS_PER_KEY: usize = 10;
const GROUP_BYTES: usize = 32;
const GROUP_BITS: usize = 8 * GROUP_BYTES;
/// Odd multipliers, one a word: those of Apache Parquet.
const SALTS: [u32; 8] = [
    0x47b6_137b,
    0x4497_4d91,
    0x8824_ad5b,
    0xa2b7_289d,
    0x7054_95c7,
    0x2df1_424b,
    0x9efc_4947,
    0x5c6b_fb31,
];

/// Returns the hash of a key that filters take.
pub(super) fn filter_hash(key: &[u8]) -> u64 {
    xxh3_64(key)
}

fn group_of(hash: u64, groups: usize) -> usize {
    (((hash >> 32) * groups as u64) >> 32) as usize
}

fn bit(hash: u64, word: usize) -> u32 {
    1 << ((hash as u32).wrapping_mul(SALTS[word]) >> 27)
}

/// Filter that is filled.
pub(super) struct FilterBuilder {
    groups: Vec<[u32; 8]>,
}

impl FilterBuilder {
    /// Makes room for `keys_max` keys.
    pub(super) fn new(keys_max: u64) -> FilterBuilder {
        let groups = (keys_max as usize * BITS_PER_KEY).div_ceil(GROUP_BITS);
        FilterBuilder {
            groups: vec![[0; 8]; groups.max(1)],
        }
    }

    pub(super) fn add(&mut self, key: &[u8]) {
        let hash = filter_hash(key);
        let group = group_of(hash, self.groups.len());
        for (word, bits) in self.groups[group].iter_mut().enumerate() {
            *bits |= bit(hash, word);
        }
    }

    /// Appends the filter.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        for bits in self.groups.as_flattened() {
            out.extend_from_slice(&bits.to_le_bytes());
        }
    }
}

/// Returns whether the key with this hash may be in a filter. A filter shorter than one group admits every key.
pub(super) fn may_contain(filter: &[u8], hash: u64) -> bool {
    let groups = filter.len() / GROUP_BYTES;
    if groups == 0 {
        return true;
    }
    let start = group_of(hash, groups) * GROUP_BYTES;
    let words = filter[start..start + GROUP_BYTES].as_chunks().0.iter();
    words
        .enumerate()
        .all(|(word, bytes)| u32::from_le_bytes(*bytes) & bit(hash, word) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u32) -> Vec<u8> {
        format!("example.host-{}\0/page/{number}", number / 50).into_bytes()
    }

    #[test]
    fn no_key_is_missed_and_few_others_seem_to_be_there() {
        for keys in [0, 1, 7, 100, 20_000] {
            let mut builder = FilterBuilder::new(u64::from(keys));
            (0..keys).for_each(|number| builder.add(&key(number)));
            let mut filter = Vec::new();
            builder.encode(&mut filter);
            assert!(filter.len() <= keys as usize * BITS_PER_KEY / 8 + GROUP_BYTES);
            let seems = |number: u32| may_contain(&filter, filter_hash(&key(number)));
            assert!((0..keys).all(seems), "of {keys}");
            let false_ones = (keys..keys + 20_000)
                .filter(|&number| seems(number))
                .count();
            assert!(false_ones < 400, "{false_ones} of 20,000 with {keys}");
        }
        assert!(may_contain(&[], 7), "no filter permits each key");
    }
}
