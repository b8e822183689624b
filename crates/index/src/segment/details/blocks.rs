//! Details in blocks, as segments of before have them.
//!
//! ```text
//! details := block{documents / 128, rounded up}       offsets := end:u64le{blocks}
//! block   := bytes:u32le lz4{ row{1..=128} }          bytes: of the rows, uncompressed
//! row     := url id title                             each: bytes:vint utf8; an empty id means the URL
//! ```

use super::row::Row;
use crate::row_text::{decompress, read_text};
use crate::section::Section;
use codec::vint;

/// Documents of a block.
const BLOCK_DOCUMENTS: usize = 128;

/// Returns the length of the offsets.
pub(super) fn offsets_bytes(documents_count: u32) -> usize {
    (documents_count as usize).div_ceil(BLOCK_DOCUMENTS) * 8
}

/// Returns the offset of the block of a document.
pub(super) fn offset(offsets: &Section, doc: u32) -> u64 {
    let before = (doc as usize / BLOCK_DOCUMENTS).checked_sub(1);
    before.map_or(0, |before| offsets.read_u64(before * 8))
}

/// Reader of rows, which keeps the block that it read last.
#[derive(Default)]
pub(super) struct BlocksReader {
    /// Number of the block in `rows`; `None` before the first one and after an error.
    block: Option<usize>,
    rows: Vec<u8>,
}

impl BlocksReader {
    /// Returns the row of a document that the segment has; `None` on damage.
    pub(super) fn row(
        &mut self,
        details: &Section,
        offsets: &Section,
        doc: u32,
    ) -> Option<Row<'_>> {
        let block = doc as usize / BLOCK_DOCUMENTS;
        if self.block != Some(block) {
            self.block = None;
            let start = usize::try_from(offset(offsets, doc)).ok()?;
            let end = usize::try_from(offsets.read_u64(block * 8)).ok()?;
            decompress(details.get(start..end)?, &mut self.rows)?;
            self.block = Some(block);
        }
        read_row(&self.rows, doc as usize % BLOCK_DOCUMENTS)
    }
}

/// Returns a row of a decompressed block.
fn read_row(rows: &[u8], row: usize) -> Option<Row<'_>> {
    let mut at = 0;
    for _ in 0..row * 3 {
        // Texts of earlier rows are skipped.
        let bytes = usize::try_from(vint::read_u64(rows, &mut at).ok()?).ok()?;
        at = at.checked_add(bytes)?;
    }
    Some(Row {
        url: read_text(rows, &mut at)?,
        id: read_text(rows, &mut at)?,
        title: read_text(rows, &mut at)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row_text::write_text;
    use proptest::prelude::*;

    type Texts = [String; 3];

    fn block_of(rows: &[Texts]) -> Vec<u8> {
        let mut texts = Vec::new();
        rows.iter()
            .flatten()
            .for_each(|text| write_text(&mut texts, text));
        lz4_flex::block::compress_prepend_size(&texts)
    }

    fn row(number: usize) -> Texts {
        [
            format!("http://h{}.test/{}", number % 7, number * number),
            format!("id-{number}"),
            format!("{number} words"),
        ]
    }

    fn check(rows: &[Texts]) {
        let mut unpacked = Vec::new();
        decompress(&block_of(rows), &mut unpacked).unwrap();
        for (at, [url, id, title]) in rows.iter().enumerate() {
            assert_eq!(read_row(&unpacked, at), Some(Row { url, id, title }));
        }
        assert_eq!(read_row(&unpacked, rows.len()), None);
    }

    #[test]
    fn rows_of_any_length_come_back() {
        check(&(0..BLOCK_DOCUMENTS).map(row).collect::<Vec<_>>());
        // A title that takes hardly a byte when compressed.
        check(&[["u".to_owned(), String::new(), "a".repeat(30_000_000)]]);
    }

    #[test]
    fn a_size_that_cannot_be_is_not_believed() {
        let block = block_of(&[row(1)]);
        let told = u32::from_le_bytes(block[..4].try_into().unwrap());
        let of_size = |bytes: u32| [&bytes.to_le_bytes(), &block[4..]].concat();
        let mut out = Vec::new();
        assert_eq!(decompress(&of_size(told), &mut out), Some(()));
        for bytes in [0, told + 1, 1 << 20, 1 << 30, u32::MAX] {
            assert_eq!(decompress(&of_size(bytes), &mut out), None, "{bytes}");
        }
        assert!(out.capacity() < 8 << 20);
    }

    proptest! {
        #[test]
        fn damage_never_panics(at in 0usize..1000, to in any::<u8>(), end in 0usize..1000) {
            let rows: Vec<Texts> = (0..BLOCK_DOCUMENTS).map(row).collect();
            let mut block = block_of(&rows);
            let at = at % block.len();
            block[at] = to;
            block.truncate(block.len() - end % 7);
            let mut unpacked = Vec::new();
            if decompress(&block, &mut unpacked).is_some() {
                for row in 0..=BLOCK_DOCUMENTS {
                    let _ = read_row(&unpacked, row);
                }
            }
        }
    }
}
