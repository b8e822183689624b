//! Details: the URL, id and title of every document, in small compressed blocks.
//!
//! ```text
//! details := block{documents / 128, rounded up}       offsets := end:u64le{blocks}
//! block   := bytes:u32le lz4{ row{1..=128} }          bytes: of the rows, uncompressed
//! row     := url id title                            each: bytes:vint utf8; an empty id means the URL
//! ```
//!
//! Why 128: URLs of neighbours compress each other, and 10 KB still decompress in 5 µs.

use super::write::DocumentRow;
use crate::spill::Spill;
use crate::{Details, IndexError};
use codec::vint;

/// Documents in a block.
pub(crate) const BLOCK_DOCUMENTS: usize = 128;

pub(crate) struct DetailsWriter {
    blocks: Spill,
    offsets: Spill,
    rows: Vec<u8>,
    rows_count: usize,
}

impl DetailsWriter {
    pub(crate) fn new(blocks: Spill, offsets: Spill) -> DetailsWriter {
        DetailsWriter {
            blocks,
            offsets,
            rows: Vec::new(),
            rows_count: 0,
        }
    }

    pub(crate) fn push(&mut self, row: DocumentRow<'_>) -> Result<(), IndexError> {
        for text in [row.url, row.id.unwrap_or(""), row.title] {
            write_text(&mut self.rows, text);
        }
        self.rows_count += 1;
        if self.rows_count == BLOCK_DOCUMENTS {
            self.end_block()?;
        }
        Ok(())
    }

    fn end_block(&mut self) -> Result<(), IndexError> {
        self.blocks
            .write(&lz4_flex::block::compress_prepend_size(&self.rows))?;
        self.offsets.write(&self.blocks.bytes().to_le_bytes())?;
        self.rows.clear();
        self.rows_count = 0;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<(Spill, Spill), IndexError> {
        if self.rows_count > 0 {
            self.end_block()?;
        }
        Ok((self.blocks, self.offsets))
    }
}

/// Appends a length and the text.
pub(crate) fn write_text(out: &mut Vec<u8>, text: &str) {
    vint::write_u64(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Reads what `write_text` wrote; `None` on damage.
pub(crate) fn read_text<'a>(bytes: &'a [u8], at: &mut usize) -> Option<&'a str> {
    let length = usize::try_from(vint::read_u64(bytes, at).ok()?).ok()?;
    let text = bytes.get(*at..at.checked_add(length)?)?;
    *at += length;
    std::str::from_utf8(text).ok()
}

/// Decompresses a block written with its size before it; `None` on damage. The size is believed only
/// as far as LZ4 could have reached it, so a damaged one cannot ask for gigabytes.
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

/// The row of document `row` of a decompressed block.
pub(crate) fn read_row(rows: &[u8], row: usize) -> Option<Details> {
    let mut at = 0;
    for _ in 0..row * 3 {
        // Texts of other rows are passed over unread.
        let bytes = usize::try_from(vint::read_u64(rows, &mut at).ok()?).ok()?;
        at = at.checked_add(bytes)?;
    }
    let url = read_text(rows, &mut at)?;
    let id = read_text(rows, &mut at)?;
    let title = read_text(rows, &mut at)?;
    Some(Details {
        id: if id.is_empty() { url } else { id }.to_owned(),
        url: url.to_owned(),
        title: title.to_owned(),
        site: corpus::site_of(url),
    })
}
