//! Blocks of 256 integers, bit-packed.
//!
//! ```text
//! block    := packed | constant
//! packed   := bits:u8(0..=32) exceptions:u8 payload index:u8*exceptions high:vint*exceptions
//! payload  := row*bits
//! row      := word:u32le * 8            word w of each of the 8 lanes, 32 bytes together
//! constant := 40 value:vint             256 times the same value
//! ```
//!
//! An exception is an index and a high part: value[index] |= high << bits.
//!
//! Value `i` is row `i / 8` of lane `i % 8`. A lane packs the low `bits` bits of its 32 values one
//! after another, lowest bits first, into `bits` words.
//!
//! Example: 256 × 7 is `40 07`. 1 in lane 0, 0 elsewhere, but value 9 is 3:
//! `01 01  FF FF FF FF  02 00 00 00  00 × 24  09  01` (36 bytes).
//!
//! Invariants: `bits` is the width that makes the block smallest; a high part is never 0 and never shifts bits out;
//! decoding any bytes gives values or an error, and reads nothing past the slice.
//!
//! Why eight lanes: a row is one 256-bit register, so a shift and a mask give eight neighbouring values, ready to
//! store. Why exceptions: one large gap among 256 must not widen the other 255. Why their indexes stand together: a
//! reader of one value searches the indexes alone.
//! Zukowski et al. 2006 (patched frame of reference); Lemire & Boytsov 2015 (vertical layout).
use crate::{CodecError, vint};

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod encode;
mod layout;
#[cfg(target_arch = "aarch64")]
mod neon;
pub mod scalar;
#[cfg(test)]
mod tests;

pub use encode::encode;
pub use layout::BLOCK;
use layout::CONSTANT;
pub(crate) use layout::ROW_BYTES;

/// Decodes the block at the start of `bytes` and returns the number of bytes read.
/// After an error the content of `values` is unspecified.
#[inline]
pub fn decode(bytes: &[u8], values: &mut [u32; BLOCK]) -> Result<usize, CodecError> {
    match Header::read(bytes)? {
        Header::Constant { value, end } => {
            values.fill(value);
            Ok(end)
        }
        Header::Packed(packed) => {
            unpack(packed.bits, packed.payload, values);
            packed.patch(bytes, values)
        }
    }
}

/// Decodes the block at the start of `bytes` and turns its gaps into values: [`decode`] followed by
/// [`prefix_sum`], in one pass where the block has no exceptions.
#[inline]
pub fn decode_gaps(
    bytes: &[u8],
    base: u32,
    values: &mut [u32; BLOCK],
) -> Result<usize, CodecError> {
    match Header::read(bytes)? {
        Header::Constant { value, end } => {
            let mut sum = base;
            for slot in values.iter_mut() {
                sum = sum.wrapping_add(value);
                *slot = sum;
            }
            Ok(end)
        }
        Header::Packed(packed) if packed.exceptions.is_empty() => {
            unpack_sum(packed.bits, packed.payload, base, values);
            Ok(packed.end)
        }
        Header::Packed(packed) => {
            unpack(packed.bits, packed.payload, values);
            let end = packed.patch(bytes, values)?;
            prefix_sum(values, base);
            Ok(end)
        }
    }
}

