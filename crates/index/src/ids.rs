//! Ids, each saying its space.

/// A document of one segment, dense from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocId(pub u32);

impl DocId {
    /// After the last document: what an exhausted cursor stands on.
    pub const END: DocId = DocId(u32::MAX);
}

/// A field of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Field {
    /// The default field: title and body as one stream of words.
    Text = 0,
    /// The title alone.
    Title = 1,
    /// The site, one term a document, without positions; not scored.
    Site = 2,
}

impl Field {
    /// Fields that have lengths, in the order in which segments store them.
    pub const WITH_LENGTHS: [Field; 2] = [Field::Text, Field::Title];

    /// The field that a dictionary key starts with.
    pub(crate) fn from_byte(byte: u8) -> Option<Field> {
        [Field::Text, Field::Title, Field::Site]
            .into_iter()
            .find(|&field| field as u8 == byte)
    }

    /// Field and term of a dictionary key.
    pub(crate) fn split(key: &[u8]) -> Option<(Field, &[u8])> {
        let (&field, term) = key.split_first()?;
        Some((Field::from_byte(field)?, term))
    }
}
