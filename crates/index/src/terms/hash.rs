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
        TermHash(with_key(field, term, hash_of))
    }
}

/// Calls `with` with the key of a term: the field's byte, and the term.
pub(crate) fn with_key<R>(field: Field, term: &str, with: impl FnOnce(&[u8]) -> R) -> R {
    /// Length up to which a key needs no allocation, in bytes.
    const SHORT_MAX: usize = 64;
    let mut short = [0; SHORT_MAX];
    if let Some(key) = short.get_mut(..=term.len()) {
        key[0] = field.number();
        key[1..].copy_from_slice(term.as_bytes());
        return with(key);
    }
    with(&[&[field.number()], term.as_bytes()].concat())
}

/// Returns the places whose check is `check`, as bits.
#[inline]
pub(super) fn places_of(checks: &[u8; PLACES], check: u8) -> u32 {
    let mut places = 0;
    for (place, &found) in checks.iter().enumerate() {
        places |= u32::from(found == check) << place;
    }
    places
}

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
