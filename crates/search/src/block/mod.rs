//! Blocks of candidates, the lists that they are looked up in, and the three ways to apply a clause to a block.

pub(crate) mod apply;
pub(crate) mod best_window;
pub(crate) mod bitset;
pub(crate) mod candidate_block;
pub(crate) mod columns;
pub(crate) mod impact_filter;
mod impact_limits;
pub(crate) mod probed;
pub(crate) mod scored_list;
pub(crate) mod term_scorer;
pub(crate) mod window;
