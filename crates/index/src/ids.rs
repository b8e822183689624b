//! Document ids and fields.

/// Document of one segment; ids are dense and start at 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocId(pub u32);

impl DocId {
    /// Position of an exhausted cursor, after every document.
    pub const END: DocId = DocId(u32::MAX);
}

/// Field of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Field {
    /// The default field: title and body as one stream of words.
    Text = 0,
    /// The title alone.
    Title = 1,
    /// The site: one term per document, without positions and not scored.
    Site = 2,
}

impl Field {
    /// Fields that have lengths, in the order in which segments store them.
    pub const WITH_LENGTHS: [Field; 2] = [Field::Text, Field::Title];

    /// Returns the field whose number is `byte`, the first byte of a dictionary key.
    pub(crate) fn from_byte(byte: u8) -> Option<Field> {
        [Field::Text, Field::Title, Field::Site]
            .into_iter()
            .find(|&field| field as u8 == byte)
    }

    /// Splits a dictionary key into its field and its term; `None` where the field is unknown.
    pub(crate) fn split(key: &[u8]) -> Option<(Field, &[u8])> {
        let (&field, term) = key.split_first()?;
        Some((Field::from_byte(field)?, term))
    }
}
