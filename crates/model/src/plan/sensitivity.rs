//! Sensitivity of a plan to its assumptions.

use super::Request;
use super::search::{Fleet, Told, evaluate, plan_watched};
use crate::error::ModelError;

/// One changed assumption, and its effect on the planned fleet.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    /// Name of the case.
    pub case: &'static str,
    /// Response time at the target's share of queries; infinite if the fleet is overloaded or a slice
    /// is lost.
    pub response_ms: f64,
    /// Mean share of busy cores, 1 and more for overload; NaN if a slice is lost.
    pub utilisation: f64,
    /// Whether the fleet still meets the target.
    pub keeps_target: bool,
    /// Number of servers of a fleet planned for this case, if one exists.
    pub servers_needed: Option<usize>,
}

/// Evaluates the planned fleet as requested, with twice the traffic, with twice the documents, with
/// searches a fifth slower, and with one server lost.
///
/// # Errors
/// The errors of [`plan`](super::plan).
pub fn sensitivity(request: &Request, fleet: &Fleet) -> Result<Vec<WhatIf>, ModelError> {
    sensitivity_watched(request, fleet, &mut |_, _, _| {})
}

/// Does the same as [`sensitivity`] and reports its progress.
///
/// # Errors
/// The errors of [`plan`](super::plan).
pub fn sensitivity_watched(
    request: &Request,
    fleet: &Fleet,
    told: Told<'_>,
) -> Result<Vec<WhatIf>, ModelError> {
    let changed = |change: fn(&mut Request)| {
        let mut other = request.clone();
        change(&mut other);
        other
    };
    let cases: [(&'static str, Request); 4] = [
        ("as planned", request.clone()),
        ("traffic × 2", changed(|request| request.rate_per_s *= 2.0)),
        (
            "index × 2",
            changed(|request| request.documents_ratio *= 2.0),
        ),
        (
            "searches 20 % slower",
            changed(|request| request.speed /= 1.2),
        ),
    ];
    let mut rows = Vec::with_capacity(cases.len() + 1);
    for (case, request) in &cases {
        let mut then = *fleet;
        evaluate(request, &mut then, request.rate_per_s)?;
        let servers_needed = match *case {
            "as planned" => Some(fleet.servers()),
            _ => plan_watched(request, case, told)
                .ok()
                .map(|fleet| fleet.servers()),
        };
        rows.push(row(case, request, &then, servers_needed));
    }
    let mut then = Fleet {
        replicas: fleet.replicas - 1,
        ..*fleet
    };
    if then.replicas == 0 {
        rows.push(WhatIf {
            case: "one server lost",
            response_ms: f64::INFINITY,
            utilisation: f64::NAN,
            keeps_target: false,
            servers_needed: Some(2 * fleet.slices),
        });
    } else {
        // Treats every slice as if it had lost a server: a query waits for the slice that did.
        evaluate(request, &mut then, request.rate_per_s)?;
        let spare = Request {
            spare_replicas: request.spare_replicas.max(1),
            ..request.clone()
        };
        let needed = plan_watched(&spare, "one server lost", told)
            .ok()
            .map(|fleet| fleet.servers());
        let mut lost = row("one server lost", request, &then, needed);
        if lost.keeps_target {
            lost.servers_needed = Some(fleet.servers());
        }
        rows.push(lost);
    }
    Ok(rows)
}

fn row(
    case: &'static str,
    request: &Request,
    then: &Fleet,
    servers_needed: Option<usize>,
) -> WhatIf {
    WhatIf {
        case,
        response_ms: then.response_ms,
        utilisation: then.utilisation,
        keeps_target: then.response_ms <= request.target.response_ms,
        servers_needed,
    }
}
