//! Texts of rows, each after its length, and the compressed blocks that hold rows.

use codec::vint;

/// Appends the length of `text` and its bytes.
pub(crate) fn write_text(out: &mut Vec<u8>, text: &str) {
    vint::write_u64(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Reads a text written by `write_text`; `None` on damage.
pub(crate) fn read_text<'a>(bytes: &'a [u8], at: &mut usize) -> Option<&'a str> {
    let length = usize::try_from(vint::read_u64(bytes, at).ok()?).ok()?;
    let text = bytes.get(*at..at.checked_add(length)?)?;
    *at += length;
    std::str::from_utf8(text).ok()
}

/// Decompresses a block written with its size before it; `None` on damage. Sizes beyond the highest compression ratio
/// of LZ4 are refused, so a damaged size cannot allocate gigabytes.
pub(crate) fn decompress(block: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let bytes = crate::sealed::read_u32(block, 0) as usize;
    let compressed = block.get(4..)?;
    if bytes > compressed.len().saturating_mul(256).saturating_add(64) {
        return None;
    }
    if out.len() < bytes {
        out.resize(bytes, 0);
    }
    let written = lz4_flex::block::decompress_into(compressed, &mut out[..bytes]).ok()?;
    out.truncate(bytes);
    (written == bytes).then_some(())
}
