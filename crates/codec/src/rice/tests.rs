//! Agreement of every form with a bit-by-bit reference, for any part of a block.

use super::scalar::nth_one;
use super::*;
use crate::kernels::{self, RICE, RICE_ONE_BY_ONE, RICE_SUMS, RICE_SUMS_ONE_BY_ONE};
use proptest::prelude::*;

/// Reference decoder: one value after another, bit by bit.
fn slow(bytes: &[u8], count: usize) -> Option<Vec<u32>> {
    let (&bits, rest) = bytes.split_first()?;
    if bits == ZEROS {
        return Some(vec![0; count]);
    }
    let bit = |bytes: &[u8], at: usize| Some(u32::from(bytes.get(at / 8)? >> (at % 8) & 1));
    let bits = usize::from(bits);
    let highs_bytes = rest.len().checked_sub((count * bits).div_ceil(8))?;
    let (highs, lows) = rest.split_at(highs_bytes);
    let mut at = 0;
    (0..count)
        .map(|index| {
            let mut value = 0u32;
            while bit(highs, at)? == 0 {
                value = value.wrapping_add(1);
                at += 1;
            }
            at += 1;
            value = value.wrapping_shl(bits as u32);
            for low in 0..bits {
                value |= bit(lows, index * bits + low)? << low;
            }
            Some(value)
        })
        .collect()
}

fn check(bytes: &[u8], count: usize, from: usize, to: usize) {
    let kernels = [RICE, RICE_ONE_BY_ONE, RICE_SUMS, RICE_SUMS_ONE_BY_ONE];
    kernels::check_each_form(&kernels, || check_form(bytes, count, from, to));
}

fn check_form(bytes: &[u8], count: usize, from: usize, to: usize) {
    let expected = slow(bytes, count);
    let mut values = vec![0; to - from];
    let read = decode(bytes, count, from, &mut values);
    let mut sums = values.clone();
    let summed = decode_sums(bytes, count, from, 7, &mut sums);
    if let Some(expected) = expected {
        assert_eq!(read, Ok(()));
        assert_eq!(values, expected[from..to]);
        let mut sum = 7u32;
        for (value, found) in values.iter().zip(&sums) {
            sum = sum.wrapping_add(*value);
            assert_eq!(*found, sum);
        }
        assert_eq!(summed, Ok(()));
    }
    let (mut plain, mut plain_sums) = (values.clone(), sums.clone());
    for one_by_one in [decode_one_by_one, decode_any] {
        let plainly = one_by_one(bytes, count, from, &mut plain);
        assert_eq!(plainly.is_ok(), read.is_ok());
    }
    for one_by_one in [decode_sums_one_by_one, decode_sums_any] {
        let plainly = one_by_one(bytes, count, from, 7, &mut plain_sums);
        assert_eq!(plainly.is_ok(), summed.is_ok());
        if summed.is_ok() {
            assert_eq!(plain_sums, sums);
        }
    }
    if read.is_ok() {
        assert_eq!(plain, values);
    }
}

#[test]
fn the_worked_example_holds() {
    let mut out = Vec::new();
    encode(&[5, 0, 13, 2], &mut out);
    assert_eq!(out, [0x02, 0xc6, 0x91]);
    out.clear();
    encode(&[0; 9], &mut out);
    assert_eq!(out, [ZEROS]);
}

fn values() -> impl Strategy<Value = Vec<u32>> {
    let shifted = (any::<u32>(), 0u32..32).prop_map(|(value, shift)| value >> shift);
    let small = 0u32..200;
    prop_oneof![
        prop::collection::vec(small, 1..=256),
        prop::collection::vec(prop_oneof![40 => 0u32..50, 1 => shifted], 1..=256),
    ]
}

proptest! {
    #[test]
    fn any_part_comes_back(values in values(), cut in any::<[prop::sample::Index; 2]>()) {
        let mut out = Vec::new();
        encode(&values, &mut out);
        prop_assert!(out.len() <= 2 + values.len() * 33 / 8);
        let count = values.len();
        prop_assert_eq!(slow(&out, count), Some(values));
        let [one, other] = cut.map(|cut| cut.index(count + 1));
        check(&out, count, one.min(other), one.max(other));
        check(&out, count, 0, count);
    }

    #[test]
    fn any_bytes_give_values_or_an_error(
        mut bytes in prop::collection::vec(any::<u8>(), 0..60),
        bits in 0u8..33,
        count in 1usize..=256,
        cut in any::<[prop::sample::Index; 2]>(),
    ) {
        if let Some(first) = bytes.first_mut() {
            *first = bits;
        }
        let [one, other] = cut.map(|cut| cut.index(count + 1));
        if bits <= 31 {
            check(&bytes, count, one.min(other), one.max(other));
        }
        prop_assert!(decode(&[33], count, 0, &mut [0]).is_err());
    }

    #[test]
    fn a_one_is_found(word in any::<u64>(), mask in any::<u64>()) {
        let word = word & mask;
        let ones: Vec<u32> = (0..64).filter(|at| word >> at & 1 == 1).collect();
        for (before, &at) in (0..).zip(&ones) {
            prop_assert_eq!(nth_one(word, before), at);
        }
    }
}
