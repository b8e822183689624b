//! Encoding of a term's streams as postings, with documents renumbered.

use super::gaps;
use super::inverter::positions_of;
use super::run::{Piece, RunDocuments};
use crate::postings::PostingsEncoder;
use crate::{Field, length};

/// The new id of a document that a later one replaced.
pub(crate) const GONE: u32 = u32::MAX;
/// Positions that share an entry of the table by which documents are found.
const COARSE_BITS: u32 = 8;

/// Which documents lie where in the positions of a run.
pub(crate) struct RunMap {
    /// By position, and after them where the last one ends.
    documents: Vec<MappedDocument>,
    /// The document of every 256th position.
    coarse: Vec<u32>,
}

/// What is asked of a document together lies together.
#[derive(Clone, Copy)]
struct MappedDocument {
    /// Its first position.
    start: u32,
    /// Its id in the segment, or `GONE`.
    id: u32,
    /// Quantised, by field of `Field::WITH_LENGTHS`; and 0 for sites, which have none.
    lengths: [u8; 3],
}

impl RunMap {
    /// `id_of` tells the id in the segment of a document that arrived.
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

/// Encodes the pieces of one term after another.
pub(crate) struct TermEncoder<'a> {
    maps: &'a [RunMap],
    /// Room for streams that are in slices; kept between terms.
    buffers: Vec<Vec<u8>>,
}

impl<'a> TermEncoder<'a> {
    /// `maps` are those of all runs.
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
            // Runs of several threads hold documents in turns, so it is a merge; but each turn is long.
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

/// A walk over the documents of a stream. It stands at the first position of a document.
struct Walk<'a> {
    stream: &'a [u8],
    at: usize,
    map: &'a RunMap,
    field: Field,
    position: u32,
    doc: usize,
    /// The document's id in the segment; `GONE` after the last.
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
        // A stream has a gap at least.
        walk.position = gaps::read(stream, &mut walk.at);
        walk.find_document();
        walk
    }

    /// Finds the document of the current position, or of a later one, that is not gone.
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

    /// Pushes the documents before `limit`.
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
