//! Details: the URL, id and title of every document, in small compressed blocks.
//!
//! ```text
//! details := block{documents / 128, rounded up}       offsets := end:u64le{blocks}
//! block   := bytes:u32le lz4{ row{1..=128} }          bytes: of the rows, uncompressed
//! row     := url id title                            each: bytes:vint utf8; an empty id means the URL
//! ```
//!
//! Why 128: URLs of neighbours compress each other, and 10 KB still decompress in 5 µs.

use crate::IndexError;
use crate::row_text::{read_text, write_text};
use crate::spill::Spill;
use codec::vint;

/// Documents of a block.
pub(crate) const BLOCK_DOCUMENTS: usize = 128;

/// Metadata of a hit without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Details {
    /// The document's own id, or its URL.
    pub id: String,
    /// URL.
    pub url: String,
    /// Title.
    pub title: String,
    /// Site.
    pub site: String,
}

/// Data of a document, besides its words, for the writer of a segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DocumentRow<'a> {
    pub(crate) url: &'a str,
    /// Own id; `None` where it is the URL.
    pub(crate) id: Option<&'a str>,
    pub(crate) title: &'a str,
    pub(crate) url_hash: u64,
    pub(crate) site_hash: u64,
    /// Hash of the text, which is 0 where it is not known.
    pub(crate) text_hash: u64,
    /// Words by field, in the order of `Field::WITH_LENGTHS`.
    pub(crate) lengths: [u32; 2],
}

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

/// Returns the details of document `row` of a decompressed block.
pub(crate) fn read_row(rows: &[u8], row: usize) -> Option<Details> {
    let mut at = 0;
    for _ in 0..row * 3 {
        // Texts of earlier rows are skipped.
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
        site: document::site_of(url),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row_text::decompress;
    use proptest::prelude::*;
    use std::sync::Arc;
    use vfs::{MemoryStorage, SharedStorage};

    type Row = (String, Option<String>, String);

    /// Returns the blocks of some documents.
    fn written(rows: &[Row]) -> Vec<Vec<u8>> {
        let storage: SharedStorage = Arc::new(MemoryStorage::new());
        let spill = |name: &str| Spill::new(&storage, name.to_owned());
        let mut writer = DetailsWriter::new(spill("details"), spill("offsets"));
        for (url, id, title) in rows {
            let row = DocumentRow {
                url,
                id: id.as_deref(),
                title,
                url_hash: 0,
                site_hash: 0,
                text_hash: 0,
                lengths: [0; 2],
            };
            writer.push(row).unwrap();
        }
        let (blocks, offsets) = writer.finish().unwrap();
        let (blocks, offsets) = (
            blocks.into_region().unwrap(),
            offsets.into_region().unwrap(),
        );
        let ends = offsets
            .chunks_exact(8)
            .map(|end| crate::sealed::read_u64(end, 0) as usize);
        let mut start = 0;
        ends.map(|end| blocks[std::mem::replace(&mut start, end)..end].to_vec())
            .collect()
    }

    fn check(rows: &[Row]) {
        let blocks = written(rows);
        assert_eq!(blocks.len(), rows.len().div_ceil(BLOCK_DOCUMENTS));
        let mut unpacked = Vec::new();
        for (block, rows) in blocks.iter().zip(rows.chunks(BLOCK_DOCUMENTS)) {
            decompress(block, &mut unpacked).unwrap();
            for (at, (url, id, title)) in rows.iter().enumerate() {
                let details = read_row(&unpacked, at).unwrap();
                let id = id.as_ref().filter(|id| !id.is_empty()).unwrap_or(url);
                assert_eq!(
                    (&details.url, &details.id, &details.title),
                    (url, id, title)
                );
                assert_eq!(details.site, document::site_of(url));
            }
            assert_eq!(read_row(&unpacked, rows.len()), None);
        }
    }

    fn row(number: usize) -> Row {
        let url = format!("http://h{}.test/{}", number % 7, number * number);
        (
            url,
            number.is_multiple_of(3).then(|| format!("id-{number}")),
            format!("{number} words"),
        )
    }

    #[test]
    fn rows_of_any_number_and_length_come_back() {
        for count in [
            0,
            1,
            BLOCK_DOCUMENTS,
            BLOCK_DOCUMENTS + 1,
            3 * BLOCK_DOCUMENTS,
        ] {
            check(&(0..count).map(row).collect::<Vec<_>>());
        }
        // A title that takes hardly a byte when compressed.
        check(&[("u".to_owned(), None, "a".repeat(30_000_000))]);
    }

    #[test]
    fn a_size_that_cannot_be_is_not_believed() {
        let [block] = &written(&[row(1)])[..] else {
            panic!("one block")
        };
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
        fn rows_come_back(rows in prop::collection::vec((".*", prop::option::of(".*"), ".{0,40}"), 0..300)) {
            check(&rows);
        }

        #[test]
        fn damage_never_panics(at in 0usize..1000, to in any::<u8>(), end in 0usize..1000) {
            let rows: Vec<Row> = (0..BLOCK_DOCUMENTS).map(row).collect();
            let mut block = written(&rows).remove(0);
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
