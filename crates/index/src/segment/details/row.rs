//! Row of a document, as it is written and as it is read.

/// Data of a document, besides its words, for the writer of a segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DocumentRow<'a> {
    pub(crate) url: &'a str,
    /// Own id; `None` where it is the URL.
    pub(crate) id: Option<&'a str>,
    pub(crate) title: &'a str,
    pub(crate) url_hash: u64,
    pub(crate) site_hash: u64,
    /// Hash of the text, which is 0 where it is not known.
    pub(crate) text_hash: u64,
    /// Words by field, in the order of `Field::WITH_LENGTHS`.
    pub(crate) lengths: [u32; 2],
}

/// Details of a segment as they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row<'r> {
    pub(super) url: &'r str,
    /// Empty where it is the URL.
    pub(super) id: &'r str,
    pub(super) title: &'r str,
}

impl<'r> Row<'r> {
    /// Returns the id, its own or the URL.
    pub(super) fn id(self) -> &'r str {
        match self.id {
            "" => self.url,
            id => id,
        }
    }
}

/// Which texts of a row are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Url,
    Title,
    All,
}
