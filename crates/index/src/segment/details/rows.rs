//! Details in rows, each of which is read alone.
//!
//! ```text
//! details := group{documents / 4096, rounded up}      offsets := { end:u32le }{documents} { start:u64le }{groups}
//! group   := row{1..=4096} symbols symbols            of URLs and ids, then of titles
//! row     := url_bytes:vint id_bytes:vint url id title      texts in symbols; an empty id means the URL
//! ```
//!
//! `end` of a row is counted from the start of its group, where the first row begins. The symbols follow the last row.

use super::row::{DocumentRow, Row, Wanted};
use super::symbols::{self, Symbols};
use crate::IndexError;
use crate::section::Section;
use crate::spill::Spill;
use codec::vint;

/// Documents of a group, whose texts share their symbols.
const GROUP_DOCUMENTS: usize = 4096;

/// Returns the length of the offsets.
pub(super) fn offsets_bytes(documents_count: u32) -> usize {
    let documents = documents_count as usize;
    documents * 4 + documents.div_ceil(GROUP_DOCUMENTS) * 8
}

/// Returns the offset of the group of a document.
pub(super) fn offset(offsets: &Section, documents_count: u32, doc: u32) -> u64 {
    offsets.read_u64(documents_count as usize * 4 + doc as usize / GROUP_DOCUMENTS * 8)
}

/// Reader of rows.
#[derive(Default)]
pub(super) struct RowsReader {
    texts: Vec<u8>,
}

impl RowsReader {
    /// Returns what is wanted of the row of a document that the segment has, other texts empty; `None` on damage.
    pub(super) fn row(
        &mut self,
        details: &Section,
        offsets: &Section,
        documents_count: u32,
        doc: u32,
        wanted: Wanted,
    ) -> Option<Row<'_>> {
        let group = usize::try_from(offset(offsets, documents_count, doc)).ok()?;
        let (doc, documents) = (doc as usize, documents_count as usize);
        let end_of = |doc: usize| group.checked_add(offsets.read_u32(doc * 4) as usize);
        let start = match doc % GROUP_DOCUMENTS {
            0 => group,
            _ => end_of(doc - 1)?,
        };
        let row = details.get(start..end_of(doc)?)?;
        let mut at = 0;
        let url_bytes = usize::try_from(vint::read_u64(row, &mut at).ok()?).ok()?;
        let id_bytes = usize::try_from(vint::read_u64(row, &mut at).ok()?).ok()?;
        let (url, rest) = row.get(at..)?.split_at_checked(url_bytes)?;
        let (id, title) = rest.split_at_checked(id_bytes)?;

        let last = (doc / GROUP_DOCUMENTS + 1) * GROUP_DOCUMENTS;
        let mut symbols_at = end_of(last.min(documents) - 1)?;
        let of_urls = symbols(details, &mut symbols_at)?;
        self.texts.clear();
        let mut ends = [0; 2];
        if wanted != Wanted::Title {
            of_urls.decode(url, &mut self.texts)?;
            ends[0] = self.texts.len();
            of_urls.decode(id, &mut self.texts)?;
            ends[1] = self.texts.len();
        }
        if wanted != Wanted::Url {
            symbols(details, &mut symbols_at)?.decode(title, &mut self.texts)?;
        }
        let texts = std::str::from_utf8(&self.texts).ok()?;
        Some(Row {
            url: texts.get(..ends[0])?,
            id: texts.get(ends[0]..ends[1])?,
            title: texts.get(ends[1]..)?,
        })
    }
}

/// Reads symbols at a place of the details, and moves it behind them.
fn symbols<'s>(details: &'s Section, at: &mut usize) -> Option<Symbols<'s>> {
    let start = *at;
    let count = *details.get(start..start.checked_add(1)?)?.first()?;
    *at = start.checked_add(Symbols::bytes_of(count))?;
    Symbols::read(details.get(start..*at)?, &mut 0)
}

/// Writer of the details of a segment, in the order of its documents.
pub(crate) struct DetailsWriter {
    groups: Spill,
    ends: Spill,
    /// Starts of the groups.
    starts: Vec<u64>,
    /// Texts of the documents of the group under construction.
    texts: Vec<u8>,
    /// Ends of the URL, the id and the title of each of them.
    text_ends: Vec<[usize; 3]>,
}

impl DetailsWriter {
    pub(crate) fn new(groups: Spill, ends: Spill) -> DetailsWriter {
        DetailsWriter {
            groups,
            ends,
            starts: Vec::new(),
            texts: Vec::new(),
            text_ends: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, row: DocumentRow<'_>) -> Result<(), IndexError> {
        let ends = [row.url, row.id.unwrap_or(""), row.title].map(|text| {
            self.texts.extend_from_slice(text.as_bytes());
            self.texts.len()
        });
        self.text_ends.push(ends);
        if self.text_ends.len() == GROUP_DOCUMENTS {
            self.end_group()?;
        }
        Ok(())
    }

    fn end_group(&mut self) -> Result<(), IndexError> {
        let (mut urls, mut titles) = (Vec::new(), Vec::new());
        let mut start = 0;
        for &[url, id, title] in &self.text_ends {
            urls.extend([&self.texts[start..url], &self.texts[url..id]]);
            titles.push(&self.texts[id..title]);
            start = title;
        }
        let mut table = Vec::new();
        let [urls, titles] = [urls, titles].map(|texts| symbols::encode(&texts, &mut table));
        let start = self.groups.bytes();
        let mut row = Vec::new();
        for (of_url, title) in urls.chunks_exact(2).zip(&titles) {
            row.clear();
            for text in of_url {
                vint::write_u64(&mut row, text.len() as u64);
            }
            of_url.iter().for_each(|text| row.extend_from_slice(text));
            row.extend_from_slice(title);
            self.groups.write(&row)?;
            let end = u32::try_from(self.groups.bytes() - start);
            let end = end.map_err(|_| self.too_large())?;
            self.ends.write(&end.to_le_bytes())?;
        }
        self.groups.write(&table)?;
        self.starts.push(start);
        self.texts.clear();
        self.text_ends.clear();
        Ok(())
    }

    fn too_large(&self) -> IndexError {
        let reason = format!(
            "the URLs and titles of {GROUP_DOCUMENTS} documents take over 4 GiB; shorten them"
        );
        IndexError::Mismatch {
            path: self.groups.folder(),
            reason,
        }
    }

    /// Returns the details and their offsets.
    pub(crate) fn finish(mut self) -> Result<(Spill, Spill), IndexError> {
        if !self.text_ends.is_empty() {
            self.end_group()?;
        }
        for start in &self.starts {
            self.ends.write(&start.to_le_bytes())?;
        }
        Ok((self.groups, self.ends))
    }
}
