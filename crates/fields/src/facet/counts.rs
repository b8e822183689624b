//! Counts of a facet over a part of the matches, with those of the facets within its buckets: collected on a part, joined in
//! any order, sent as bytes.
//!
//! ```text
//! counts  := matches:number documents:number further_values:number further:number
//!            buckets:number (name:value documents:number)* has_within:1 byte counts{buckets · facets within}
//!            has_figures:1 byte figures of the kind
//! message := version:1 byte (1) counts
//! ```
//!
//! Numbers and values are those of [`bytes`](super::bytes). Joining is exact and does not depend on the order of parts: counts are
//! integers, and of sums see [`Stats`](crate::Stats).

use super::Facet;
use super::buckets::{Buckets, merged};
use super::bytes::{Reader, Writer};
use super::kinds::Figures;
use crate::value::Value;

/// Version of the bytes.
const VERSION: u8 = 1;

/// Counts of one facet.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FacetCounts {
    /// Documents that are counted: that match, and are in the bucket.
    pub matches_count: u64,
    /// Those of them that have a value.
    pub documents_count: u64,
    /// Documents of each bucket, for kinds with buckets.
    pub buckets: Buckets,
    /// Counts of the facets within each bucket, in the order of the request. Empty where there are none, and as long as they
    /// are not counted.
    pub within: Vec<Vec<FacetCounts>>,
    /// Figures of the values, for kinds of figures.
    pub figures: Figures,
}

impl FacetCounts {
    /// Adds the counts of another part.
    pub fn join(&mut self, other: FacetCounts) {
        self.matches_count += other.matches_count;
        self.documents_count += other.documents_count;
        self.buckets.further_values_count += other.buckets.further_values_count;
        self.buckets.further_count += other.buckets.further_count;
        self.figures.join(other.figures);
        if other.buckets.counts.is_empty() {
            return;
        }
        if self.buckets.counts.is_empty() {
            self.buckets.counts = other.buckets.counts;
            self.within = other.within;
            return;
        }
        let own = std::mem::take(&mut self.buckets.counts);
        let within = std::mem::take(&mut self.within);
        if within.is_empty() || other.within.is_empty() {
            self.buckets.counts = merged(own, other.buckets.counts, |a, b| a + b);
            return;
        }
        let paired = |counts: Vec<(Value, u64)>, within: Vec<Vec<FacetCounts>>| {
            let both = counts.into_iter().zip(within);
            let paired = both.map(|((name, count), within)| (name, (count, within)));
            paired.collect::<Vec<_>>()
        };
        let own = paired(own, within);
        let others = paired(other.buckets.counts, other.within);
        let all = merged(own, others, |(a, mut within), (b, others)| {
            join_all(&mut within, others);
            (a + b, within)
        });
        let all = all.into_iter();
        (self.buckets.counts, self.within) = all
            .map(|(name, (count, within))| ((name, count), within))
            .unzip();
    }

    /// Keeps the buckets that are shown, of facets with facets within: of terms, the most frequent.
    pub fn choose(&mut self, facet: &Facet) {
        if facet.within.is_empty() {
            return;
        }
        let chosen_max = facet.kind.as_buckets().and_then(|kind| kind.chosen_max());
        if let Some(n) = chosen_max.filter(|&n| n < self.buckets.counts.len()) {
            let kept = self.buckets.keep_most_frequent(n);
            if !self.within.is_empty() {
                let within = kept.iter().map(|&at| std::mem::take(&mut self.within[at]));
                self.within = within.collect();
            }
        }
        for within in &mut self.within {
            for (facet, counts) in facet.within.iter().zip(within) {
                counts.choose(facet);
            }
        }
    }

    /// Returns whether the facets within all buckets are counted.
    pub fn is_complete(&self, facet: &Facet) -> bool {
        if facet.within.is_empty() || self.buckets.counts.is_empty() {
            return true;
        }
        self.within.len() == self.buckets.counts.len()
            && self.within.iter().all(|within| {
                let mut both = facet.within.iter().zip(within);
                both.all(|(facet, counts)| counts.is_complete(facet))
            })
    }

