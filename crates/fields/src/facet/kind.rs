//! What a kind of facet does: reads its text, makes buckets or figures of the values of documents, and shows them.
//!
//! ```text
//! documents ─codes─► buckets (a value each, or spans of codes) ─► counts of parts, joined ─► FacetAnswer
//!                └─► figures (a state of the kind's own)       ─►
//! ```

use super::buckets::Buckets;
use super::bytes::{Reader, Writer};
use super::coded::CodedValues;
use super::spans::Spans;
use crate::field_type::FieldType;
use crate::test::BadTest;
use std::fmt::Debug;
use wire::FacetAnswer;

/// Text of a kind of facet.
pub(super) trait Kind: Sized {
    /// Reads the kind from its name and argument, for a field of type `field`; `None` where it is of another name, or is
    /// not for such fields.
    fn read(field: FieldType, name: &str, argument: &str) -> Option<Result<Self, BadTest>>;

    /// Returns examples of its texts for fields of a type; empty where it is not for them.
    fn offered(field: FieldType) -> &'static str;

    /// Returns the name and the argument, as [`Kind::read`] takes them.
    fn text(&self) -> String;
}

/// Kind that puts documents into buckets, which may have facets of their own.
pub trait BucketKind {
    /// Returns the codes of each bucket, given those that occur in the matches with their counts, increasing; `None` where
    /// each value is a bucket.
    fn spans(&self, values: &dyn CodedValues, occurring: &[(u64, u64)]) -> Option<Spans>;

    /// Returns the number of buckets that are shown, the most frequent; `None` where all are.
    fn chosen_max(&self) -> Option<usize> {
        None
    }

    /// Shows the buckets of all matches in `answer`. Returns the place in `buckets` of each one that it shows; `None` for one
    /// without documents.
    fn show(&self, field: &str, buckets: &Buckets, answer: &mut FacetAnswer) -> Vec<Option<usize>>;
}

/// Kind that makes figures of the values.
pub(super) trait FigureKind {
    /// Figures of a part of the matches.
    type State: FigureState;

    /// Returns the figures of codes, increasing, each with the number of its values.
    fn of_codes(&self, counts: &[(u64, u64)], values: &dyn CodedValues) -> Self::State;

    /// Shows the figures of all matches in `answer`.
    fn show(&self, figures: &Self::State, answer: &mut FacetAnswer);
}

/// Figures of a part of the matches. Those of several parts are the same in whatever order they were joined.
pub(super) trait FigureState: Debug + Clone + Default + PartialEq {
    /// Adds the figures of another part.
    fn join(&mut self, other: Self);

    /// Writes the figures as bytes.
    fn write(&self, writer: &mut Writer);

    /// Reads what [`FigureState::write`] wrote; `None` where bytes are no figures.
    fn read(reader: &mut Reader<'_>) -> Option<Self>;

    /// Returns the memory beside the state itself, in units of [`WEIGHT_BYTES`]. Figures of a part never weigh more than those of
    /// the whole.
    fn weight(&self) -> u64 {
        0
    }
}

/// Bytes of figures that count as much as a bucket.
pub(super) const WEIGHT_BYTES: u64 = 128;

/// Returns the error of a facet.
pub(super) fn bad(reason: impl Into<String>) -> BadTest {
    BadTest {
        reason: reason.into(),
    }
}
