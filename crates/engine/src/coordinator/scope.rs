//! What all steps of an attempt share: the query with its cut and limits, and the record of the answer.

use crate::coordinator::call::Limits;
use crate::coordinator::coverage::Coverage;
use crate::coordinator::layout::Layout;
use crate::coordinator::prepared::PreparedQuery;
use wire::PhaseTimes;

/// Query, cut of the index, and limits of an attempt.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) prepared: &'a PreparedQuery,
    pub(crate) layout: &'a (dyn Layout + Sync),
    pub(crate) limits: Limits,
}

/// Record of an attempt: its times, and its missing parts.
#[derive(Default)]
pub(crate) struct Record {
    pub(crate) phases: PhaseTimes,
    pub(crate) coverage: Coverage,
}
