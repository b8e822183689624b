//! Document ids and fields.

use serde::{Deserialize, Serialize};

/// Document of one segment; ids are dense and start at 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocId(pub u32);

impl DocId {
    /// Position of an exhausted cursor, after every document.
    pub const END: DocId = DocId(u32::MAX);
}

/// Field of the index. Serialized by name; a further one by number, `{"further":3}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// The default field: title, body and further fields of text as one stream of words.
    Text,
    /// The title alone.
    Title,
    /// The site: one term per document, without positions and not scored.
    Site,
    /// A further field of text alone, by its number in the schema ([`fields::Searched`]), from 3 on. Its empty term is in
    /// every document with words in the field, with their number as frequency and without positions.
    Further(u8),
}

impl Field {
    /// Fields whose lengths segments store, in that order.
    pub const WITH_LENGTHS: [Field; 2] = [Field::Text, Field::Title];

    /// Returns the number of the field, the first byte of its dictionary keys.
    pub const fn number(self) -> u8 {
        match self {
            Field::Text => 0,
            Field::Title => 1,
            Field::Site => 2,
            Field::Further(number) => number,
        }
    }

    /// Returns the field with a number.
    pub const fn of_number(number: u8) -> Field {
        match number {
            0 => Field::Text,
            1 => Field::Title,
            2 => Field::Site,
            number => Field::Further(number),
        }
    }

    /// Splits a dictionary key into its field and its term; `None` where it is empty.
    pub(crate) fn split(key: &[u8]) -> Option<(Field, &[u8])> {
        let (&number, term) = key.split_first()?;
        Some((Field::of_number(number), term))
    }

    /// Returns whether a list of the field has positions.
    pub(crate) fn has_positions(self, term: &[u8]) -> bool {
        match self {
            Field::Text | Field::Title => true,
            Field::Site => false,
            Field::Further(_) => !term.is_empty(),
        }
    }
}
