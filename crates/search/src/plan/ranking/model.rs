//! Registry entry of a ranking model: its name and its parameters, from which options, help and texts are made.

use crate::plan::ranking::value::Ranking;
use smallvec::SmallVec;
use std::fmt;

/// Values of the parameters of a model, in the order of [`Model::parameters`].
pub type Values = SmallVec<[f32; 2]>;

/// A ranking model.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    /// Name by which it is chosen.
    pub name: &'static str,
    /// Other names that are read.
    pub aliases: &'static [&'static str],
    /// Help: one line without a full stop.
    pub summary: &'static str,
    /// Parameters.
    pub parameters: &'static [Parameter],
    pub(super) make: fn(&[f32]) -> Ranking,
}

/// A parameter of a ranking model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Name.
    pub name: &'static str,
    /// Value where none is given.
    pub default: f32,
    /// Least value.
    pub least: f32,
    /// Greatest value.
    pub greatest: f32,
    /// Help: one line without a full stop.
    pub help: &'static str,
}

impl Model {
    /// Returns the ranking with default parameters.
    pub fn ranking(&self) -> Ranking {
        let defaults: Values = self.parameters.iter().map(|one| one.default).collect();
        (self.make)(&defaults)
    }

    /// Returns the ranking with `values`, each moved into the range of its parameter; a NaN becomes the least value.
    pub fn with(&self, values: &[f32]) -> Ranking {
        let inside = self.parameters.iter().zip(values);
        let inside: Values = inside.map(|(one, value)| one.inside(*value)).collect();
        (self.make)(&inside)
    }

    /// Returns the place of a parameter.
    pub(super) fn place(&self, parameter: &str) -> Option<usize> {
        self.parameters.iter().position(|one| one.name == parameter)
    }
}

impl Parameter {
    /// Returns the value, or the end of the range that is nearest to it.
    fn inside(&self, value: f32) -> f32 {
        // `max` drops a NaN.
        value.max(self.least).min(self.greatest)
    }

    /// Returns whether the range has the value.
    pub fn allows(&self, value: f32) -> bool {
        (self.least..=self.greatest).contains(&value)
    }
}

impl fmt::Display for Parameter {
    /// Writes the name and the range.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} from {} to {}", self.name, self.least, self.greatest)
    }
}
