//! Documents that hold all of some words, or a phrase of them.

pub(crate) mod conjunction;
pub(crate) mod phrase;
pub(crate) mod required_lists;
