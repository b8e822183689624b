//! Experiments: question, arms, view and published figure.
//!
//! Each is defined in a file of its own, `crates/lab/experiments/NAME.toml`; one engine runs them all.
use crate::{Capability, LabError};
use serde::Deserialize;

pub use crate::arm::{Arm, Order};

/// Experiments in the order of execution and reporting.
const FILES: [(&str, &str); 20] = [
    (
        "query-lengths",
        include_str!("../../experiments/query-lengths.toml"),
    ),
    (
        "response-distribution",
        include_str!("../../experiments/response-distribution.toml"),
    ),
    (
        "terms-and-time",
        include_str!("../../experiments/terms-and-time.toml"),
    ),
    (
        "keywords-and-time",
        include_str!("../../experiments/keywords-and-time.toml"),
    ),
    (
        "tail-by-terms",
        include_str!("../../experiments/tail-by-terms.toml"),
    ),
    (
        "phases-and-size",
        include_str!("../../experiments/phases-and-size.toml"),
    ),
    (
        "documents-and-size",
        include_str!("../../experiments/documents-and-size.toml"),
    ),
    (
        "arrival-rate",
        include_str!("../../experiments/arrival-rate.toml"),
    ),
    (
        "partitions",
        include_str!("../../experiments/partitions.toml"),
    ),
    (
        "query-parallelism",
        include_str!("../../experiments/query-parallelism.toml"),
    ),
    (
        "query-locality",
        include_str!("../../experiments/query-locality.toml"),
    ),
    (
        "idle-states",
        include_str!("../../experiments/idle-states.toml"),
    ),
    ("smt", include_str!("../../experiments/smt.toml")),
    (
        "model-figures",
        include_str!("../../experiments/model-figures.toml"),
    ),
    (
        "prediction",
        include_str!("../../experiments/prediction.toml"),
    ),
    (
        "posting-balance",
        include_str!("../../experiments/posting-balance.toml"),
    ),
    (
        "decompression-share",
        include_str!("../../experiments/decompression-share.toml"),
    ),
    (
        "cache-size",
        include_str!("../../experiments/cache-size.toml"),
    ),
    ("prefetch", include_str!("../../experiments/prefetch.toml")),
    (
        "simulated-caches",
        include_str!("../../experiments/simulated-caches.toml"),
    ),
];

/// Definition of an experiment.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Name of the experiment and of its file.
    #[serde(skip)]
    pub name: String,
    /// Question that it answers.
    pub question: String,
    /// Source of the published figure.
    pub figure: String,
    /// Finding of the published figure.
    pub published: String,
    /// Measurement and its presentation.
    pub view: View,
    /// Rates as shares of the machine's closed-loop throughput, or of the capacity of its busiest
    /// resource (predictions); or sizes as shares of the corpus or of the last-level cache.
    #[serde(default)]
    pub shares: Vec<f64>,
    /// Required capabilities.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Compared arms; the first is the baseline.
    #[serde(default)]
    pub arms: Vec<Arm>,
    /// Cores that servers leave free.
    #[serde(default)]
    pub spare_cores: usize,
    /// Whether the arms are one for each power of two of partitions, up to the number of cores.
    #[serde(default)]
    pub scale_partitions: bool,
    /// Whether arms of constant degrees 2, 4, … up to the number of cores follow the first one.
    #[serde(default)]
    pub scale_degrees: bool,
    /// Points of the published figure, where the publication gives numbers.
    #[serde(default)]
    pub published_series: Vec<PublishedSeries>,
}

