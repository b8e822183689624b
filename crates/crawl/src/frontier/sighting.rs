//! Sighting of a URL: what a discovery says of it.
//!
//! sighting := source:u8 depth:varint from:varint importance:f32le at:varint modified:varint
//!
//! Example, a seed with importance 1 seen at 5: 00 00 00 00 00 80 3f 05 00.
use super::state::Source;
use crate::bytes::{Reader, put_varint};
use crate::politeness::TimeMs;

/// One discovery of a URL, or several merged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sighting {
    pub(super) source: Source,
    pub(super) depth: u16,
    pub(super) from: Option<u64>,
    pub(super) importance: f32,
    pub(super) at: TimeMs,
    /// Latest modification claimed by a sitemap or a ping, 0 without one.
    pub(super) modified: TimeMs,
}

impl Sighting {
    /// Adds a later sighting. True when something changed.
    pub(super) fn merge(&mut self, later: &Sighting) -> bool {
        let before = *self;
        self.source = self.source.and(later.source);
        self.depth = self.depth.min(later.depth);
        self.importance = self.importance.max(later.importance);
        self.modified = self.modified.max(later.modified);
        before != *self
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.source.code());
        put_varint(out, u64::from(self.depth));
        put_varint(out, self.from.map_or(0, |from| from.max(1)));
        out.extend_from_slice(&self.importance.to_le_bytes());
        put_varint(out, self.at.0);
        put_varint(out, self.modified.0);
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Option<Sighting> {
        Some(Sighting {
            source: Source::from_code(reader.byte()?)?,
            depth: u16::try_from(reader.varint()?).ok()?,
            from: reader.varint().map(|from| (from != 0).then_some(from))?,
            importance: f32::from_le_bytes(reader.array()?),
            at: TimeMs(reader.varint()?),
            modified: TimeMs(reader.varint()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sighting_comes_back() {
        let mut sighting = Sighting {
            source: Source::Seed,
            depth: 0,
            from: None,
            importance: 1.0,
            at: TimeMs(5),
            modified: TimeMs(0),
        };
        let mut bytes = Vec::new();
        sighting.encode(&mut bytes);
        assert_eq!(bytes, [0, 0, 0, 0, 0, 0x80, 0x3f, 5, 0]);
        let later = Sighting {
            depth: 3,
            modified: TimeMs(9),
            ..sighting
        };
        assert!(sighting.merge(&later) && !sighting.merge(&later));
        assert_eq!((sighting.depth, sighting.modified), (0, TimeMs(9)));
        let mut bytes = Vec::new();
        sighting.encode(&mut bytes);
        let mut reader = Reader::new(&bytes);
        assert_eq!(Sighting::decode(&mut reader), Some(sighting));
        assert!(reader.is_empty());
    }
}
