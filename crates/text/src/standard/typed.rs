//! Words of a query, with the parts that a phrase may group otherwise.

use super::parts::Parts;
use super::terms::Ways;
use smallvec::smallvec;

/// A word of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryWord {
    /// The ways in which documents hold the word. Not empty.
    pub forms: Ways,
    /// Whether the only form is one term that is a prefix of those that match: a single letter of a script without
    /// blanks.
    pub is_prefix: bool,
    /// The term of the end of a run of letters, which follows in a phrase where another word does.
    pub(super) end: Option<String>,
}

impl QueryWord {
    /// Makes a word of one term.
    pub(crate) fn of_term(term: String) -> QueryWord {
        QueryWord {
            forms: smallvec![smallvec![term]],
            is_prefix: false,
            end: None,
        }
    }

    pub(super) fn of_forms(forms: Ways) -> QueryWord {
        QueryWord {
            forms,
            is_prefix: false,
            end: None,
        }
    }
}

/// Word of a query, with the parts that phrases join.
pub(super) struct Typed<'t> {
    pub(super) word: QueryWord,
    /// Parts that may be written together with each other and with those of the words beside it: as typed together in
    /// the second edition; letters of one word in the first.
    pub(super) parts: Parts<'t>,
}

impl<'t> Typed<'t> {
    pub(super) fn unparted(word: QueryWord) -> Typed<'t> {
        Typed {
            word,
            parts: Parts::new(),
        }
    }
}
