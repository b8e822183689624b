//! Details of hits, read for one request.

use crate::api::messages::{DetailsRequest, HitDetails};
use engine::Part;
use engine::calls::PartError;
use search::{Plan, Stop};

/// Reads the details of the hits in a request, with explanations and lacking words by `plan` if requested. The part may be of
/// another generation, which has the hits unchanged.
pub(crate) fn details(
    part: &Part,
    request: &DetailsRequest,
    plan: Option<&Plan>,
    stop: &Stop<'_>,
) -> Result<Vec<HitDetails>, PartError> {
    let details = part.details(&request.read(plan), stop);
    let mut details = details.map_err(|error| PartError::of_details(error, request.explain))?;
    if ![0, part.index().generation()].contains(&request.generation) {
        // The site may have had more or fewer documents in the generation that was searched.
        for hit in &mut details {
            hit.site_documents_count = 0;
        }
    }
    Ok(details)
}
