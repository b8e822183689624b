//! What can this machine measure and control, and if not, why not?
//!
//! A missing capability is a value with a reason and a remedy, never a zero. That a device is
//! listed proves nothing (a directory may be empty, a counter may open and count nothing), so what
//! can be tried is tried.
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;

/// Whether something can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It works.
    Available,
    /// It works, but less than on other machines.
    Degraded,
    /// It is not there.
    Unavailable,
    /// It is there, and this user may not use it.
    Forbidden,
    /// It is there and says nonsense.
    Invalid,
    /// It could not be tried.
    Untested,
}

impl State {
    /// As tables name it.
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

    /// What it means that a file cannot be read.
    pub(crate) fn of_error(error: &std::io::Error) -> State {
        match error.kind() {
            ErrorKind::PermissionDenied => State::Forbidden,
            ErrorKind::NotFound | ErrorKind::NotADirectory => State::Unavailable,
            _ => State::Invalid,
        }
    }

    /// Whether experiments may rely on it.
    pub fn is_usable(self) -> bool {
        matches!(self, State::Available | State::Degraded)
    }
}

/// One thing that a machine can or cannot do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capability {
    /// A short name, such as `smt`.
    pub id: String,
    /// Whether it can be used.
    pub state: State,
    /// In a few words, why it is so, or what was found.
    pub reason: String,
    /// What was looked at, and what it said.
    pub evidence: Vec<String>,
    /// What to do to have it; empty where nothing need be done.
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
