//! Capabilities of a machine to measure and control, each with a reason and a remedy.
//!
//! A missing capability is a value with a reason and a remedy, never a zero. A listed device proves
//! nothing (a directory may be empty, a counter may open and count nothing), so every capability that
//! can be tried is tried.
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;

/// State of a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The capability works.
    Available,
    /// The capability works with less precision or range than on other machines.
    Degraded,
    /// The capability does not exist on this machine.
    Unavailable,
    /// The capability exists, but this user lacks the permission.
    Forbidden,
    /// The capability exists and returns invalid values.
    Invalid,
    /// The capability could not be tried.
    Untested,
}

impl State {
    /// Returns the name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            State::Available => "available",
            State::Degraded => "degraded",
            State::Unavailable => "unavailable",
            State::Forbidden => "forbidden",
            State::Invalid => "invalid",
            State::Untested => "untested",
        }
    }

    /// Returns the state that the failure to read a file implies.
    pub(crate) fn of_error(error: &std::io::Error) -> State {
        match error.kind() {
            ErrorKind::PermissionDenied => State::Forbidden,
            ErrorKind::NotFound | ErrorKind::NotADirectory => State::Unavailable,
            _ => State::Invalid,
        }
    }

    /// Returns whether experiments may rely on the capability.
    pub fn is_usable(self) -> bool {
        matches!(self, State::Available | State::Degraded)
    }
}

/// A capability of a machine, with its state and evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capability {
    /// A short name, such as `smt`.
    pub id: String,
    /// State of the capability.
    pub state: State,
    /// Short reason for the state, or the finding.
    pub reason: String,
    /// Files and values that were examined.
    pub evidence: Vec<String>,
    /// Remedy; empty if none is needed.
    pub remedy: String,
}

impl Capability {
    pub(crate) fn new(id: &str, state: State, reason: impl Into<String>) -> Capability {
        Capability {
            id: id.into(),
            state,
            reason: reason.into(),
            evidence: Vec::new(),
            remedy: String::new(),
        }
    }

    pub(crate) fn seen(mut self, evidence: impl Into<String>) -> Capability {
        self.evidence.push(evidence.into());
        self
    }

    pub(crate) fn remedy(mut self, remedy: &str) -> Capability {
        self.remedy = remedy.into();
        self
    }
}
