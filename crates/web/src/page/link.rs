//! Links of a page with their texts and relations.

/// Link as written; `href` is not resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Address as written, character references decoded.
    pub href: String,
    /// Text of the link, at most 100 characters; of an image, its description.
    pub text: String,
    /// Relations.
    pub rel: Rel,
    /// Index of the block that holds the text, where it has any.
    pub block: Option<u32>,
    /// Whether the link stands in boilerplate.
    pub in_boilerplate: bool,
    /// Whether only an image gave the text so far.
    pub(super) in_image: bool,
}

/// Relations of a link that crawling distinguishes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rel(u8);

impl Rel {
    /// `nofollow`.
    pub const NOFOLLOW: Self = Self(1);
    /// `ugc`: written by users of the site.
    pub const UGC: Self = Self(2);
    /// `sponsored`.
    pub const SPONSORED: Self = Self(4);
    /// `canonical`.
    pub const CANONICAL: Self = Self(8);
    /// `alternate`.
    pub const ALTERNATE: Self = Self(16);
    /// `next`.
    pub const NEXT: Self = Self(32);

    /// Parses a `rel` value; unknown words are ignored.
    pub fn parse(value: &str) -> Self {
        let mut found = 0;
        for word in value.split([' ', '\t', '\n', '\r', '\x0c', ',']) {
            found |= [
                ("nofollow", Self::NOFOLLOW),
                ("ugc", Self::UGC),
                ("sponsored", Self::SPONSORED),
                ("canonical", Self::CANONICAL),
                ("alternate", Self::ALTERNATE),
                ("next", Self::NEXT),
            ]
            .iter()
            .find(|(name, _)| word.eq_ignore_ascii_case(name))
            .map_or(0, |(_, rel)| rel.0);
        }
        Self(found)
    }

    /// Returns whether all of `other` is set.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}
