//! Typed fields of documents: types, schema and its inference, values and their order, tests of a query; and what the owner of an
//! index says of relevance.
//!
//! ```text
//! {"date":"2024-05-06","tags":["a","b"],"size":{"bytes":7}}
//!     each_leaf ──► date = "2024-05-06"   tags = "a"   tags = "b"   size.bytes = 7
//!     Observed  ──► Schema { date: date, size.bytes: i64, tags: keyword }
//!     Value::of ──► Date(1714953600000000)  …             Test::parse(date, ">=2024-05") ──► a range of values
//! ```
//!
//! The crate knows nothing of indexes and queries.

mod calendar;
pub mod dates;
mod decimal;
mod declared;
mod distinct;
pub mod facet;
mod field_type;
mod leaves;
mod observed;
mod prior;
mod query_prior;
mod rules;
mod schema;
mod sketch;
mod stats;
mod test;
mod text_form;
mod value;
mod value_law;
mod words;
mod zone;

pub use calendar::Period;
pub use declared::{Declaration, Declarations, DeclaredPrior};
pub use distinct::{DISTINCT_EXACT_MAX, DistinctValues};
pub use facet::{Facet, FacetCounts, FacetKind};
pub use field_type::FieldType;
pub use leaves::each_leaf;
pub use observed::Observed;
pub use prior::{Prior, Priors};
pub use query_prior::{PriorOf, QueryPrior, days_us, of_age};
pub use rules::{PRIORS_MAX, Pins, PriorKind, RULES_BYTES_MAX, RulePrior, Rules, Synonyms};
pub use schema::{FIELDS_MAX, NAME_BYTES_MAX, Schema};
pub use sketch::{QuantileSketch, SKETCH_METHOD};
pub use stats::Stats;
pub use test::{BadTest, Limit, RangeEnd, Test};
pub use value::{KEYWORD_BYTES_MAX, Value};
pub use value_law::ValueLaw;
pub use words::{
    FieldText, NUMBER_FIRST, Searched, TEXT_FIELDS_MAX, TITLE, TextFields, WEIGHT_MAX,
};
pub use zone::Zone;
