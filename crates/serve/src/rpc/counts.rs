//! Messages that ask for counts of matches.

use crate::encoding::values;
use engine::calls::Counted;
use fields::Value;
use wire::rpc;

/// Returns the message that asks for the counts, without its query.
pub(super) fn counted_message(counted: &Counted) -> rpc::CountSitesRequest {
    match counted {
        Counted::Sites { names, limit } => rpc::CountSitesRequest {
            sites: names.to_vec(),
            limit: *limit,
            ..rpc::CountSitesRequest::default()
        },
        Counted::Groups { field, values } => rpc::CountSitesRequest {
            collapse: field.to_string(),
            groups: values.iter().map(values::value_message).collect(),
            ..rpc::CountSitesRequest::default()
        },
    }
}

/// Returns what a message asks to count.
pub(super) fn counted(message: rpc::CountSitesRequest) -> Result<Counted, tonic::Status> {
    if message.collapse.is_empty() {
        return Ok(Counted::Sites {
            names: message.sites.into(),
            limit: message.limit,
        });
    }
    let groups = message.groups.into_iter().map(values::value);
    let groups: Option<Vec<Value>> = groups.collect();
    let groups = groups.ok_or_else(|| tonic::Status::invalid_argument("a group has no value"))?;
    Ok(Counted::Groups {
        field: message.collapse.into(),
        values: groups.into(),
    })
}
