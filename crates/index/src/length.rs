//! Document lengths in a byte.

/// The byte for a length in words: monotone; exact up to 39, then four significant bits.
pub fn quantize(_length: u32) -> u8 {
    unimplemented!()
}
/// The length that a byte stands for: the smallest that `quantize`s to it.
pub fn dequantize(_byte: u8) -> u32 {
    unimplemented!()
}
