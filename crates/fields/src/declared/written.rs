//! Declarations as they are written, in TOML or JSON.

use super::declaration::{
    Declaration, Declarations, DeclaredPrior, PRIOR_FORM, WEIGHT_OF_OWN_ANALYZER,
};
use crate::field_type::FieldType;
use crate::prior::Prior;
use crate::words::{WEIGHT_MAX, is_weight};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use text::Analyzer;

/// Prior as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPrior {
    weight: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pivot: Option<f64>,
}

impl From<DeclaredPrior> for WrittenPrior {
    fn from(declared: DeclaredPrior) -> WrittenPrior {
        match declared {
            DeclaredPrior::Off => WrittenPrior {
                weight: 0.0,
                pivot: None,
            },
            DeclaredPrior::On(Prior { weight, pivot }) => WrittenPrior {
                weight,
                pivot: Some(pivot),
            },
        }
    }
}

impl WrittenPrior {
    fn checked<E: Error>(self) -> Result<DeclaredPrior, E> {
        if self.weight == 0.0 {
            return Ok(DeclaredPrior::Off);
        }
        let pivot = self.pivot.ok_or_else(|| E::missing_field("pivot"))?;
        let weight = self.weight;
        let prior = Prior { weight, pivot };
        match prior.is_sound() {
            true => Ok(DeclaredPrior::On(prior)),
            false => Err(E::custom(format_args!("a prior {PRIOR_FORM}"))),
        }
    }
}

/// Settings as they are written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(rename = "type")]
    kind: FieldType,
    #[serde(skip_serializing_if = "Option::is_none")]
    searchable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    analyzer: Option<Analyzer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prior: Option<WrittenPrior>,
}

impl Serialize for Declaration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = Written {
            kind: self.kind,
            searchable: self.searchable,
            weight: self.weight,
            b: self.b,
            analyzer: self.analyzer,
            prior: self.prior.map(WrittenPrior::from),
        };
        written.serialize(serializer)
    }
}

impl Written {
    fn checked<E: Error>(self) -> Result<Declaration, E> {
        let Written {
            kind,
            searchable,
            weight,
            b,
            analyzer,
            prior,
        } = self;
        let declared = Declaration {
            kind,
            searchable,
            weight,
            b,
            analyzer,
            prior: prior.map(WrittenPrior::checked).transpose()?,
        };
        if declared.prior.is_some() && !kind.is_number() {
            return Err(E::custom(format_args!(
                "a prior is a setting of the types i64 and f64, not of {kind}"
            )));
        }
        if declared.has_settings_of_words() && !kind.has_words() {
            return Err(E::custom(format_args!(
                "weight, b and analyzer are settings of the types text and keyword, not of {kind}"
            )));
        }
        if searchable == Some(true) && kind == FieldType::Bool {
            return Err(E::custom("truth values have no words to search"));
        }
        if searchable == Some(false) && declared.has_settings_of_words() {
            return Err(E::custom(
                "what is not searchable has neither weight nor b nor analyzer",
            ));
        }
        if analyzer.is_some() && declared.has_more_weight() {
            return Err(E::custom(format_args!("it {WEIGHT_OF_OWN_ANALYZER}")));
        }
        if weight.is_some_and(|weight| !is_weight(weight)) {
            return Err(E::custom(format_args!(
                "a weight is 1 to {WEIGHT_MAX}, or 0 for words that are found by the name of the field alone"
            )));
        }
        if b.is_some_and(|b| !(0.0..=1.0).contains(&b)) {
            return Err(E::custom("b is 0 to 1"));
        }
        Ok(declared)
    }
}

impl<'de> Deserialize<'de> for Declaration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Declaration, D::Error> {
        struct TypeOrTable;
        impl<'de> Visitor<'de> for TypeOrTable {
            type Value = Declaration;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a type, or a table with a type")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Declaration, E> {
                FieldType::deserialize(StrDeserializer::new(name)).map(Declaration::of)
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Declaration, M::Error> {
                Written::deserialize(MapAccessDeserializer::new(map))?.checked()
            }
        }
        deserializer.deserialize_any(TypeOrTable)
    }
}

impl Serialize for Declarations {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Declarations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Declarations, D::Error> {
        Deserialize::deserialize(deserializer).map(Declarations)
    }
}