    /// Takes the counts within buckets from `counted`, where these buckets were counted again with the facets within them.
    pub fn refine(&mut self, facet: &Facet, mut counted: FacetCounts) {
        if facet.within.is_empty() {
            *self = counted;
            return;
        }
        let known = std::mem::take(&mut self.within);
        let mut known = known.into_iter();
        for (name, _) in &self.buckets.counts {
            let counted = match counted.buckets.find(name) {
                Some(at) if at < counted.within.len() => std::mem::take(&mut counted.within[at]),
                _ => vec![FacetCounts::default(); facet.within.len()],
            };
            self.within.push(match known.next() {
                None => counted,
                Some(mut known) => {
                    let all = known.iter_mut().zip(&facet.within).zip(counted);
                    all.for_each(|((known, facet), counted)| known.refine(facet, counted));
                    known
                }
            });
        }
    }

    /// Returns the memory of the facets within buckets, in buckets: each facet of a bucket counts as one, as do each of its
    /// own buckets and every 128 bytes of its figures.
    pub fn weight_within(&self) -> u64 {
        let within = self.within.iter().flatten();
        within.map(FacetCounts::weight).sum()
    }

    /// Returns the weight of counts that are within a bucket.
    pub fn weight(&self) -> u64 {
        1 + self.buckets.counts.len() as u64 + self.figures.weight() + self.weight_within()
    }

    /// Returns the counts as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.bytes(&[VERSION]);
        self.write(&mut writer);
        writer.into_bytes()
    }

    fn write(&self, writer: &mut Writer) {
        let buckets = &self.buckets;
        for number in [
            self.matches_count,
            self.documents_count,
            buckets.further_values_count,
            buckets.further_count,
            buckets.counts.len() as u64,
        ] {
            writer.number(number);
        }
        for (name, count) in &buckets.counts {
            writer.value(name);
            writer.number(*count);
        }
        writer.bytes(&[u8::from(!self.within.is_empty())]);
        for counts in self.within.iter().flatten() {
            counts.write(writer);
        }
        self.figures.write(writer);
    }

    /// Reads the counts of a facet; `None` where bytes are none, or of another version.
    pub fn of_bytes(facet: &Facet, bytes: &[u8]) -> Option<FacetCounts> {
        let mut reader = Reader::new(bytes);
        let is_known = reader.byte()? == VERSION;
        let counts = is_known.then(|| FacetCounts::read(facet, &mut reader))??;
        (reader.left() == 0).then_some(counts)
    }

    fn read(facet: &Facet, reader: &mut Reader<'_>) -> Option<FacetCounts> {
        let (matches_count, documents_count) = (reader.number()?, reader.number()?);
        let (further_values_count, further_count) = (reader.number()?, reader.number()?);
        // A name has a kind and a byte at least, and a count is a byte.
        let count = reader.count(3)?;
        let mut counts = Vec::with_capacity(count);
        for _ in 0..count {
            counts.push((reader.value()?, reader.number()?));
        }
        if !counts.is_sorted_by(|a, b| a.0.order(&b.0).is_lt()) {
            return None;
        }
        let mut within = Vec::new();
        if reader.truth()? {
            for _ in 0..count {
                let own = facet.within.iter();
                let own = own.map(|facet| FacetCounts::read(facet, reader));
                within.push(own.collect::<Option<_>>()?);
            }
        }
        Some(FacetCounts {
            matches_count,
            documents_count,
            buckets: Buckets {
                counts,
                further_values_count,
                further_count,
            },
            within,
            figures: facet.kind.read_figures(reader)?,
        })
    }
}

/// Adds the counts of several facets.
fn join_all(own: &mut Vec<FacetCounts>, others: Vec<FacetCounts>) {
    match own.is_empty() {
        true => *own = others,
        false => (own.iter_mut().zip(others)).for_each(|(own, other)| own.join(other)),
    }
}
