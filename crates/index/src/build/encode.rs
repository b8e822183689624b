//! Encoding of a term's streams as postings with new document ids.

use super::gaps;
use super::inverter::positions_of;
use super::run::{Piece, RunDocuments};
use crate::postings::PostingsEncoder;
use crate::{Field, length};
use std::collections::BTreeMap;

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
    /// Documents with words in a further field, by number of the field and in order, with their quantised lengths.
    further: BTreeMap<u8, Vec<(u32, u8)>>,
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
        let mut outside_text = run.outside_text.iter().peekable();
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
            if let Some((_, words)) = outside_text.next_if(|(outside, _)| *outside == doc) {
                start += words;
            }
            coarse.resize((start as usize).div_ceil(1 << COARSE_BITS), doc);
        }
        documents.push(MappedDocument {
            start,
            id: GONE,
            lengths: [0; 3],
        });
        let mut further: BTreeMap<u8, Vec<(u32, u8)>> = BTreeMap::new();
        for one in &run.further {
            let lengths = further.entry(one.field).or_default();
            lengths.push((one.doc, length::quantize(one.words)));
        }
        RunMap {
            documents,
            coarse,
            further,
        }
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
    pub(crate) fn encode(
        &mut self,
        (field, term): (Field, &[u8]),
        pieces: &[Piece<'_>],
        out: &mut PostingsEncoder,
    ) {
        self.buffers.resize_with(pieces.len(), Vec::new);
        let (maps, buffers) = (self.maps, &mut self.buffers);
        let mut walks: Vec<_> = pieces
            .iter()
            .zip(buffers)
            .map(|(piece, buffer)| {
                buffer.clear();
                let map = &maps[piece.run];
                Walk::new((field, term), piece.read(buffer), map)
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
    with_positions: bool,
    lengths: Lengths<'a>,
    position: u32,
    doc: usize,
    /// Id of the document in the segment; `GONE` after the last.
    id: u32,
}

/// Place of the lengths of a term's field.
#[derive(Clone, Copy)]
enum Lengths<'a> {
    /// With the documents, at this index.
    OfDocuments(usize),
    /// Lengths of a further field.
    Further(&'a [(u32, u8)]),
}

impl<'a> Walk<'a> {
    fn new((field, term): (Field, &[u8]), stream: &'a [u8], map: &'a RunMap) -> Walk<'a> {
        let mut walk = Walk {
            stream,
            at: 0,
            map,
            with_positions: field.has_positions(term),
            lengths: match field {
                Field::Text => Lengths::OfDocuments(0),
                Field::Title => Lengths::OfDocuments(1),
                Field::Site => Lengths::OfDocuments(2),
                Field::Further(number) => {
                    Lengths::Further(map.further.get(&number).map_or(&[], Vec::as_slice))
                }
            },
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
        let RunMap {
            documents, coarse, ..
        } = self.map;
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
        let with_positions = self.with_positions;
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
            let length = match self.lengths {
                Lengths::OfDocuments(at) => document.lengths[at],
                Lengths::Further(lengths) => {
                    let doc = self.doc as u32;
                    let at = lengths.binary_search_by_key(&doc, |&(doc, _)| doc);
                    at.map_or(0, |at| lengths[at].1)
                }
            };
            out.push_document(self.id, frequency, length);
            match more {
                true => self.find_document(),
                false => self.id = GONE,
            }
        }
    }
}
