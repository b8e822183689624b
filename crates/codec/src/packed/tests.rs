//! Tests of packed blocks: round trips, agreement of the twins, and errors for damaged blocks.
use super::*;
use crate::kernels::{self, Kernel};
use proptest::prelude::*;

fn encoded(values: &[u32; BLOCK]) -> Vec<u8> {
    let mut out = Vec::new();
    encode(values, &mut out);
    out
}

/// Checks that the plain encoder writes the same bytes as the form in use.
fn check_encoders(values: &[u32; BLOCK]) {
    let mut out = Vec::new();
    encode::encode_any(values, &mut out);
    assert_eq!(out, encoded(values));
}

/// Returns all kernels that write or read packed blocks.
fn kernels() -> Vec<Kernel> {
    let of_widths = (0..=32).flat_map(|bits| [kernels::unpack(bits), kernels::unpack_sum(bits)]);
    of_widths
        .chain([kernels::ENCODE, kernels::PREFIX_SUM])
        .collect()
}

/// Passes a block through every function that reads one, in every form, and returns its length in bytes.
fn check(values: &[u32; BLOCK], base: u32) -> usize {
    let mut length = 0;
    kernels::check_each_form(&kernels(), || length = check_form(values, base));
    length
}

fn check_form(values: &[u32; BLOCK], base: u32) -> usize {
    check_encoders(values);
    let mut bytes = encoded(values);
    let length = bytes.len();
    let mut sums = *values;
    scalar::prefix_sum(&mut sums, base);
    for _ in 0..2 {
        let mut read = [0xdead_beef; BLOCK];
        assert_eq!(encoded_bytes(&bytes), Ok(length));
        assert_eq!(decode(&bytes, &mut read), Ok(length));
        assert_eq!(&read, values);
        assert_eq!(decode_gaps(&bytes, base, &mut read), Ok(length));
        assert_eq!(read, sums);
        for (from, count) in [(0, BLOCK), (base as usize % 200, 40), (255, 1), (7, 0)] {
            let some = &mut read[..count];
            assert_eq!(decode_each(&bytes, (from..).zip(&mut *some)), Ok(()));
            assert_eq!(some, &values[from..from + count]);
        }
        // Once more, with bytes behind the block.
        bytes.extend([0xff; 9]);
    }
    for cut in (0..length).step_by(1 + length / 40) {
        let mut read = [0; BLOCK];
        assert!(decode(&bytes[..cut], &mut read).is_err(), "cut at {cut}");
        assert!(decode_gaps(&bytes[..cut], 0, &mut read).is_err());
        assert!(encoded_bytes(&bytes[..cut]).is_err());
    }
    length
}

#[test]
fn the_worked_examples_hold() {
    assert_eq!(encoded(&[7; BLOCK]), [0x40, 7]);
    let mut values = [0; BLOCK];
    values.iter_mut().step_by(8).for_each(|value| *value = 1);
    values[9] = 3;
    let mut bytes = vec![1, 1, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0];
    bytes.extend([0; 24]);
    bytes.extend([9, 1]);
    assert_eq!(encoded(&values), bytes);
    check(&values, 5);
}

#[test]
fn edges_come_back_in_the_bytes_expected() {
    assert_eq!(check(&[0; BLOCK], 1), 2);
    assert_eq!(check(&[127; BLOCK], u32::MAX), 2);
    assert_eq!(check(&[u32::MAX; BLOCK], u32::MAX), 6);
    for bits in 1..=32 {
        let largest = u32::MAX >> (32 - bits);
        let mut values = [largest; BLOCK];
        values[255] -= 1;
        assert_eq!(check(&values, 0), 2 + 32 * bits as usize, "{bits} bits");
        // One large value in a block of zeros.
        let mut values = [0; BLOCK];
        values[bits as usize] = largest;
        assert!(check(&values, 0) <= 8);
    }
    // 255 exceptions are allowed. They pay only among values of few bits.
    let mut values = [1u32; BLOCK];
    values[0] = 0;
    check(&values, 9);
}

