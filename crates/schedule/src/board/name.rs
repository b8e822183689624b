//! Policies by name, as users write them.

use super::policies::{
    Adaptive, Boost, EarliestDeadline, FewToMany, Fifo, HelpAndYield, HelpIfIdle, HurryUp,
    IdleShare, LeastLeft, ShortestFirst, Target,
};
use super::state::Policy;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A name that is no policy's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no policy `{given}`; choose one of {}", policy_names().join(", "))]
pub struct PolicyNameError {
    /// The name as given.
    pub given: String,
}

/// A policy chosen by name; `help-if-idle` by default.
#[derive(Debug, Clone)]
pub struct PolicyChoice(Arc<dyn Policy>);

impl PolicyChoice {
    /// Chooses a policy that has no name.
    pub fn of(policy: Arc<dyn Policy>) -> PolicyChoice {
        PolicyChoice(policy)
    }

    /// Returns the policy.
    pub fn policy(&self) -> &Arc<dyn Policy> {
        &self.0
    }
}

impl Default for PolicyChoice {
    fn default() -> PolicyChoice {
        PolicyChoice(Arc::new(HelpIfIdle))
    }
}

impl PartialEq for PolicyChoice {
    fn eq(&self, other: &PolicyChoice) -> bool {
        self.0.name() == other.0.name()
    }
}

impl Eq for PolicyChoice {}

impl FromStr for PolicyChoice {
    type Err = PolicyNameError;

    fn from_str(given: &str) -> Result<PolicyChoice, PolicyNameError> {
        policy_named(given).map(PolicyChoice)
    }
}

impl fmt::Display for PolicyChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name())
    }
}

/// Default parameters.
const INTERVAL_NS: u64 = 1_000_000;
const TARGET_NS: u64 = 20_000_000;
const SAMPLING_NS: u64 = 1_000_000;
const HURRY_AFTER_NS: u64 = 2_000_000;

/// Returns the names of all policies, parameters in brackets.
pub fn policy_names() -> [&'static str; 12] {
    [
        "help-if-idle",
        "boost",
        "least-left[:alone]",
        "help-and-yield[:TIME]",
        "fifo[:DEGREE]",
        "idle-share[:DEGREE]",
        "adaptive",
        "few-to-many[:INTERVAL]",
        "target[:TIME]",
        "sjf",
        "earliest-deadline",
        "hurry-up[:SAMPLING,AFTER]",
    ]
}

/// Returns the policy of a name, for example `least-left`, `fifo:2` or `target:20ms`. Times end in `us` or `ms`.
///
/// # Errors
/// [`PolicyNameError`] for an unknown name and for parameters that the policy does not take.
pub fn policy_named(given: &str) -> Result<Arc<dyn Policy>, PolicyNameError> {
    parse(given).ok_or_else(|| PolicyNameError {
        given: given.to_owned(),
    })
}

fn parse(given: &str) -> Option<Arc<dyn Policy>> {
    let (name, parameters) = match given.split_once(':') {
        Some((name, parameters)) => (name, Some(parameters)),
        None => (given, None),
    };
    let times = |defaults: [u64; 2]| -> Option<[u64; 2]> {
        let Some(parameters) = parameters else {
            return Some(defaults);
        };
        match parameters.split_once(',') {
            Some((first, second)) => Some([time_ns(first)?, time_ns(second)?]),
            None => Some([time_ns(parameters)?, defaults[1]]),
        }
    };
    let time = |default_ns: u64| match parameters {
        Some(text) => time_ns(text),
        None => Some(default_ns),
    };
    let degree = |default: u32| match parameters {
        Some(text) => text.parse().ok().filter(|&degree: &u32| degree >= 1),
        None => Some(default),
    };
    Some(match (name, parameters) {
        ("least-left", None) => Arc::new(LeastLeft { helps: true }),
        ("least-left", Some("alone")) => Arc::new(LeastLeft { helps: false }),
        ("boost", None) => Arc::new(Boost),
        ("help-if-idle", None) => Arc::new(HelpIfIdle),
        ("help-and-yield", _) => {
            let [after_ns, at_once_ns] = times([0, u64::MAX])?;
            Arc::new(HelpAndYield {
                after_ns,
                at_once_ns,
            })
        }
        ("fifo", _) => Arc::new(Fifo { degree: degree(1)? }),
        ("idle-share", _) => Arc::new(IdleShare {
            degree_max: degree(u32::MAX)?,
        }),
        ("adaptive", None) => Arc::new(Adaptive),
        ("few-to-many", _) => Arc::new(FewToMany {
            interval_ns: time(INTERVAL_NS)?,
        }),
        ("target", _) => Arc::new(Target {
            target_ns: time(TARGET_NS)?,
        }),
        ("sjf", None) => Arc::new(ShortestFirst),
        ("earliest-deadline", None) => Arc::new(EarliestDeadline),
        ("hurry-up", _) => {
            let [sampling_ns, after_ns] = times([SAMPLING_NS, HURRY_AFTER_NS])?;
            Arc::new(HurryUp {
                sampling_ns: sampling_ns.max(1000),
                after_ns,
            })
        }
        _ => return None,
    })
}

/// Reads `300us` or `20ms`.
fn time_ns(text: &str) -> Option<u64> {
    let (number, unit_ns) = match text.strip_suffix("us") {
        Some(number) => (number, 1_000),
        None => (text.strip_suffix("ms")?, 1_000_000),
    };
    number.parse::<u64>().ok()?.checked_mul(unit_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for name in [
            "help-if-idle",
            "boost",
            "least-left",
            "least-left:alone",
            "help-and-yield",
            "help-and-yield:300us",
            "help-and-yield:300us,500us",
            "fifo:1",
            "fifo:16",
            "idle-share",
            "idle-share:4",
            "adaptive",
            "few-to-many:1000us",
            "target:20ms",
            "target:1500us",
            "sjf",
            "earliest-deadline",
            "hurry-up:1000us,2000us",
        ] {
            assert_eq!(policy_named(name).unwrap().name(), name);
        }
        assert_eq!(policy_named("fifo").unwrap().name(), "fifo:1");
        assert_eq!(policy_named("target").unwrap().name(), "target:20ms");
        for bad in [
            "",
            "fifo:0",
            "fifo:x",
            "sjf:1",
            "target:20",
            "least",
            "target:-1ms",
            "adaptive:2",
        ] {
            let error = policy_named(bad).unwrap_err().to_string();
            assert!(error.contains("choose one of help-if-idle"), "{error}");
        }
    }
}
