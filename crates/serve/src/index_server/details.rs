//! Details of hits, read for one request.

use crate::api::messages::{DetailsRequest, HitDetails};
use engine::Part;
use engine::calls::PartError;
use search::{Plan, Stop};

/// Reads the details of the hits in a request, with explanations and lacking words by `plan` if requested.
pub(crate) fn details(
    part: &Part,
    request: &DetailsRequest,
    plan: Option<&Plan>,
    stop: &Stop<'_>,
) -> Result<Vec<HitDetails>, PartError> {
    let details = part.details(&request.read(plan), stop);
    details.map_err(|error| PartError::of_details(error, request.explain))
}
