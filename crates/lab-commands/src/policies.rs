//! Names of scheduling policies on the command line.

use schedule::board::{Policy, policy_named, policy_names};
use std::sync::Arc;

/// Policies that `all` stands for, beside each with its default parameters.
const VARIANTS: [&str; 2] = ["fifo:2", "least-left:alone"];

/// Policies of handlers, in the order given.
#[derive(Debug, Clone)]
pub(crate) struct Policies {
    /// The text as given.
    pub(crate) given: String,
    /// Name of each, as given, for runs of the laboratory.
    #[cfg(feature = "lab")]
    pub(crate) names: Vec<String>,
    /// The policies.
    pub(crate) list: Vec<Arc<dyn Policy>>,
}

/// Reads `least-left`, `fifo:2,help-and-yield:300us,500us` or `all`. A part that begins with a digit is a further
/// parameter of the policy before it.
pub(crate) fn parse_policies(text: &str) -> Result<Policies, String> {
    let mut names: Vec<String> = Vec::new();
    for part in text.split(',') {
        match names.last_mut() {
            Some(before) if part.starts_with(|first: char| first.is_ascii_digit()) => {
                before.push(',');
                before.push_str(part);
            }
            _ if part == "all" => names.extend(all()),
            _ => names.push(part.to_owned()),
        }
    }
    let policies = names.iter().map(|name| policy_named(name));
    let list: Result<_, _> = policies.collect();
    Ok(Policies {
        given: text.to_owned(),
        list: list.map_err(|error| error.to_string())?,
        #[cfg(feature = "lab")]
        names,
    })
}

/// Returns all policies with default parameters, and some variants.
fn all() -> Vec<String> {
    let bare = |name: &'static str| name.split('[').next().unwrap_or(name);
    let mut names: Vec<String> = Vec::new();
    for name in policy_names().map(bare) {
        names.push(name.to_owned());
        let variants = VARIANTS
            .iter()
            .filter(|one| one.split(':').next() == Some(name));
        names.extend(variants.map(|&one| one.to_owned()));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let policies = parse_policies(text).unwrap();
        policies.list.iter().map(|one| one.name()).collect()
    }

    #[test]
    fn lists_of_policies_are_read_or_refused() {
        assert_eq!(names("least-left"), ["least-left"]);
        assert_eq!(
            names("fifo:2,help-and-yield:300us,500us,sjf"),
            ["fifo:2", "help-and-yield:300us,500us", "sjf"]
        );
        let all = names("all");
        assert_eq!(all.len(), policy_names().len() + VARIANTS.len());
        assert!(all.contains(&"fifo:1".to_owned()) && all.contains(&"fifo:2".to_owned()));
        for bad in ["", "fifo,", "2", "fifo,x", "sjf,2"] {
            assert!(parse_policies(bad).is_err(), "{bad}");
        }
    }
}
