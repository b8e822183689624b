//! Editions of `standard`, which are analyzers of their own: the rules of a name never change.
//!
//! | | `standard` | `standard2` |
//! |---|---|---|
//! | terms of a compound | the whole and the parts | each run of neighbouring parts, too |
//! | digits | those of ASCII and full-width ones are one | those of all scripts are one |
//! | `½` | a term of its own | what `1/2` is |
//! | `ʼ`, `ʻ`, `´` and their like within a word | letters, or separators | apostrophes |
//! | `㎏`, full-width dots, hyphens and signs | separators | what they fold to |

use crate::language::Languages;

/// Edition of the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edition {
    First,
    Second,
}

/// Rules of one analyzer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) edition: Edition,
    pub(crate) languages: Languages,
}

impl Rules {
    pub(crate) fn first(languages: Languages) -> Rules {
        Rules {
            edition: Edition::First,
            languages,
        }
    }

    pub(crate) fn second(languages: Languages) -> Rules {
        Rules {
            edition: Edition::Second,
            languages,
        }
    }
}
