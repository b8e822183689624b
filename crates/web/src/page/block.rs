//! Blocks of text of a page that was read.

use std::ops::Range;

use super::tags::Tag;

/// Block of text with its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Bytes of it in the text of the page.
    pub range: Range<usize>,
    /// Kind by its element.
    pub kind: BlockKind,
    /// Whether it is main text; boilerplate otherwise.
    pub is_main: bool,
    /// Hash of its exact text, for templates of a site.
    pub hash: u64,
}

/// Kind of a block by the nearest element that says one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlockKind {
    /// Paragraph, or text without an element of its own.
    Paragraph,
    /// Heading of level 1 to 6.
    Heading(u8),
    /// Item of a list.
    Item,
    /// Cell of a table, or term or text of a definition.
    Cell,
    /// Preformatted text.
    Preformatted,
    /// Caption of a figure.
    Caption,
}

impl BlockKind {
    /// Returns the kind that `tag` says.
    pub(super) fn of_tag(tag: Tag) -> Option<Self> {
        if let Some(level) = tag.heading_level() {
            return Some(Self::Heading(level));
        }
        match tag {
            Tag::P | Tag::Blockquote => Some(Self::Paragraph),
            Tag::Li => Some(Self::Item),
            Tag::Td | Tag::Th | Tag::Dt | Tag::Dd => Some(Self::Cell),
            Tag::Pre => Some(Self::Preformatted),
            Tag::Figcaption | Tag::Caption => Some(Self::Caption),
            _ => None,
        }
    }
}
