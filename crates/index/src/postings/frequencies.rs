//! Frequencies of a term in the documents of a list, for whole blocks or single postings.

use super::{BLOCK, Blocks};
use codec::{CodecError, lanes, packed, rice};

/// Place of a posting that was found, for reading its frequency or positions after its block is no longer loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    block: u32,
    index: u32,
    /// Start of the block's packed frequencies; `KNOWN` where `frequency` holds the frequency.
    start: u32,
    frequency: u32,
}

impl Place {
    pub(super) fn block(self) -> u32 {
        self.block
    }
}

const KNOWN: u32 = u32::MAX;

impl Blocks<'_> {
    /// Returns the frequency of the term in each document of the loaded block.
    #[inline]
    pub fn frequencies(&mut self) -> &[u32] {
        if self.frequencies_block != self.block {
            match self.frequencies_start {
                Some(start) => self.load_frequencies(self.block, start),
                None => self.load_other(self.block),
            }
        }
        &self.room.frequencies[..self.fill]
    }

    /// Returns the place of the posting at an index of the loaded block.
    #[inline]
    pub fn place(&self, index: usize) -> Place {
        let index = index % BLOCK;
        let (start, frequency) = match self.frequencies_start {
            Some(start) if start < KNOWN as usize => (start as u32, 0),
            _ => (KNOWN, self.room.frequencies[index]),
        };
        Place {
            block: self.block as u32,
            index: index as u32,
            start,
            frequency,
        }
    }

    /// Reads the frequencies of postings found before, without loading their blocks. Places of one block are adjacent.
    pub fn lookup(&mut self, places: &[Place], frequencies: &mut [u32]) {
        let mut at = 0;
        while let Some(&place) = places.get(at) {
            if place.start == KNOWN {
                frequencies[at] = place.frequency;
                at += 1;
                continue;
            }
            let together = places[at..]
                .iter()
                .take_while(|one| one.block == place.block);
            let end = at + together.count();
            self.lookup_in(place, &places[at..end], &mut frequencies[at..end]);
            at = end;
        }
    }

    fn lookup_in(&mut self, first: Place, places: &[Place], frequencies: &mut [u32]) {
        /// Single values up to which selecting them costs less than decoding the block.
        const SINGLE_MAX: usize = 12;
        let start = first.start as usize;
        if self.frequencies_block != first.block as usize && places.len() > SINGLE_MAX {
            self.load_frequencies(first.block as usize, start);
        }
        if self.frequencies_block == first.block as usize {
            for (place, slot) in places.iter().zip(frequencies) {
                *slot = self.room.frequencies[place.index as usize % BLOCK];
            }
            return;
        }
        match self.single_frequencies(first, places, frequencies) {
            Ok(()) => frequencies
                .iter_mut()
                .for_each(|frequency| *frequency = frequency.wrapping_add(1)),
            Err(error) => {
                frequencies.fill(1);
                self.fail(self.origin.postings_offset + start as u64, error);
            }
        }
    }

    /// Reads some packed frequencies, less one, of the block of `first`.
    #[inline]
    fn single_frequencies(
        &self,
        first: Place,
        places: &[Place],
        frequencies: &mut [u32],
    ) -> Result<(), CodecError> {
        let postings = self.bytes.postings;
        let bytes = postings.get(first.start as usize..).unwrap_or(&[]);
        let indexes = places.iter().map(|place| place.index as usize);
        let mut wanted = indexes.zip(frequencies);
        if (first.block as usize) < self.blocks_full {
            return packed::decode_each(bytes, wanted);
        }
        wanted.try_for_each(|(index, slot)| {
            rice::decode(bytes, self.tail_count(), index, std::slice::from_mut(slot)).map(drop)
        })
    }

    /// Returns the number of documents of the tail.
    fn tail_count(&self) -> usize {
        self.bytes.documents_count as usize % BLOCK
    }

    /// Decodes the frequencies of the block of a place; returns the index of the posting in it.
    pub(super) fn frequencies_of(&mut self, place: Place) -> usize {
        let block = place.block as usize;
        if self.frequencies_block != block {
            if place.start == KNOWN {
                self.load_other(block);
            } else {
                self.load_frequencies(block, place.start as usize);
            }
        }
        place.index as usize % BLOCK
    }

    /// Returns the occurrences of the list before the posting at `index` of the block whose frequencies are decoded.
    pub(super) fn occurrences_before(&self, index: usize) -> u64 {
        let inside = u64::from(lanes::sum(&self.room.frequencies[..index]));
        let block = self.frequencies_block;
        if block < self.blocks_full {
            return u64::from(self.header(block, 2)) + inside;
        }
        let tail = u64::from(lanes::sum(&self.room.frequencies[..self.tail_count()]));
        self.bytes.occurrences_count.saturating_sub(tail) + inside
    }

    #[inline(never)]
    fn load_frequencies(&mut self, block: usize, start: usize) {
        self.watch.frequencies(block);
        self.frequencies_block = block;
        let bytes = self.bytes.postings.get(start..).unwrap_or(&[]);
        let tail_count = self.tail_count();
        let frequencies = &mut self.room.frequencies;
        let (count, decoded) = match block < self.blocks_full {
            true => (BLOCK, packed::decode(bytes, frequencies).map(drop)),
            false => {
                let tail = &mut frequencies[..tail_count];
                (tail_count, rice::decode(bytes, tail_count, 0, tail))
            }
        };
        match decoded {
            Ok(()) => lanes::add_one(&mut frequencies[..count]),
            Err(error) => self.fail(self.origin.postings_offset + start as u64, error),
        }
    }
}
