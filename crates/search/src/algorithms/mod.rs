//! Algorithms that find the k best documents of a plan without scoring every match.

pub(crate) mod alternatives;
pub(crate) mod best_of;
pub(crate) mod boolean;
pub(crate) mod maxscore;
pub(crate) mod term;
pub(crate) mod values;
