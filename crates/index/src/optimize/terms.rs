//! Merge of the posting lists of some segments, in the new order of documents.
//!
//! Terms are handled one at a time: postings are read with their positions, sorted by new document, and encoded. A list
//! that exceeds the memory limit is read several times, each time for a range of new documents, so only the encoder
//! ever holds all of it.

use super::live::{GONE, Live};
use super::pages::Pages;
use crate::order::GapBits;
use crate::segment::write::SegmentWriter;
use crate::written::WrittenStream;
use crate::{DocId, Field, IndexError, Segment, TermRecord};
use fst::{Streamer, map::OpBuilder};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::RangeInclusive;

/// Memory for a posting and for a position while a list is sorted.
const POSTING_BYTES: u64 = 17;
const POSITION_BYTES: u64 = 4;
/// Ranges of new documents in which postings are counted, to divide a long list.
const BUCKETS: usize = 1 << 12;

/// Source segments, and the new place of each document.
pub(super) struct Sources<'a> {
    pub(super) segments: &'a [Segment],
    pub(super) live: &'a Live,
    /// New document of each arrival; `None`: the arrival itself.
    pub(super) new_of: Option<&'a [u32]>,
}

/// Counts gathered while writing.
#[derive(Default)]
pub(super) struct Seen {
    /// Words of the documents written, by field in the order of `Field::WITH_LENGTHS`.
    pub(super) words_counts: [u64; 2],
    /// Places of each document written, by its last position: several terms may share one, and none has the one before a
    /// value.
    places_counts: [Vec<u32>; 2],
    /// Gaps in the order of arrival, and in the new order.
    pub(super) gaps_before: GapBits,
    pub(super) gaps_after: GapBits,
}

/// Writes every term that a live document holds. Calls `progress` with numbers of postings written.
pub(super) fn write_terms(
    sources: &Sources<'_>,
    out: &mut SegmentWriter,
    list_bytes_max: u64,
    progress: impl Fn(u64),
) -> Result<Seen, IndexError> {
    let segments = sources.segments;
    let union: OpBuilder = segments.iter().map(|segment| segment.terms()).collect();
    let mut terms = union.union();
    let mut list = List::default();
    list.seen.places_counts = [(); 2].map(|()| vec![0; sources.live.count() as usize]);
    let mut found: Vec<(usize, TermRecord)> = Vec::new();
    let mut pages = Pages::of(segments);
    while let Some((key, places)) = terms.next() {
        let Some((field, term)) = Field::split(key) else {
            continue;
        };
        found.clear();
        for place in places {
            let record = segments[place.index].record(place.value)?;
            found.push((place.index, record));
        }
        found.sort_unstable_by_key(|&(segment, _)| segment);
        for piece in sources.pieces(&found, list_bytes_max)? {
            list.read(sources, field, &found, &piece)?;
            list.write(field, out);
        }
        list.end();
        out.end_term(field, term)?;
        progress(
            found
                .iter()
                .map(|(_, record)| u64::from(record.documents_count))
                .sum(),
        );
        pages.read(&found);
    }
    write_written(segments, out)?;
    Ok(list.seen.summed_up())
}

/// Merges the words as written of all segments. They are entries in order, each once.
fn write_written(segments: &[Segment], out: &mut SegmentWriter) -> Result<(), IndexError> {
    let dictionaries = segments
        .iter()
        .filter_map(|segment| segment.core.written.as_ref());
    let mut streams: Vec<WrittenStream<'_>> = dictionaries.map(|of| of.from(&[])).collect();
    let mut heap = BinaryHeap::new();
    for (number, stream) in streams.iter_mut().enumerate() {
        heap.extend(
            stream
                .next()?
                .map(|entry| Reverse((entry.to_vec(), number))),
        );
    }
    let mut before = Vec::new();
    while let Some(Reverse((mut entry, number))) = heap.pop() {
        if entry != before {
            out.push_written(&entry)?;
            before.clone_from(&entry);
        }
        if let Some(next) = streams[number].next()? {
            entry.clear();
            entry.extend_from_slice(next);
            heap.push(Reverse((entry, number)));
        }
    }
    Ok(())
}

impl Seen {
    /// Sums up the words of documents.
    fn summed_up(mut self) -> Seen {
        let counts = std::mem::take(&mut self.places_counts);
        self.words_counts = counts.map(|counts| counts.into_iter().map(u64::from).sum());
        self
    }
}

