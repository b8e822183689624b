//! Conversion of what rules say of the hits of a query to messages, and back within the limits of rules.

use crate::encoding::values;
use fields::{PRIORS_MAX, PriorOf, QueryPrior};
use search::Ruling;
use search::parse::URLS_MAX;
use wire::rpc;
use wire::rpc::rule_prior::Of;

/// Returns the message of rules, without the clause of the pinned documents.
pub(super) fn message(by: &Ruling) -> rpc::Ruled {
    let prior = |prior: &QueryPrior| rpc::RulePrior {
        weight: prior.weight,
        of: Some(match &prior.of {
            PriorOf::Passes { field, test } => Of::Passes(values::test_message(field, test)),
            PriorOf::Site(site) => Of::Site(site.clone()),
            PriorOf::Age {
                field,
                now_us,
                half_us,
            } => Of::Age(rpc::AgePrior {
                field: field.clone(),
                now_us: *now_us,
                half_us: *half_us,
            }),
        }),
    };
    let pinned = by.pinned.as_ref();
    rpc::Ruled {
        priors: by.priors.iter().map(prior).collect(),
        pinned: pinned.map(|pinned| pinned.urls.clone()).unwrap_or_default(),
    }
}

/// Returns the priors and the URLs of the pinned documents.
pub(super) fn read(message: rpc::Ruled) -> Result<(Vec<QueryPrior>, Vec<String>), &'static str> {
    if message.priors.len() > PRIORS_MAX || message.pinned.len() > URLS_MAX {
        return Err("the query has more rules than are allowed");
    }
    let priors = message.priors.into_iter().map(prior);
    Ok((priors.collect::<Result<_, _>>()?, message.pinned))
}

fn prior(message: rpc::RulePrior) -> Result<QueryPrior, &'static str> {
    let of = match message.of.ok_or("the query has a prior of unknown kind")? {
        Of::Passes(test) => PriorOf::Passes {
            field: test.field.clone(),
            test: values::test(test).ok_or("the query has a test that cannot be read")?,
        },
        Of::Site(site) => PriorOf::Site(site),
        Of::Age(rpc::AgePrior {
            field,
            now_us,
            half_us,
        }) => PriorOf::Age {
            field,
            now_us,
            half_us,
        },
    };
    let prior = QueryPrior {
        weight: message.weight,
        of,
    };
    match prior.is_sound() {
        true => Ok(prior),
        false => Err("the query has a prior beyond the limits"),
    }
}
