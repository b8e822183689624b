//! Text of a ranking: the model's name, and parameters that are given.
//!
//! ```text
//! ranking := name [ ':' parameter '=' number { ',' parameter '=' number } ]
//! bm25   bm25:k1=0.9,b=0.4   tfidf
//! ```
//!
//! Reading fills in defaults and refuses what is unknown or outside its range. Writing names all parameters, in the model's
//! order, with the fewest digits that are read back to the same bits: rankings are equal where their texts are.

use crate::plan::ranking::model::{Model, Parameter, Values};
use crate::plan::ranking::value::Ranking;
use std::fmt::{self, Write};
use std::str::FromStr;

/// Text that is no ranking, and why.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum UnknownRanking {
    /// The name is that of no model.
    Name,
    /// The model has no such parameter, or it is given twice.
    Parameter {
        /// The text of the parameter.
        given: String,
        /// The model.
        model: &'static str,
        /// The parameters that it has.
        known: &'static [Parameter],
    },
    /// The value is no number in the range.
    Value {
        /// The text of the value.
        given: String,
        /// The parameter.
        parameter: Parameter,
    },
}

impl fmt::Display for UnknownRanking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnknownRanking::Name => {
                f.write_str("not a ranking function; choose ")?;
                let last = Ranking::MODELS.len() - 1;
                for (number, model) in Ranking::MODELS.iter().enumerate() {
                    let before = match number {
                        0 => "",
                        _ if number == last => " or ",
                        _ => ", ",
                    };
                    write!(f, "{before}{}", model.name)?;
                }
                Ok(())
            }
            UnknownRanking::Parameter {
                given,
                model,
                known: [],
            } => write!(f, "{model} has no parameters; leave out {given:?}"),
            UnknownRanking::Parameter {
                given,
                model,
                known,
            } => {
                let known: Vec<&str> = known.iter().map(|one| one.name).collect();
                let known = known.join(", ");
                write!(
                    f,
                    "{given:?} is no parameter of {model}, or is given twice; it has {known}"
                )
            }
            UnknownRanking::Value { given, parameter } => {
                write!(
                    f,
                    "{given:?} is no value of {}; give {parameter}",
                    parameter.name
                )
            }
        }
    }
}

impl std::error::Error for UnknownRanking {}

impl fmt::Display for Ranking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = self.model();
        f.write_str(model.name)?;
        for (number, (parameter, value)) in model.parameters.iter().zip(self.values()).enumerate() {
            f.write_char(if number == 0 { ':' } else { ',' })?;
            write!(f, "{}={value}", parameter.name)?;
        }
        Ok(())
    }
}

impl From<Ranking> for String {
    fn from(ranking: Ranking) -> String {
        ranking.to_string()
    }
}

impl TryFrom<String> for Ranking {
    type Error = UnknownRanking;

    fn try_from(text: String) -> Result<Ranking, UnknownRanking> {
        text.parse()
    }
}

impl FromStr for Ranking {
    type Err = UnknownRanking;

    fn from_str(text: &str) -> Result<Ranking, UnknownRanking> {
        let (name, given) = text.split_once(':').unwrap_or((text, ""));
        let is_it = |model: &&&Model| model.name == name || model.aliases.contains(&name);
        let model = Ranking::MODELS.iter().find(is_it);
        let model = model.ok_or(UnknownRanking::Name)?;
        let mut values: Values = model.parameters.iter().map(|one| one.default).collect();
        let mut seen = 0u32;
        for given in given.split(',').filter(|given| !given.is_empty()) {
            let (name, value) = given.split_once('=').unwrap_or((given, ""));
            let place = model.place(name).filter(|place| seen >> place & 1 == 0);
            let place = place.ok_or_else(|| UnknownRanking::Parameter {
                given: name.to_owned(),
                model: model.name,
                known: model.parameters,
            })?;
            seen |= 1 << place;
            values[place] = model.parameters[place].read(value)?;
        }
        Ok(model.with(&values))
    }
}

impl Parameter {
    /// Reads a value.
    ///
    /// # Errors
    /// The text is no number, or one outside the range.
    pub fn read(&self, text: &str) -> Result<f32, UnknownRanking> {
        let value = text.parse().ok().filter(|&value| self.allows(value));
        value.ok_or_else(|| UnknownRanking::Value {
            given: text.to_owned(),
            parameter: *self,
        })
    }
}
