//! Details of hits, read for one request.

use crate::api::messages::{DetailsRequest, HitDetails};
use engine::calls::PartError;
use engine::{DetailsError, HitsRead, Part};
use search::{Plan, Stop};

/// Reads the details of the hits in a request, with explanations and lacking words by `plan` if requested.
pub(crate) fn details(
    part: &Part,
    request: &DetailsRequest,
    plan: Option<&Plan>,
    stop: &Stop<'_>,
) -> Result<Vec<HitDetails>, PartError> {
    let read = HitsRead {
        hits: &request.hits,
        explained_by: plan.filter(|_| request.explain),
        lacks_of: plan.filter(|_| request.lacks),
        bytes_max: request.bytes_max,
    };
    part.details(&read, stop).map_err(|error| match error {
        DetailsError::Index(error) => error.into(),
        DetailsError::Cancelled => PartError::Expired,
        DetailsError::TooLarge { bytes_max } => PartError::TooLarge {
            explain: request.explain,
            bytes_max,
        },
        error => PartError::NotServed {
            reason: error.to_string(),
        },
    })
}
