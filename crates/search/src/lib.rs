//! Search engine core: query text to plan to algorithm to the k best. No files, no network, no threads of its own.
//!
//! ```text
//! text ──parse──► Query ──Plan::new(statistics)──► Plan ──SearchTask──► TopK ──► hits
//! ```
//!
//! Exactness rule: for any chunks, ranges and order the same hits, scores and order.

pub mod query;

pub mod plan;

mod context;

pub mod collect;

mod block;
mod join;

pub mod exhaustive;

pub mod aggregate;

mod algorithms;
mod count;
mod verify;

pub mod exec;

#[cfg(test)]
mod testing;

pub use aggregate::{
    FacetError, OtherParts, SortKey, SortedHit, best_by_values, check_collapse, count_facet,
    count_facets, count_groups, groups_of, merge_by_values,
};
pub use collect::topk::{After, ScoredHit, SharedThreshold, TopK, merge_sorted};
pub use collect::{Collectors, Context, DocBits, HitCollector, MatchCollector, MatchCount};
pub use context::cancel::Stop;
pub use context::contract;
pub use exec::Coverage;
pub use exec::gather::{Gathered, MatchesShare};
pub use exec::profile::{self, Profile, profile};
pub use exec::run::{Searched, collect, count_partition, search_partition, top_of_partition};
pub use exec::task::{Cut, SearchTask, Share, Split, Visitor};
pub use exec::worker::Worker;
pub use exhaustive::explain::{self, Explanation};
pub use exhaustive::missing_terms::MissingTerms;
pub use plan::{Plan, PlanCost, PlanKind, Ranking, ranking};
pub use query::parse::{
    self, Least, Operator, Parsed, QueryRules, ReadWith, Reading, Ruled, UnknownLeast,
    bag_of_words, parse, parse_as_you_type, parse_filter, parse_with, phrase_of, some_of_words,
    words_as_you_type, words_with,
};
pub use query::{BeyondLimits, Pinned, Query, Ruling, nested};
pub use verify::filter_runs::{FilterRun, FilterWay, watch_filters};
