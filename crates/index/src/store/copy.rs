//! Copying of some documents' texts from one store part to another.

use super::location::{BLOCK_BYTES, Location};
use super::part::{Fields, StorePart, StoredDocument, read_fields};
use super::write::StoreWriter;
use crate::IndexError;
use crate::row_text::decompress;
use std::ops::Range;

/// Blocks after which the pages read are released.
const RELEASE_BLOCKS: u32 = 1024;

/// Document of a decompressed block: the range of its bytes, and its rank in the directory if it is to be copied.
type Place = (Range<usize>, Option<u32>);

impl StorePart {
    /// Copies documents in the order of their blocks. `wanted` selects documents by their rank in the directory;
    /// `copied` receives the rank and the new location of each. A block is copied as it is where all of its documents
    /// are wanted and no block becomes less than half full.
    pub(crate) fn copy_to(
        &self,
        out: &mut StoreWriter,
        wanted: impl Fn(u32) -> bool,
        mut copied: impl FnMut(u32, Location),
    ) -> Result<(), IndexError> {
        let (mut texts, mut start) = (Vec::new(), 0);
        for block in 0..(self.ends.len() / 8) as u32 {
            let end = self.ends.read_u64(block as usize * 8) as usize;
            let damaged = || self.damaged_block(block, start as u64);
            let bytes = self.payload.get(start..end).ok_or_else(damaged)?;
            decompress(bytes, &mut texts).ok_or_else(damaged)?;
            let places = self.places(block, &texts, &wanted)?.ok_or_else(damaged)?;
            let all = places.iter().all(|(_, rank)| rank.is_some());
            if all && texts.len() >= BLOCK_BYTES / 2 && out.may_end_block() {
                let block = out.push_block(bytes)?;
                for (place, rank) in &places {
                    let offset = place.start as u32;
                    rank.iter()
                        .for_each(|&rank| copied(rank, Location { block, offset }));
                }
            } else {
                for (place, rank) in places {
                    if let Some(rank) = rank {
                        copied(rank, out.push_stored(&texts[place])?);
                    }
                }
            }
            start = end;
            if block % RELEASE_BLOCKS == RELEASE_BLOCKS - 1 {
                self.payload.release(start);
            }
        }
        Ok(())
    }

    /// Calls `each` with the rank and the further fields, as JSON, of every document, in the order of their blocks.
    pub(crate) fn each_fields(&self, mut each: impl FnMut(u32, &str)) -> Result<(), IndexError> {
        self.each_stored(|rank, document| {
            each(rank, document.fields);
            Ok(())
        })
    }

    /// Calls `each` with every document, in the order of their blocks, which is that of arrival.
    pub(crate) fn each_document(
        &self,
        mut each: impl FnMut(StoredDocument) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        self.each_stored(|_, document| each(document.to_document()))
    }

    /// Calls `each` with the rank and the texts of every document, in the order of their blocks.
    fn each_stored(
        &self,
        mut each: impl FnMut(u32, Fields<'_>) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let (mut texts, mut start) = (Vec::new(), 0);
        for block in 0..(self.ends.len() / 8) as u32 {
            let end = self.ends.read_u64(block as usize * 8) as usize;
            let damaged = || self.damaged_block(block, start as u64);
            let bytes = self.payload.get(start..end).ok_or_else(damaged)?;
            decompress(bytes, &mut texts).ok_or_else(damaged)?;
            for (place, rank) in self.places(block, &texts, &|_| true)?.ok_or_else(damaged)? {
                let (fields, _) = read_fields(&texts, place.start).ok_or_else(damaged)?;
                if let Some(rank) = rank {
                    each(rank, fields)?;
                }
            }
            start = end;
            if block % RELEASE_BLOCKS == RELEASE_BLOCKS - 1 {
                self.payload.release(start);
            }
        }
        Ok(())
    }

    /// Returns the documents of a decompressed block; `None` on damage.
    fn places(
        &self,
        block: u32,
        texts: &[u8],
        wanted: &impl Fn(u32) -> bool,
    ) -> Result<Option<Vec<Place>>, IndexError> {
        let (mut places, mut start) = (Vec::new(), 0);
        while start < texts.len() {
            let Some((fields, end)) = read_fields(texts, start) else {
                return Ok(None);
            };
            let location = Location {
                block,
                offset: start as u32,
            };
            let rank = self.rank_of(fields.url, location)?;
            places.push((start..end, rank.filter(|&rank| wanted(rank))));
            start = end;
        }
        Ok(Some(places))
    }

    /// Returns the rank in the directory of the document at a location; `None` for a document that was replaced before
    /// the directory was written.
    fn rank_of(&self, url: &str, location: Location) -> Result<Option<u32>, IndexError> {
        let hash = document::url_hash(url);
        for rank in self.first_rank(hash)?..self.documents_count() {
            let (found_hash, found) = self.entry(rank)?;
            if found_hash != hash {
                break;
            }
            if found == location {
                return Ok(Some(rank as u32));
            }
        }
        Ok(None)
    }
}