/// Decodes the values at the given indexes, below 256, of the block at the start of `bytes`. Of the other values it
/// reads only the exceptions.
#[inline]
pub fn decode_each<'v>(
    bytes: &[u8],
    wanted: impl Iterator<Item = (usize, &'v mut u32)>,
) -> Result<(), CodecError> {
    match Header::read(bytes)? {
        Header::Constant { value, .. } => wanted.for_each(|(_, slot)| *slot = value),
        Header::Packed(packed) => {
            for (index, slot) in wanted {
                *slot = scalar::unpack_one(packed.bits, packed.payload, index % BLOCK);
                for (number, &exception) in packed.exceptions.iter().enumerate() {
                    if usize::from(exception) == index {
                        *slot |= packed.high_of(bytes, number)?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// Returns the length in bytes of the block at the start of `bytes`, without decoding its payload.
/// Returns an error exactly where [`decode`] does.
pub fn encoded_bytes(bytes: &[u8]) -> Result<usize, CodecError> {
    match Header::read(bytes)? {
        Header::Constant { end, .. } => Ok(end),
        Header::Packed(packed) => packed.for_each_exception(bytes, |_, _| ()),
    }
}

/// Turns gaps into values in place: `values[0] += base`, `values[i] += values[i - 1]` (wrapping).
#[inline]
pub fn prefix_sum(values: &mut [u32; BLOCK], base: u32) {
    #[cfg(target_arch = "x86_64")]
    match crate::kernels::PREFIX_SUM.form() {
        crate::processor::Level::Avx512 => {
            // SAFETY: the processor supports the target features of this function.
            return unsafe { avx512::prefix_sum(values, base) };
        }
        crate::processor::Level::Avx2 => {
            // SAFETY: as above.
            return unsafe { avx2::prefix_sum(values, base) };
        }
        _ => {}
    }
    #[cfg(target_arch = "aarch64")]
    if crate::kernels::PREFIX_SUM.form() == crate::processor::Level::Neon {
        // SAFETY: the processor supports the target features of this function.
        return unsafe { neon::prefix_sum(values, base) };
    }
    scalar::prefix_sum(values, base);
}

/// The part of a block before its payload.
enum Header<'a> {
    Constant { value: u32, end: usize },
    Packed(Packed<'a>),
}

struct Packed<'a> {
    /// Bit width, 0 to 32.
    bits: usize,
    /// The packed low bits, exactly `ROW_BYTES * bits` bytes.
    payload: &'a [u8],
    /// Indexes of the values with a high part.
    exceptions: &'a [u8],
    /// Offset of the first high part, in bytes.
    end: usize,
}

impl<'a> Header<'a> {
    #[inline]
    fn read(bytes: &'a [u8]) -> Result<Header<'a>, CodecError> {
        let what = "block header";
        let (bits, exceptions) = match *bytes {
            [CONSTANT, ..] => {
                let mut end = 1;
                let value = vint::read_u32(bytes, &mut end)?;
                return Ok(Header::Constant { value, end });
            }
            [bits, exceptions, ..] => (usize::from(bits), usize::from(exceptions)),
            _ => return Err(CodecError::Truncated { at: 0, what }),
        };
        if bits > 32 {
            return Err(CodecError::TooLarge {
                at: 0,
                what: "bit width",
                found: bits as u64,
                max: 32,
            });
        }
        let end = 2 + ROW_BYTES * bits + exceptions;
        let Some((payload, exceptions)) = bytes
            .get(2..end)
            .and_then(|rest| rest.split_at_checked(ROW_BYTES * bits))
        else {
            let what = "block payload";
            return Err(CodecError::Truncated { at: 2, what });
        };
        Ok(Header::Packed(Packed {
            bits,
            payload,
            exceptions,
            end,
        }))
    }
}

impl Packed<'_> {
    /// Adds the high parts to the values and returns the offset of the block's end.
    #[inline]
    fn patch(&self, bytes: &[u8], values: &mut [u32; BLOCK]) -> Result<usize, CodecError> {
        let count = self.exceptions.len();
        // Most high parts are one byte, and up to this width every one-byte high part fits.
        if self.bits <= 25
            && let Some(highs) = bytes.get(self.end..self.end + count)
            && highs.iter().all(|high| high.wrapping_sub(1) < 0x7f)
        {
            for (&index, &high) in self.exceptions.iter().zip(highs) {
                values[usize::from(index)] |= u32::from(high) << self.bits;
            }
            return Ok(self.end + count);
        }
        self.for_each_exception(bytes, |index, high| values[usize::from(index)] |= high)
    }

    /// Calls `visit(index, high << bits)` for each exception and returns the offset of the block's end.
    #[inline]
    fn for_each_exception(
        &self,
        bytes: &[u8],
        mut visit: impl FnMut(u8, u32),
    ) -> Result<usize, CodecError> {
        let mut at = self.end;
        for &index in self.exceptions {
            visit(index, self.high(bytes, &mut at)? << self.bits);
        }
        Ok(at)
    }

    /// Returns the high part of exception `number`, shifted into place.
    #[cold]
    fn high_of(&self, bytes: &[u8], number: usize) -> Result<u32, CodecError> {
        let mut at = self.end;
        for _ in 0..number {
            self.high(bytes, &mut at)?;
        }
        Ok(self.high(bytes, &mut at)? << self.bits)
    }

    /// Reads the high part at `*at` and moves `*at` past it.
    #[inline]
    fn high(&self, bytes: &[u8], at: &mut usize) -> Result<u32, CodecError> {
        // At 32 bits no high part is possible, and every one is too large.
        let max = (u64::from(u32::MAX) >> self.bits) as u32;
        let start = *at;
        let high = vint::read_u32(bytes, at)?;
        if high.wrapping_sub(1) >= max {
            return Err(bad_exception(start, high, max));
        }
        Ok(high)
    }
}

#[cold]
fn bad_exception(at: usize, high: u32, max: u32) -> CodecError {
    match high {
        0 => CodecError::Overlong {
            at,
            what: "block exception",
        },
        _ => CodecError::TooLarge {
            at,
            what: "high part of a block exception",
            found: u64::from(high),
            max: u64::from(max),
        },
    }
}

/// Unpacks the values of a payload of `bits` rows, at most 32.
#[inline]
pub(crate) fn unpack(bits: usize, payload: &[u8], values: &mut [u32; BLOCK]) {
    #[cfg(target_arch = "x86_64")]
    match crate::kernels::unpack(bits).form() {
        crate::processor::Level::Avx512 => {
            // SAFETY: the processor supports the target features of this function.
            return unsafe { avx512::UNPACK[bits](payload, 0, values) };
        }
        crate::processor::Level::Avx2 => {
            // SAFETY: as above.
            return unsafe { avx2::UNPACK[bits](payload, 0, values) };
        }
        _ => {}
    }
    #[cfg(target_arch = "aarch64")]
    if crate::kernels::unpack(bits).form() == crate::processor::Level::Neon {
        // SAFETY: the processor supports the target features of this function.
        return unsafe { neon::UNPACK[bits](payload, 0, values) };
    }
    scalar::unpack(bits, payload, values);
}

/// Unpacks the gaps of a payload of `bits` rows, at most 32, and sums them from `base` on.
#[inline]
pub(crate) fn unpack_sum(bits: usize, payload: &[u8], base: u32, values: &mut [u32; BLOCK]) {
    #[cfg(target_arch = "x86_64")]
    match crate::kernels::unpack_sum(bits).form() {
        crate::processor::Level::Avx512 => {
            // SAFETY: the processor supports the target features of this function.
            return unsafe { avx512::UNPACK_SUM[bits](payload, base, values) };
        }
        crate::processor::Level::Avx2 => {
            // SAFETY: as above.
            return unsafe { avx2::UNPACK_SUM[bits](payload, base, values) };
        }
        _ => {}
    }
    #[cfg(target_arch = "aarch64")]
    if crate::kernels::unpack_sum(bits).form() == crate::processor::Level::Neon {
        // SAFETY: the processor supports the target features of this function.
        return unsafe { neon::UNPACK_SUM[bits](payload, base, values) };
    }
    scalar::unpack(bits, payload, values);
    scalar::prefix_sum(values, base);
}
