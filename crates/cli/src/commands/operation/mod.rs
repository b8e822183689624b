//! Commands around an index and the program: copies, checks, a demonstration, completions, manual pages.

pub(crate) mod backup;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod man;
