//! Hash table of a dictionary: keys, hashes, buckets and checks.

use crate::{Field, uint};
use xxhash_rust::xxh3::xxh3_64;

/// Places of a bucket.
pub(super) const PLACES: usize = 16;

/// Mean number of terms in a bucket.
pub(super) const BUCKET_TERMS: u64 = 14;

/// Hash of a term, by which dictionaries find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermHash(pub(super) u32);

impl TermHash {
    /// Returns the hash of a term of a field.
    pub fn of(field: Field, term: &str) -> TermHash {
        with_key(field, term, |key| key.hash)
    }
}

/// Key of a term in dictionaries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TermKey<'a> {
    /// The field's byte, and the term.
    pub(crate) bytes: &'a [u8],
    pub(crate) hash: TermHash,
}

impl<'a> TermKey<'a> {
    #[inline]
    pub(crate) fn of(bytes: &'a [u8]) -> TermKey<'a> {
        let hash = TermHash(hash_of(bytes));
        TermKey { bytes, hash }
    }
}

/// Calls `with` with the key of a term.
#[inline]
pub(crate) fn with_key<R>(field: Field, term: &str, with: impl FnOnce(TermKey<'_>) -> R) -> R {
    /// Length up to which a key needs no allocation, in bytes.
    const SHORT_MAX: usize = 64;
    let mut short = [0; SHORT_MAX];
    if let Some(key) = short.get_mut(..=term.len()) {
        key[0] = field.number();
        key[1..].copy_from_slice(term.as_bytes());
        return with(TermKey::of(key));
    }
    with(TermKey::of(&[&[field.number()], term.as_bytes()].concat()))
}

/// Returns the places whose check is `check`, as bits.
#[inline]
pub(super) fn places_of(checks: &[u8; PLACES], check: u8) -> u32 {
    let (halves, _) = checks.as_chunks::<8>();
    let places = halves.iter().enumerate().map(|(half, checks)| {
        let differing = u64::from_le_bytes(*checks) ^ (LOW_BITS * u64::from(check));
        // The highest bit of each byte that is zero, and nothing else: no byte carries into the next.
        let same = !(((differing & !HIGH_BITS) + !HIGH_BITS) | differing | !HIGH_BITS);
        // Bit 8 i of the factor moves to bit 56 + i.
        (((same >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32) << (8 * half)
    });
    places.fold(0, |all, some| all | some)
}

/// The lowest bit of each byte.
const LOW_BITS: u64 = u64::MAX / 255;
/// The highest bit of each byte.
const HIGH_BITS: u64 = LOW_BITS << 7;

#[inline]
pub(super) fn hash_of(key: &[u8]) -> u32 {
    xxh3_64(key) as u32
}

#[inline]
pub(super) fn check_of(hash: u32) -> u8 {
    1 + (hash % 255) as u8
}

#[inline]
pub(super) fn bucket_of(hash: u32, buckets_count: u64) -> u64 {
    (u64::from(hash) * buckets_count) >> 32
}

#[inline]
pub(super) fn buckets_of(terms_count: u64) -> u64 {
    terms_count / BUCKET_TERMS + 1
}

#[inline]
pub(super) fn bucket_bytes(width: usize) -> usize {
    PLACES * (1 + width)
}

/// Returns the bytes of a block's number, at least 1.
#[inline]
pub(super) fn width_of(blocks_count: u64) -> usize {
    uint::width_of(blocks_count).max(1)
}
