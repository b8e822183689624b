//! Arms of experiments: the server, the machine and the order of queries that one side of a comparison has.
use crate::Knob;
use serde::Deserialize;
use std::collections::BTreeMap;

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// Name of the arm.
    pub name: String,
    /// Partitions of the index; each has an equal share of the cores for its handlers.
    pub partitions: usize,
    /// Handlers of each partition, in place of that share.
    pub handlers: Option<usize>,
    /// Scheduling policy of the handlers, as `serve --policy` takes it; the server's default without one.
    pub policy: Option<String>,
    /// Placement of the handlers, as `serve --placement` takes it.
    pub placement: Option<String>,
    /// CPUs of the handlers, as `serve --cpus` takes them.
    pub cpus: Option<String>,
    /// Memory that the index is loaded into, as `serve --preload` takes it.
    pub preload: Option<String>,
    /// Order of the queries: `as-is`, `unique`, `real`, `sorted`.
    #[serde(default)]
    pub order: Order,
    /// Machine settings, by knob.
    #[serde(default)]
    pub set: BTreeMap<Knob, String>,
    /// Memory that a co-runner sweeps, as a share of the last-level cache.
    pub co_runner: Option<f64>,
    /// Capabilities without which this arm is skipped.
    #[serde(default)]
    pub needs: Vec<String>,
}

/// Order of queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Order of the file.
    #[default]
    AsIs,
    /// Each query once.
    Unique,
    /// Random order.
    Real,
    /// Sorted by text.
    Sorted,
}

impl Arm {
    /// Returns an arm that is named after its policy.
    pub fn of_policy(policy: &str) -> Arm {
        Arm {
            name: policy.to_owned(),
            partitions: 1,
            policy: Some(policy.to_owned()),
            ..Arm::default()
        }
    }

    /// Returns the handlers of each partition, where `cores_count` cores are shared by all.
    pub(crate) fn handlers(&self, cores_count: usize) -> usize {
        let share = cores_count / self.partitions.max(1);
        self.handlers.unwrap_or(share).max(1)
    }

    /// Returns the options of `shorttail serve` that the arm sets, beside partitions and handlers.
    pub(crate) fn server_options(&self) -> Vec<&str> {
        let options = [
            ("--policy", &self.policy),
            ("--placement", &self.placement),
            ("--cpus", &self.cpus),
            ("--preload", &self.preload),
        ];
        let given = options
            .into_iter()
            .filter_map(|(name, value)| Some([name, value.as_deref()?]));
        given.flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_set_the_server() {
        let arm = Arm {
            placement: Some("data".into()),
            cpus: Some("0-1".into()),
            preload: Some("touch".into()),
            ..Arm::of_policy("boost")
        };
        let options = [
            "--policy",
            "boost",
            "--placement",
            "data",
            "--cpus",
            "0-1",
            "--preload",
            "touch",
        ];
        assert_eq!(arm.server_options(), options);
        assert_eq!(Arm::default().server_options(), [""; 0]);
        assert_eq!((arm.handlers(6), Arm::default().handlers(0)), (6, 1));
    }
}