#[test]
fn the_width_chosen_makes_the_block_smallest() {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state
    };
    for _ in 0..300 {
        let narrow = next() >> 27;
        let wide_every = 2 + (next() >> 26);
        let values: [u32; BLOCK] = std::array::from_fn(|_| {
            let bits = if next() >> 8 & 63 < 64 / wide_every.min(64) {
                32
            } else {
                narrow.max(1)
            };
            next() >> (32 - bits)
        });
        let smallest = (0..=32)
            .filter_map(|bits| {
                let highs = values.map(|value| u64::from(value) >> bits);
                let exceptions = highs.iter().filter(|&&high| high != 0).count();
                let bytes = |high: u64| {
                    let mut out = Vec::new();
                    vint::write_u64(&mut out, high);
                    1 + out.len()
                };
                let exception_bytes: usize = highs
                    .iter()
                    .filter(|&&high| high != 0)
                    .map(|&high| bytes(high))
                    .sum();
                (exceptions <= 255).then_some(2 + 32 * bits + exception_bytes)
            })
            .min();
        assert_eq!(Some(encoded(&values).len()), smallest);
    }
}

#[test]
fn damaged_headers_and_exceptions_are_refused() {
    let mut values = [0; BLOCK];
    for bytes in [
        &[][..],
        &[0],
        &[33, 0],
        &[0x41, 1],
        &[255; 2000],
        &[0x40],
        &[0x40, 0x80, 0],
        &[0, 1, 9],
        &[0, 1, 9, 0],
        &[0, 1, 9, 0x80],
    ] {
        assert!(decode(bytes, &mut values).is_err(), "{bytes:?}");
        assert!(encoded_bytes(bytes).is_err(), "{bytes:?}");
    }
    // A high part that would shift bits out.
    for bits in 1..=32u8 {
        let mut bytes = vec![bits, 1];
        bytes.resize(2 + 32 * usize::from(bits), 0);
        bytes.push(0);
        vint::write_u64(&mut bytes, 1 << (32 - bits));
        assert!(matches!(
            decode(&bytes, &mut values),
            Err(CodecError::TooLarge { .. })
        ));
    }
}

/// Blocks of a base width with some wider values among them, as gaps and frequencies are.
fn blocks() -> impl Strategy<Value = [u32; BLOCK]> {
    let value = (any::<u32>(), 0u32..1000);
    (
        prop::collection::vec(value, BLOCK),
        0u32..=32,
        0u32..=32,
        prop_oneof![Just(0u32), 0u32..100, 0u32..=1000],
    )
        .prop_map(|(raw, narrow, wide, wide_per_mille)| {
            std::array::from_fn(|i| {
                let (value, dice) = raw[i];
                let bits = if dice < wide_per_mille { wide } else { narrow };
                (u64::from(value) & ((1 << bits) - 1)) as u32
            })
        })
}

proptest! {
    #[test]
    fn any_block_comes_back(values in blocks(), base: u32) {
        check(&values, base);
    }

    #[test]
    fn any_bytes_give_values_or_an_error(
        header in prop::collection::vec(any::<u8>(), 0..2),
        bits in 0u8..36,
        exceptions in prop_oneof![Just(0u8), 0u8..4, any::<u8>()],
        rest in prop::collection::vec(any::<u8>(), 0..1200),
    ) {
        let mut bytes = vec![bits, exceptions];
        bytes.extend(rest);
        for bytes in [&header[..], &bytes] {
            let mut values = [0; BLOCK];
            let mut sums = [0; BLOCK];
            let read = decode(bytes, &mut values);
            prop_assert_eq!(encoded_bytes(bytes), read);
            prop_assert_eq!(decode_gaps(bytes, 77, &mut sums), read);
            let mut some = [0; 9];
            let some_read = decode_each(bytes, (200..).zip(&mut some));
            if let Ok(length) = read {
                prop_assert!(length <= bytes.len());
                prop_assert_eq!(some_read, Ok(()));
                let mut plain = [0; BLOCK];
                prop_assert_eq!(decode(bytes, &mut plain), read);
                prop_assert_eq!(&some, &plain[200..209]);
                scalar::prefix_sum(&mut values, 77);
                prop_assert_eq!(values, sums);
            }
        }
    }

    #[test]
    fn every_form_of_every_width_is_the_scalar_one(
        payload in prop::collection::vec(any::<u8>(), 1024),
        base: u32,
    ) {
        kernels::in_each_form(&kernels(), || {
            for bits in 0..=32 {
                let (mut slow, mut fast) = ([1; BLOCK], [2; BLOCK]);
                let payload = &payload[..ROW_BYTES * bits];
                scalar::unpack(bits, payload, &mut slow);
                unpack(bits, payload, &mut fast);
                prop_assert_eq!(slow, fast);
                prefix_sum(&mut fast, base);
                scalar::prefix_sum(&mut slow, base);
                prop_assert_eq!(slow, fast);
                fast.fill(3);
                unpack_sum(bits, payload, base, &mut fast);
                prop_assert_eq!(slow, fast);
            }
            Ok(())
        })?;
    }
}