/// Measurement of an experiment and its presentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum View {
    /// Words per query; no server.
    QueryLengths,
    /// Single client: distribution of response times.
    Distribution,
    /// Single client: times and matches by number of words.
    Terms,
    /// Single client: quantiles by number of words.
    Keywords,
    /// Single client: words of the slowest queries compared with all queries.
    TailByTerms,
    /// Single client: phase times over growing parts of a corpus.
    PhasesBySize,
    /// Documents and index bytes over growing parts of a corpus.
    DocumentsBySize,
    /// Arms over arrival rates.
    Rates,
    /// Scheduling policies over loads, with ranges that spin and with real queries.
    Policies,
    /// Published figures computed by the model; no server.
    ModelFigures,
    /// Predictions of the model from a single client, compared with measurements.
    Prediction,
    /// Arms over arrival rates, and times over the footprint of a co-runner.
    CoRunner,
    /// Postings of terms over partitions; no server.
    PostingBalance,
    /// Decoding time compared with search time, for each codec; no server.
    Decompression,
    /// Cache misses on a simulated processor; no server.
    SimulatedCaches,
}

impl View {
    /// Returns whether the view indexes parts of a corpus.
    pub fn is_by_size(self) -> bool {
        matches!(self, View::PhasesBySize | View::DocumentsBySize)
    }

    /// Returns whether the view builds indexes, and so needs documents.
    pub fn needs_corpus(self) -> bool {
        self.is_by_size() || self == View::Decompression
    }

    /// Returns whether the view compares arms over rates.
    pub fn is_by_rate(self) -> bool {
        matches!(self, View::Rates | View::CoRunner)
    }

    /// Returns whether the view compares arms.
    pub fn has_arms(self) -> bool {
        self.is_by_rate() || self == View::Policies
    }

    /// Returns whether the view uses a single client that sends one query after the other.
    pub fn is_alone(self) -> bool {
        matches!(
            self,
            View::Distribution | View::Terms | View::Keywords | View::TailByTerms
        )
    }
}

/// Points of a published figure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedSeries {
    /// Title of the panel; series with the same title share one.
    pub panel: String,
    /// Quantity on the x axis.
    pub x: String,
    /// Quantity on the y axis.
    pub y: String,
    /// Whether the x axis is logarithmic.
    #[serde(default)]
    pub x_log: bool,
    /// Whether the y axis is logarithmic.
    #[serde(default)]
    pub y_log: bool,
    /// Name of the series.
    pub name: String,
    /// Values of x and y.
    pub points: Vec<(f64, f64)>,
}

/// Returns all experiments.
///
/// # Errors
/// A definition is invalid; tests rule this out for the built-in ones.
pub fn all() -> Result<Vec<Experiment>, LabError> {
    FILES.iter().map(|(name, text)| parse(name, text)).collect()
}

/// Returns the experiments with the given names; all if no name is given.
///
/// # Errors
/// An unknown name.
pub fn chosen(names: &[String]) -> Result<Vec<Experiment>, LabError> {
    let all = all()?;
    if names.is_empty() {
        return Ok(all);
    }
    let find = |name: &String| {
        let found = all
            .iter()
            .find(|experiment| experiment.name == *name)
            .cloned();
        found.ok_or_else(|| LabError::Unknown { name: name.clone() })
    };
    names.iter().map(find).collect()
}

fn parse(name: &str, text: &str) -> Result<Experiment, LabError> {
    let mut experiment: Experiment = toml::from_str(text).map_err(|error| LabError::File {
        path: format!("experiments/{name}.toml"),
        reason: error.to_string(),
    })?;
    experiment.name = name.to_owned();
    Ok(experiment)
}

impl Experiment {
    /// Returns the missing capabilities with their reasons; empty if the experiment can run.
    pub fn lacking(&self, capabilities: &[Capability]) -> Vec<String> {
        Experiment::lacking_of(&self.needs, capabilities)
    }

    /// Returns the missing capabilities among `needs`, with their reasons.
    pub(crate) fn lacking_of(needs: &[String], capabilities: &[Capability]) -> Vec<String> {
        let lacks = |need: &String| {
            let found = capabilities
                .iter()
                .find(|capability| capability.id == *need);
            match found {
                Some(found) if found.state.is_usable() => None,
                Some(found) => Some(format!(
                    "{need} is {}: {}",
                    found.state.name(),
                    found.reason
                )),
                None => Some(format!("{need} is not known to this program")),
            }
        };
        needs.iter().filter_map(lacks).collect()
    }

