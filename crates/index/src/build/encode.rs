//! Encoding of a term's streams as postings with new document ids.

use super::gaps;
use super::inverter::positions_of;
use super::run::{Piece, RunDocuments};
use crate::postings::PostingsEncoder;
use crate::{Field, length};

/// New id of a document that a later one replaced.
pub(crate) const GONE: u32 = u32::MAX;
/// Logarithm of the positions for each entry of the table that finds documents.
const COARSE_BITS: u32 = 8;

/// Map from the positions of a run to its documents.
pub(crate) struct RunMap {
    /// Documents by position, and an entry for the end of the last one.
    documents: Vec<MappedDocument>,
    /// Index of the document at every 256th position.
    coarse: Vec<u32>,
}

/// Fields of a document that are read together.
#[derive(Clone, Copy)]
struct MappedDocument {
    /// First position.
    start: u32,
    /// Id in the segment, or `GONE`.
    id: u32,
    /// Quantised lengths by field, in the order of `Field::WITH_LENGTHS`, and 0 for sites, which have none.
    lengths: [u8; 3],
}

impl RunMap {
    /// Creates the map of a run. `id_of` returns the new id of a document, given its order of arrival.
    pub(crate) fn new(run: &RunDocuments, id_of: impl Fn(u32) -> u32) -> RunMap {
        let mut documents = Vec::with_capacity(run.lengths.len() + 1);
        let mut coarse = Vec::new();
        let mut start = 0;
        let ordinals = run.ordinals.iter();
        let ordinals = ordinals.flat_map(|&(first, count)| first..first + count);
        for (doc, (lengths, ordinal)) in (0..).zip(run.lengths.iter().zip(ordinals)) {
            let [text, title] = lengths.map(length::quantize);
            documents.push(MappedDocument {
                start,
                id: id_of(ordinal),
                lengths: [text, title, 0],
            });
            start += positions_of(lengths[0]);
            coarse.resize((start as usize).div_ceil(1 << COARSE_BITS), doc);
        }
        documents.push(MappedDocument {
            start,
            id: GONE,
            lengths: [0; 3],
        });
        RunMap { documents, coarse }
    }
}

/// Encoder of the pieces of one term after another.
pub(crate) struct TermEncoder<'a> {
    maps: &'a [RunMap],
    /// Buffers for streams that are in slices, reused for each term.
    buffers: Vec<Vec<u8>>,
}

impl<'a> TermEncoder<'a> {
    /// Creates an encoder with the maps of all runs.
    pub(crate) fn new(maps: &'a [RunMap]) -> TermEncoder<'a> {
        TermEncoder {
            maps,
            buffers: Vec::new(),
        }
    }

    /// Pushes the postings of a term into `out`, by increasing document.
    pub(crate) fn encode(&mut self, field: Field, pieces: &[Piece<'_>], out: &mut PostingsEncoder) {
        self.buffers.resize_with(pieces.len(), Vec::new);
        let (maps, buffers) = (self.maps, &mut self.buffers);
        let mut walks: Vec<_> = pieces
            .iter()
            .zip(buffers)
            .map(|(piece, buffer)| {
                buffer.clear();
                let map = &maps[piece.run];
                Walk::new(field, piece.read(buffer), map)
            })
            .collect();
        loop {
            // The documents of several threads' runs interleave, so this is a merge; but each turn is long.
            let (mut first, mut limit) = (0, GONE);
            for (number, walk) in walks.iter().enumerate().skip(1) {
                if walk.id < walks[first].id {
                    limit = walks[first].id;
                    first = number;
                } else {
                    limit = limit.min(walk.id);
                }
            }
            match walks.get_mut(first) {
                Some(walk) if walk.id != GONE => walk.push_until(limit, out),
                _ => return,
            }
        }
    }
}

/// Walk over the documents of a stream, at the first position of one.
struct Walk<'a> {
    stream: &'a [u8],
    at: usize,
    map: &'a RunMap,
    field: Field,
    position: u32,
    doc: usize,
    /// Id of the document in the segment; `GONE` after the last.
    id: u32,
}

impl<'a> Walk<'a> {
    fn new(field: Field, stream: &'a [u8], map: &'a RunMap) -> Walk<'a> {
        let mut walk = Walk {
            stream,
            at: 0,
            map,
            field,
            position: 0,
            doc: 0,
            id: GONE,
        };
        // A stream has at least one gap.
        walk.position = gaps::read(stream, &mut walk.at);
        walk.find_document();
        walk
    }

    /// Finds the document of the current position, or of the next one that is not gone.
    fn find_document(&mut self) {
        let RunMap { documents, coarse } = self.map;
        loop {
            let coarse = coarse[(self.position >> COARSE_BITS) as usize] as usize;
            let mut doc = self.doc.max(coarse);
            while documents[doc + 1].start <= self.position {
                doc += 1;
            }
            self.doc = doc;
            self.id = documents[doc].id;
            if self.id != GONE {
                return;
            }
            let end = documents[doc + 1].start;
            while self.position < end {
                if self.at == self.stream.len() {
                    return;
                }
                self.position += gaps::read(self.stream, &mut self.at);
            }
        }
    }

    /// Pushes the documents below `limit`.
    fn push_until(&mut self, limit: u32, out: &mut PostingsEncoder) {
        let with_positions = self.field != Field::Site;
        while self.id < limit {
            let document = &self.map.documents[self.doc];
            let end = self.map.documents[self.doc + 1].start;
            let mut before = document.start;
            let mut frequency = 0;
            let mut more = true;
            while more && self.position < end {
                if with_positions {
                    out.push_position_gap(self.position - before);
                }
                before = self.position;
                frequency += 1;
                more = self.at < self.stream.len();
                if more {
                    self.position += gaps::read(self.stream, &mut self.at);
                }
            }
            out.push_document(self.id, frequency, document.lengths[self.field as usize]);
            match more {
                true => self.find_document(),
                false => self.id = GONE,
            }
        }
    }
}
