//! Kinds of facets: the one list of them. A kind is a file beside this one, and a line below.
//!
//! ```text
//! kind   := terms [: n] | distinct | stats | percentiles [: p , …] | step : width
//!           | period [: zone] | ranges : a..b ; c.. ; … | missing
//! period := year | quarter | month | week | day | hour
//! zone   := the name of a time zone, as Europe/Berlin; UTC without one
//! width  := number                                of numbers; of dates: integer d (days) | integer h (hours)
//! ```

mod calendar;
mod distinct;
mod interval;
mod missing;
mod percentiles;
mod ranges;
mod stats;
mod step;
mod terms;

pub use calendar::Calendar;
pub use distinct::Distinct;
pub use interval::Interval;
pub use missing::Missing;
pub use percentiles::{Distribution, PERCENTILES_DEFAULT, PERCENTILES_MAX, Percentiles};
pub use ranges::{RANGES_MAX, Range, Ranges};
pub use stats::ValueStats;
pub use step::Step;
pub use terms::{TERMS_DEFAULT, TERMS_MAX, Terms};

use super::buckets::Buckets;
use super::bytes::{Reader, Writer};
use super::coded::CodedValues;
use super::kind::{BucketKind, FigureKind, FigureState, Kind};
use crate::distinct::DistinctValues;
use crate::field_type::FieldType;
use crate::stats::Stats;
use crate::test::BadTest;
use wire::FacetAnswer;

/// Declares the kinds with buckets, each with what it counts, and those of figures, each with its state.
macro_rules! kinds {
    (
        buckets { $($bucket:ident: $bucket_text:literal,)* }
        figures { $($figure:ident($figure_kind:ident) -> $state:ident: $figure_text:literal,)* }
    ) => {
        /// Kind of a facet's count.
        #[derive(Debug, Clone, PartialEq)]
        pub enum FacetKind {
            $(#[doc = $bucket_text] $bucket($bucket),)*
            $(#[doc = $figure_text] $figure($figure_kind),)*
        }

        /// Figures of a part of the matches, by kind.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub enum Figures {
            /// None: of a kind with buckets, or of no documents.
            #[default]
            None,
            $(#[doc = $figure_text] $figure($state),)*
        }

        impl FacetKind {
            /// Reads a kind from its name and argument; `None` where no kind for fields of this type has the name.
            pub(super) fn read(
                field: FieldType,
                name: &str,
                argument: &str,
            ) -> Option<Result<FacetKind, BadTest>> {
                $(if let Some(kind) = $bucket::read(field, name, argument) {
                    return Some(kind.map(FacetKind::$bucket));
                })*
                $(if let Some(kind) = $figure_kind::read(field, name, argument) {
                    return Some(kind.map(FacetKind::$figure));
                })*
                None
            }

            /// Returns examples of the kinds for fields of a type.
            pub(super) fn offered(field: FieldType) -> String {
                let all = [$($figure_kind::offered(field),)* $($bucket::offered(field),)*];
                let own: Vec<&str> = all.into_iter().filter(|text| !text.is_empty()).collect();
                own.join(", ")
            }

            /// Returns the name and the argument.
            pub(super) fn text(&self) -> String {
                match self {
                    $(FacetKind::$bucket(kind) => kind.text(),)*
                    $(FacetKind::$figure(kind) => kind.text(),)*
                }
            }

            /// Returns the kind as one with buckets; `None` for kinds of figures.
            pub fn as_buckets(&self) -> Option<&dyn BucketKind> {
                match self {
                    $(FacetKind::$bucket(kind) => Some(kind),)*
                    $(FacetKind::$figure(_) => None,)*
                }
            }

            /// Returns the figures of codes, increasing, each with the number of its values.
            pub fn figures_of(&self, counts: &[(u64, u64)], values: &dyn CodedValues) -> Figures {
                match self {
                    $(FacetKind::$bucket(_) => Figures::None,)*
                    $(FacetKind::$figure(kind) => Figures::$figure(kind.of_codes(counts, values)),)*
                }
            }

            /// Shows buckets or figures in `answer`. Returns the places of the buckets that it shows.
            pub(super) fn show(
                &self,
                field: &str,
                buckets: &Buckets,
                figures: &Figures,
                answer: &mut FacetAnswer,
            ) -> Vec<Option<usize>> {
                match (self, figures) {
                    $((FacetKind::$bucket(kind), _) => return kind.show(field, buckets, answer),)*
                    $((FacetKind::$figure(kind), Figures::$figure(state)) => kind.show(state, answer),)*
                    $((FacetKind::$figure(kind), _) => kind.show(&$state::default(), answer),)*
                }
                Vec::new()
            }

            /// Reads figures of this kind; `None` where bytes are none.
            pub(super) fn read_figures(&self, reader: &mut Reader<'_>) -> Option<Figures> {
                if !reader.truth()? {
                    return Some(Figures::None);
                }
                match self {
                    $(FacetKind::$bucket(_) => None,)*
                    $(FacetKind::$figure(_) => <$state as FigureState>::read(reader).map(Figures::$figure),)*
                }
            }
        }

        impl Figures {
            /// Adds the figures of another part, of the same kind.
            pub(super) fn join(&mut self, other: Figures) {
                match (self, other) {
                    $((Figures::$figure(own), Figures::$figure(other)) => FigureState::join(own, other),)*
                    (own @ Figures::None, other) => *own = other,
                    (_, _) => {}
                }
            }

            /// Writes the figures as bytes.
            pub(super) fn write(&self, writer: &mut Writer) {
                writer.bytes(&[u8::from(*self != Figures::None)]);
                match self {
                    Figures::None => {}
                    $(Figures::$figure(own) => FigureState::write(own, writer),)*
                }
            }

            /// Returns the memory of the figures, in units of a bucket.
            pub(super) fn weight(&self) -> u64 {
                match self {
                    Figures::None => 0,
                    $(Figures::$figure(own) => FigureState::weight(own),)*
                }
            }
        }
    };
}

kinds! {
    buckets {
        Calendar: "Documents of each period of the calendar of a time zone.",
        Terms: "Documents of each of the most frequent values.",
        Step: "Documents of each interval of a width.",
        Interval: "Documents of each interval of a number of microseconds, counted from 1970.",
        Ranges: "Documents of each of some ranges.",
        Missing: "Documents without a value.",
    }
    figures {
        Stats(ValueStats) -> Stats: "Number, least, greatest, sum and mean of the values.",
        Percentiles(Percentiles) -> Distribution: "For each of some percents, the value that this share of the values does not exceed.",
        Distinct(Distinct) -> DistinctValues: "Number of distinct values.",
    }
}

impl FacetKind {
    /// Returns the name of the kind of a facet that names none, for fields of a type.
    pub(super) fn default_of(field: FieldType) -> &'static str {
        match field {
            FieldType::Keyword | FieldType::Bool | FieldType::Text => "terms",
            FieldType::Integer | FieldType::Float => "stats",
            FieldType::Date => "year",
        }
    }
}