impl Sources<'_> {
    #[inline]
    pub(super) fn new_id(&self, arrival: u32) -> u32 {
        self.new_of
            .map_or(arrival, |new_of| new_of[arrival as usize])
    }

    /// Divides the new documents into ranges whose postings fit the memory limit.
    fn pieces(
        &self,
        found: &[(usize, TermRecord)],
        bytes_max: u64,
    ) -> Result<Vec<RangeInclusive<u32>>, IndexError> {
        let needed = |(_, record): &(usize, TermRecord)| {
            u64::from(record.documents_count) * POSTING_BYTES
                + record.occurrences_count * POSITION_BYTES
        };
        // Places in a range are 32-bit integers.
        let bytes_max = bytes_max.min(8 << 30);
        if found.iter().map(needed).sum::<u64>() <= bytes_max {
            return Ok(vec![0..=u32::MAX]);
        }
        let bucket_documents = self.live.count() / BUCKETS as u32 + 1;
        let mut bytes_by_bucket = vec![0u64; BUCKETS];
        for (segment, record) in found {
            let mut blocks = self.segments[*segment].blocks(record)?;
            for block in 0..blocks.blocks_count() {
                blocks.load(block);
                let (docs, frequencies) = blocks.postings();
                for (&doc, &frequency) in docs.iter().zip(frequencies) {
                    let arrival = self.live.arrival(*segment, doc);
                    if arrival != GONE {
                        let bucket = self.new_id(arrival) / bucket_documents;
                        bytes_by_bucket[bucket as usize] +=
                            POSTING_BYTES + u64::from(frequency) * POSITION_BYTES;
                    }
                }
            }
            blocks.take_error().map_or(Ok(()), Err)?;
        }
        let mut pieces = Vec::new();
        let (mut first, mut bytes) = (0, 0);
        for (bucket, &bucket_bytes) in (0..).zip(&bytes_by_bucket) {
            if bytes > 0 && bytes + bucket_bytes > bytes_max {
                let next = bucket * bucket_documents;
                pieces.push(first..=next - 1);
                (first, bytes) = (next, 0);
            }
            bytes += bucket_bytes;
        }
        pieces.push(first..=u32::MAX);
        Ok(pieces)
    }
}

/// List, or a range of one, between reading and writing. Buffers are reused for each term.
#[derive(Default)]
struct List {
    /// New document in the upper half; index of its posting in the vectors below in the lower half.
    keys: Vec<u64>,
    /// Whether documents came in their new order.
    sorted: bool,
    frequencies: Vec<u32>,
    lengths: Vec<u8>,
    /// End of the position gaps of each posting; zeros for a field without positions.
    ends: Vec<u32>,
    gaps: Vec<u32>,
    document_gaps: Vec<u32>,
    next_arrival: u32,
    next_new: u32,
    seen: Seen,
}

impl List {
    /// Reads the postings whose new documents are in `piece`.
    fn read(
        &mut self,
        sources: &Sources<'_>,
        field: Field,
        found: &[(usize, TermRecord)],
        piece: &RangeInclusive<u32>,
    ) -> Result<(), IndexError> {
        self.keys.clear();
        self.frequencies.clear();
        self.lengths.clear();
        self.ends.clear();
        self.gaps.clear();
        self.sorted = true;
        let mut key_before = 0;
        for (number, record) in found {
            let segment = &sources.segments[*number];
            let lengths = segment.lengths(field);
            let with_positions = record.positions_bytes > 0;
            let mut postings = segment.postings(record)?;
            while postings.doc() != DocId::END {
                let doc = postings.doc().0;
                let arrival = sources.live.arrival(*number, doc);
                if arrival != GONE {
                    let new_id = sources.new_id(arrival);
                    if *piece.start() == 0 {
                        if arrival < self.next_arrival {
                            let what = format!("document {doc} stands twice in a list");
                            return Err(segment.damaged_at_terms(&what));
                        }
                        self.seen.gaps_before.add(arrival + 1 - self.next_arrival);
                        self.next_arrival = arrival + 1;
                    }
                    if piece.contains(&new_id) {
                        let key = u64::from(new_id) << 32 | self.keys.len() as u64;
                        self.sorted &= key >= key_before;
                        key_before = key;
                        self.keys.push(key);
                        self.frequencies.push(postings.frequency());
                        self.lengths
                            .push(lengths.get(doc as usize).copied().unwrap_or(0));
                        if with_positions {
                            postings.position_gaps(&mut self.document_gaps);
                            self.gaps.extend_from_slice(&self.document_gaps);
                        }
                        self.ends.push(self.gaps.len() as u32);
                    }
                }
                postings.next();
            }
            postings.take_error().map_or(Ok(()), Err)?;
        }
        Ok(())
    }

    /// Pushes the postings that were read into the encoder.
    fn write(&mut self, field: Field, out: &mut SegmentWriter) {
        let places_counts = &mut self.seen.places_counts;
        let mut places_counts = places_counts.get_mut(usize::from(field.number()));
        if !self.sorted {
            self.keys.sort_unstable();
        }
        let encoder = out.postings();
        for &key in &self.keys {
            let (new_id, at) = ((key >> 32) as u32, key as u32 as usize);
            let frequency = self.frequencies[at];
            encoder.push_document(new_id, frequency, self.lengths[at]);
            let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
            let gaps = &self.gaps[start as usize..self.ends[at] as usize];
            for &gap in gaps {
                encoder.push_position_gap(gap);
            }
            if let Some(counts) = &mut places_counts
                && let Some(count) = counts.get_mut(new_id as usize)
            {
                let last = gaps.iter().fold(0u32, |sum, &gap| sum.wrapping_add(gap));
                *count = last.saturating_add(1).max(*count);
            }
            self.seen.gaps_after.add(new_id + 1 - self.next_new);
            self.next_new = new_id + 1;
        }
    }

    /// Ends the list of a term.
    fn end(&mut self) {
        self.next_arrival = 0;
        self.next_new = 0;
    }
}
