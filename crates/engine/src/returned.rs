//! Contents of an answer: the count of matches, and what each hit has.

use serde::{Deserialize, Serialize};

/// What an answer holds of the matches of a query. No more calls are made than it needs.
///
/// ```text
///                 count of matches   score, place   id, URL   title, site, further hits of the site   fields, summary
/// k = 0, counted         x
/// Numbers            if counted           x
/// Ids                if counted           x            x
/// Details            if counted           x            x                     x                          if wanted
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Returned {
    /// Whether all matches are counted; otherwise the total is a lower bound. With a `k` of 0 that count is all that is
    /// looked for: no hit is ranked.
    pub counted: bool,
    /// Contents of each hit.
    pub hits: HitContents,
}

/// Contents of a hit; each has what those before it have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum HitContents {
    /// Score, segment, document, and the hashes of URL and site, in [`numbers`](wire::SearchAnswer::numbers). No document
    /// is read: what a second ranking stage and a measurement of searches want.
    Numbers,
    /// Id and URL, with the explanation of the score where that is asked for.
    Ids,
    /// Title and site too, the words of the query that the document lacks, and whether its site has further hits.
    Details {
        /// Whether hits have the further fields of their documents.
        #[serde(default)]
        fields: bool,
        /// Whether hits have summaries of their texts.
        #[serde(default)]
        summaries: bool,
    },
}

impl Default for Returned {
    fn default() -> Returned {
        Returned {
            counted: true,
            hits: HitContents::default(),
        }
    }
}

impl Default for HitContents {
    /// Details with summaries.
    fn default() -> HitContents {
        HitContents::Details {
            fields: false,
            summaries: true,
        }
    }
}

impl HitContents {
    /// Details without fields and summaries.
    pub const DETAILS: HitContents = HitContents::Details {
        fields: false,
        summaries: false,
    };

    /// Returns whether hits have the further fields of their documents.
    pub fn has_fields(self) -> bool {
        matches!(self, HitContents::Details { fields: true, .. })
    }

    /// Returns whether hits have summaries.
    pub fn has_summaries(self) -> bool {
        matches!(
            self,
            HitContents::Details {
                summaries: true,
                ..
            }
        )
    }

    /// Returns the contents with or without further fields; with them, hits have details too.
    #[must_use]
    pub fn with_fields(self, fields: bool) -> HitContents {
        match self {
            HitContents::Details { summaries, .. } => HitContents::Details { fields, summaries },
            other if !fields => other,
            _ => HitContents::Details {
                fields,
                summaries: false,
            },
        }
    }

    /// Returns the contents with or without summaries; with them, hits have details too.
    #[must_use]
    pub fn with_summaries(self, summaries: bool) -> HitContents {
        match self {
            HitContents::Details { fields, .. } => HitContents::Details { fields, summaries },
            other if !summaries => other,
            _ => HitContents::Details {
                fields: false,
                summaries,
            },
        }
    }
}
