//! Quantised document lengths, one byte each.
//!
//! A length below 24 is its own byte. Higher bytes are floating-point numbers with three bits of mantissa under an
//! implied one. The scheme is that of Lucene's `SmallFloat.intToByte4`, so scores are comparable with Lucene's.

/// Lengths that are their own byte: the codes of 256 that the floating-point numbers of 31 bits leave.
const EXACT: u32 = 24;

/// Returns the byte for a length in words: monotone, exact up to 40, then four significant bits.
pub fn quantize(length: u32) -> u8 {
    if length < EXACT {
        return length as u8;
    }
    let rest = length - EXACT;
    let bits = 32 - rest.leading_zeros();
    let code = if bits < 4 {
        rest
    } else {
        (rest >> (bits - 4)) & 7 | (bits - 3) << 3
    };
    // Lengths near 2^32 would need codes over 255; they saturate.
    (EXACT + code).min(255) as u8
}

/// Returns the smallest length that `quantize` maps to `byte`.
pub const fn dequantize(byte: u8) -> u32 {
    let byte = byte as u32;
    if byte < EXACT {
        return byte;
    }
    let code = byte - EXACT;
    let rest = if code < 8 {
        code
    } else {
        (code & 7 | 8) << ((code >> 3) - 1)
    };
    EXACT + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_the_quantum_of_its_length() {
        for byte in 0..=255u8 {
            assert_eq!(quantize(dequantize(byte)), byte);
        }
    }

    #[test]
    fn quantizing_is_monotone_exact_when_short_and_within_an_eighth_when_long() {
        let mut before = 0;
        for length in 0..200_000 {
            let byte = quantize(length);
            assert!(byte >= before);
            before = byte;
            let back = dequantize(byte);
            assert!(
                back <= length && length - back <= length / 8,
                "{length} became {back}"
            );
            assert!(length > 40 || back == length);
        }
        assert_eq!(quantize(u32::MAX), quantize(u32::MAX - 1));
    }
}