    /// Returns the arms on a machine with `cores_count` cores.
    pub fn arms(&self, cores_count: usize) -> Vec<Arm> {
        let powers = |from: usize| {
            let powers = std::iter::successors(Some(from), |power| Some(power * 2));
            powers.take_while(|&power| power <= cores_count)
        };
        if self.scale_partitions {
            let arm = |partitions| Arm {
                name: format!("I{partitions}_C{}", cores_count / partitions),
                partitions,
                ..Arm::default()
            };
            return powers(1).map(arm).collect();
        }
        let mut arms = self.arms.clone();
        if self.scale_degrees && !arms.is_empty() {
            let arm = |degree| Arm::of_policy(&format!("fifo:{degree}"));
            let degrees: Vec<Arm> = powers(2).map(arm).collect();
            arms.splice(1..1, degrees);
        }
        arms
    }
}

#[cfg(test)]
mod published_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;

    #[test]
    fn every_file_is_an_experiment() {
        let all = all().unwrap();
        assert_eq!(all.len(), FILES.len());
        for experiment in &all {
            assert!(experiment.question.ends_with('?'), "{}", experiment.name);
            let has_arms = !experiment.arms(8).is_empty();
            assert_eq!(has_arms, experiment.view.has_arms(), "{}", experiment.name);
            let has_shares = has_arms
                || experiment.view.needs_corpus()
                || matches!(experiment.view, View::Prediction | View::SimulatedCaches);
            assert_eq!(
                has_shares,
                !experiment.shares.is_empty(),
                "{}",
                experiment.name
            );
            assert!(
                experiment
                    .shares
                    .iter()
                    .all(|share| (0.0..=1.0).contains(share))
            );
            let known = crate::examine(&crate::Tree::here());
            let of_arms = experiment.arms.iter().flat_map(|arm| &arm.needs);
            for need in experiment.needs.iter().chain(of_arms) {
                assert!(
                    known.iter().any(|capability| capability.id == *need),
                    "{need}"
                );
            }
        }
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/experiments")).unwrap();
        assert_eq!(files.count(), FILES.len(), "a file without an entry");
    }

    #[test]
    fn partitions_scale_to_the_cores_present() {
        let partitions = &chosen(&["partitions".into()]).unwrap()[0];
        let names = |cores| -> Vec<String> {
            partitions
                .arms(cores)
                .into_iter()
                .map(|arm| arm.name)
                .collect()
        };
        assert_eq!(names(8), ["I1_C8", "I2_C4", "I4_C2", "I8_C1"]);
        assert_eq!(names(2), ["I1_C2", "I2_C1"]);
        assert_eq!(names(1), ["I1_C1"]);
        assert!(chosen(&["nonsense".into()]).is_err());
    }

    #[test]
    fn degrees_scale_to_the_cores_present() {
        let experiment = &chosen(&["query-parallelism".into()]).unwrap()[0];
        let names = |cores| -> Vec<String> {
            let arms = experiment.arms(cores).into_iter();
            arms.map(|arm| arm.name).collect()
        };
        let policies = ["least-left", "boost", "help-if-idle"];
        assert_eq!(names(2), [&["fifo", "fifo:2"][..], &policies].concat());
        let sixteen = ["fifo", "fifo:2", "fifo:4", "fifo:8", "fifo:16"];
        assert_eq!(names(16), [&sixteen[..], &policies].concat());
    }

    #[test]
    fn what_is_lacking_is_said() {
        let smt = &chosen(&["smt".into()]).unwrap()[0];
        let with = |state| vec![Capability::new("smt", state, "so it is")];
        assert_eq!(smt.lacking(&with(State::Available)), [""; 0]);
        assert_eq!(
            smt.lacking(&with(State::Unavailable)),
            ["smt is unavailable: so it is"]
        );
        assert_eq!(smt.lacking(&[]).len(), 1);
    }
}
