//! Rewriting of one partition: the segments with its chunks become one segment, without deleted documents, in a new
//! order.

use super::arrange::Arranged;
use super::live::{GONE, Live};
use super::progress::Phase;
use super::rows::Rows;
use super::terms::{Sources, write_terms};
use super::work::{PartitionWork, Rewritten};
use crate::build::merge::each_by_hash;
use crate::chunks::Chunks;
use crate::manifest::{FileEntry, Manifest, SegmentEntry};
use crate::names::{documents_name, index_name};
use crate::opener::{open_store, open_verified_segment};
use crate::order::Order;
use crate::segment::write::SegmentWriter;
use crate::store::{Location, StoreWriter};
use crate::{IndexError, Segment, Texts};

/// Memory for each document in any order: arrivals, the order, its inverse, the location of the text.
const DOCUMENT_BYTES: u64 = 20;
/// Lowest memory limit for a list, because reading it in many pieces takes long.
const LIST_BYTES_MIN: u64 = 4 << 20;
/// Location of a missing text.
const NOWHERE: Location = Location {
    block: u32::MAX,
    offset: u32::MAX,
};

impl PartitionWork<'_> {
    /// Writes the partition anew as segment `segment`.
    pub(super) fn rewrite(&self, segment: u32) -> Result<Rewritten, IndexError> {
        let layout = self.manifest.layout();
        let chunks = layout.chunks_of(self.number);
        let segments = self.open_segments()?;
        let live = Live::of(&segments, layout, chunks.clone())?;
        let chunks = Chunks::from(chunks);
        let mut rewritten = Rewritten::default();
        if live.count() == 0 {
            return Ok(rewritten);
        }
        let tables_bytes = DOCUMENT_BYTES * u64::from(live.count());
        let memory_bytes = self.memory_bytes.saturating_sub(tables_bytes);
        let prefix = format!("tmp-{segment:08}");
        let rows = Rows::unpack(self.storage, &prefix, &segments, &live)?;
        let Arranged {
            order,
            terms_left_out,
        } = self.arrange(&segments, &live, &rows, &prefix, memory_bytes)?;
        rows.release();

        let Manifest { codec, .. } = *self.manifest;
        let index_id = self.manifest.index_id();
        let name = index_name(segment);
        let mut out = SegmentWriter::create(self.storage, &name, index_id, chunks, segment, codec)?;
        let documents = segments.iter().map(Segment::documents_count);
        if documents.map(u64::from).sum::<u64>() > live.count().into() {
            out.expect_lost_terms();
        }
        let sources = Sources {
            segments: &segments,
            live: &live,
            new_of: order.as_ref().map(|(_, new_of)| &new_of[..]),
        };
        let progress = self.progress_of(Phase::Writing, postings_count(&segments));
        let list_bytes_max = self.list_bytes_max;
        let list_bytes_max = list_bytes_max.unwrap_or((memory_bytes / 2).max(LIST_BYTES_MIN));
        let seen = write_terms(&sources, &mut out, list_bytes_max, progress)?;
        match &order {
            Some((order, _)) => rows.write(order.iter().copied(), &mut out)?,
            None => rows.write(0..live.count(), &mut out)?,
        }
        drop(rows);
        let name = documents_name(segment);
        let mut texts = match self.manifest.texts {
            Texts::None => None,
            Texts::Stored => {
                let mut store = StoreWriter::create(self.storage, &name, index_id, segment)?;
                let places = self.copy_texts(&segments, &live, &mut store)?;
                Some((store, places))
            }
        };
        if let Some((store, places)) = &mut texts {
            write_entries(&sources, store, places)?;
        }
        let texts = texts.map(|(store, _)| store.finish()).transpose()?;

        out.set_words_counts(seen.words_counts);
        let (seal, meta) = out.finish()?;
        let file = |name, seal| FileEntry {
            name,
            number: segment.into(),
            seal,
        };
        rewritten.entry = Some(SegmentEntry {
            segment,
            chunks,
            documents_count: meta.documents_count,
            index: file(index_name(segment), seal),
            documents: texts.map(|seal| file(name, seal)),
            pairs: None,
            columns: None,
            deletions: None,
            order: self.order_written(),
        });
        rewritten.words_counts = meta.words_counts;
        rewritten.gaps_before = seen.gaps_before;
        rewritten.gaps_after = seen.gaps_after;
        rewritten.terms_left_out = terms_left_out;
        Ok(rewritten)
    }

    fn open_segments(&self) -> Result<Vec<Segment>, IndexError> {
        let open = |entry: &SegmentEntry| open_verified_segment(self.storage, self.manifest, entry);
        let Some(deletions) = self.deletions else {
            return self.entries.iter().map(open).collect();
        };
        let entries = self.entries.iter().map(|entry| {
            let mut segment = open(&SegmentEntry {
                deletions: None,
                ..entry.clone()
            })?;
            segment.deletions = deletions.get(&entry.segment).cloned();
            Ok(segment)
        });
        entries.collect()
    }

    /// Returns the order of the new segment. Merely dropping documents of a single segment keeps its order.
    fn order_written(&self) -> Order {
        match (self.order, self.entries) {
            (Order::Arrival, [only]) => only.order,
            (order, _) => order,
        }
    }

    /// Copies the texts of live documents; returns their locations by arrival.
    fn copy_texts(
        &self,
        segments: &[Segment],
        live: &Live,
        store: &mut StoreWriter,
    ) -> Result<Vec<Location>, IndexError> {
        let mut places = vec![NOWHERE; live.count() as usize];
        for (number, (entry, segment)) in self.entries.iter().zip(segments).enumerate() {
            let part = open_store(self.storage, self.manifest, entry)?;
            let part = part.ok_or_else(|| segment.damaged_at_terms("the texts are missing"))?;
            part.file().verify_whole()?;
            if part.documents_count() != segment.documents_count() as usize {
                return Err(segment.damaged_at_terms("the document store is of another segment"));
            }
            let by_hash = segment.docs_by_hash();
            let arrival_at = |rank: u32| live.arrival(number, by_hash[rank as usize]);
            part.copy_to(
                store,
                |rank| arrival_at(rank) != GONE,
                |rank, location| places[arrival_at(rank) as usize] = location,
            )?;
        }
        match places.iter().position(|&place| place == NOWHERE) {
            None => Ok(places),
            Some(_) => {
                Err(segments[0].damaged_at_terms("the document store lacks the text of a document"))
            }
        }
    }
}

fn postings_count(segments: &[Segment]) -> u64 {
    segments
        .iter()
        .map(|segment| segment.meta().postings_count)
        .sum()
}

/// Writes the directory of texts, in the order of (URL hash, new document).
fn write_entries(
    sources: &Sources<'_>,
    store: &mut StoreWriter,
    places: &[Location],
) -> Result<(), IndexError> {
    let mut same_hash: Vec<(u32, u32)> = Vec::new();
    let mut hash_before = 0;
    let mut settle = |hash: u64, same_hash: &mut Vec<(u32, u32)>| -> Result<(), IndexError> {
        same_hash.sort_unstable();
        for (_, arrival) in same_hash.drain(..) {
            store.push_entry(hash, places[arrival as usize])?;
        }
        Ok(())
    };
    each_by_hash(sources.segments, |hash, number, doc| {
        if hash != hash_before {
            settle(hash_before, &mut same_hash)?;
            hash_before = hash;
        }
        let arrival = sources.live.arrival(number, doc);
        if arrival != GONE {
            same_hash.push((sources.new_id(arrival), arrival));
        }
        Ok(())
    })?;
    settle(hash_before, &mut same_hash)
}
