//! Queries, values and facets as messages of [`wire::rpc`], and back. All input is checked.

pub(crate) mod clause;
pub(crate) mod values;

pub(crate) use clause::query_bytes;

use engine::calls::PartError;

/// Returns the failure of a server that answered with `what`, which cannot be read.
pub(crate) fn malformed(what: &str) -> PartError {
    PartError::Protocol {
        reason: format!("it answered with {what} that cannot be read; update the older of both"),
    }
}
