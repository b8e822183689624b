//! Bodies of requests: received as they come, a few large ones at a time.

mod places;
mod receive;

pub(crate) use places::{BodyPlaces, LARGE_BODY_BYTES, LARGE_ENTRY_BYTES, NoPlace, Place};
pub(crate) use receive::{BodyReader, ReceiveError, Received};
