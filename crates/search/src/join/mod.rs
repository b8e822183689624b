//! Documents that hold all of some words, a phrase of them, or the best of them.

pub(crate) mod best_lists;
pub(crate) mod conjunction;
pub(crate) mod phrase;
pub(crate) mod required_lists;
