//! Variable-length integers: seven bits a byte, low bits first, high bit set on all but the last.
//!
//! vint := { 1xxxxxxx } 0xxxxxxx        low seven bits first
//!
//! Example: 300 is `AC 02`; 0 is `00`; `u32::MAX` is `FF FF FF FF 0F`.
//! Invariant: one value, one form. A reader refuses a longer form of the same value (`80 00`), so bytes that decode
//! without error are the bytes that the writer wrote.
use crate::CodecError;

const WHAT: &str = "variable-length integer";

/// Appends `value`: 1 to 5 bytes.
#[inline]
pub fn write_u32(out: &mut Vec<u8>, value: u32) {
    write_u64(out, u64::from(value));
}

/// Appends `value`: 1 to 10 bytes.
#[inline]
pub fn write_u64(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads the integer at `*at` and moves `*at` past it. An error leaves `*at` where it was.
#[inline]
pub fn read_u32(bytes: &[u8], at: &mut usize) -> Result<u32, CodecError> {
    match read_short(bytes, at) {
        Some(value) => Ok(value),
        None => read_long(bytes, at, u64::from(u32::MAX)).map(|value| value as u32),
    }
}

/// Reads the integer at `*at` and moves `*at` past it. An error leaves `*at` where it was.
#[inline]
pub fn read_u64(bytes: &[u8], at: &mut usize) -> Result<u64, CodecError> {
    match read_short(bytes, at) {
        Some(value) => Ok(u64::from(value)),
        None => read_long(bytes, at, u64::MAX),
    }
}

/// Reads an integer of one or two bytes, as most gaps and frequencies are.
#[inline(always)]
fn read_short(bytes: &[u8], at: &mut usize) -> Option<u32> {
    match *bytes.get(*at..)? {
        [low, ..] if low < 0x80 => {
            *at += 1;
            Some(u32::from(low))
        }
        [low, high @ 1..0x80, ..] => {
            *at += 2;
            Some(u32::from(low & 0x7f) | u32::from(high) << 7)
        }
        _ => None,
    }
}

/// Reads an integer of any length, and reports every error.
fn read_long(bytes: &[u8], at: &mut usize, max: u64) -> Result<u64, CodecError> {
    let start = *at;
    let mut value = 0u64;
    let mut shift = 0u32;
    for &byte in bytes.get(start..).unwrap_or_default() {
        let low = u64::from(byte & 0x7f);
        // The tenth byte holds bit 63 alone.
        let fits = shift < 63 || (shift == 63 && low <= 1);
        value |= if fits { low << shift } else { 0 };
        if !fits || value > max {
            return Err(CodecError::TooLarge {
                at: start,
                what: WHAT,
                found: if fits { value } else { u64::MAX },
                max,
            });
        }
        shift += 7;
        if byte < 0x80 {
            if byte == 0 && shift > 7 {
                return Err(CodecError::Overlong {
                    at: start,
                    what: WHAT,
                });
            }
            *at = start + (shift / 7) as usize;
            return Ok(value);
        }
    }
    Err(CodecError::Truncated {
        at: start,
        what: WHAT,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(value: u64) -> Vec<u8> {
        let mut out = Vec::new();
        write_u64(&mut out, value);
        out
    }

    #[test]
    fn the_worked_examples_hold() {
        assert_eq!(written(300), [0xac, 0x02]);
        assert_eq!(written(0), [0]);
        assert_eq!(written(u64::from(u32::MAX)), [0xff, 0xff, 0xff, 0xff, 0x0f]);
        assert_eq!(written(u64::MAX).len(), 10);
    }

    #[test]
    fn what_no_writer_wrote_is_refused() {
        let too_large = |bytes: &[u8]| {
            let mut at = 0;
            let error = read_u32(bytes, &mut at).unwrap_err();
            assert_eq!(at, 0);
            matches!(error, CodecError::TooLarge { .. })
        };
        assert!(too_large(&written(1 << 32)));
        assert!(too_large(&written(u64::MAX)));
        assert!(too_large(&[0xff; 32]));
        for bytes in [&[0x80, 0][..], &[0xff, 0x80, 0][..], &[0x80; 9][..]] {
            let mut at = 0;
            assert!(read_u32(bytes, &mut at).is_err());
            assert!(read_u64(bytes, &mut at).is_err());
        }
        let mut eleven = vec![0xff; 9];
        eleven.push(2);
        assert!(matches!(
            read_u64(&eleven, &mut 0),
            Err(CodecError::TooLarge { .. })
        ));
        // Zero continuation bytes past bit 63 carry nothing, and are refused too.
        let mut zeros = vec![0x80; 40];
        zeros.push(0);
        assert!(read_u64(&zeros, &mut 0).is_err());
        assert!(read_u32(&zeros, &mut 0).is_err());
        assert!(matches!(
            read_u32(&[1, 2], &mut 2),
            Err(CodecError::Truncated { at: 2, .. })
        ));
        assert!(read_u32(&[], &mut usize::MAX.clone()).is_err());
    }

    proptest! {
        #[test]
        fn a_sequence_comes_back(values in prop::collection::vec((any::<u64>(), 0u32..64), 0..40)) {
            let values: Vec<u64> = values.into_iter().map(|(value, bits)| value >> bits).collect();
            let mut out = Vec::new();
            values.iter().for_each(|&value| write_u64(&mut out, value));
            let mut at = 0;
            for &value in &values {
                let mut again = at;
                let narrow = read_u32(&out, &mut again);
                prop_assert_eq!(narrow.ok().map(u64::from), u32::try_from(value).ok().map(u64::from));
                prop_assert_eq!(read_u64(&out, &mut at)?, value);
            }
            prop_assert_eq!(at, out.len());
        }

        #[test]
        fn any_bytes_give_a_value_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..16), start in 0usize..20) {
            let mut at = start;
            match read_u64(&bytes, &mut at) {
                Ok(value) => prop_assert_eq!(&written(value)[..], &bytes[start..at]),
                Err(_) => prop_assert_eq!(at, start),
            }
        }
    }
}
