//! Declarations of fields, by which a person decides instead of the documents.
//!
//! ```text
//! views = "i64"                                                 a type
//! abstract = { type = "text", weight = 2.0, b = 0.5 }           a text with settings of its words
//! code = { type = "text", analyzer = "plain" }                  a text with an analyzer of its own
//! raw = { type = "text", searchable = false }                   stored only
//! likes = { type = "i64", prior = { weight = 2, pivot = 50 } }  a number that adds to every score
//! ```

use crate::prior::Prior;
use crate::schema::{FieldType, Schema};
use crate::words::{TITLE, WEIGHT_MAX, is_weight};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use text::Analyzer;

/// Why a field with an analyzer of its own has no weight above 1.
const WEIGHT_OF_OWN_ANALYZER: &str = "has an analyzer of its own and so a weight of 1 or 0: what it weighs beyond the text is found by the terms of the text. Weigh the clause instead, as in `name:word^3`";

/// Form of a prior.
const PRIOR_FORM: &str = "has a weight above 0 and up to 100, or 0 for none, and a pivot from 1e-9 to 1e15: the value that adds half the weight";

/// Declaration of one field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Declaration {
    /// Type.
    pub kind: FieldType,
    /// Whether the words of a text are searched; `None`: they are, in an index without the field.
    pub searchable: Option<bool>,
    /// Weight of its words ([`crate::Searched`]); `None`: as it is, or 1.
    pub weight: Option<f32>,
    /// Strength of length normalisation; `None`: as it is, or that of the ranking.
    pub b: Option<f32>,
    /// Analyzer of its words; `None`: as it is, or that of the index.
    pub analyzer: Option<Analyzer>,
    /// Prior of its values; `None`: as it is, or none.
    pub prior: Option<DeclaredPrior>,
}

/// Declaration of a prior.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DeclaredPrior {
    /// The field has none, from the next commit on.
    Off,
    /// The field has this one.
    On(Prior),
}

/// Declarations of fields, by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Declarations(BTreeMap<String, Declaration>);

impl Declarations {
    /// Returns whether no field is declared.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns these declarations and others, which count where both name a field.
    pub fn overridden_by(mut self, others: &Declarations) -> Declarations {
        self.0.extend(others.0.clone());
        self
    }

    /// Returns the declarations in the order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Declaration)> {
        self.0
            .iter()
            .map(|(name, declared)| (name.as_str(), declared))
    }
}

impl<S: Into<String>> FromIterator<(S, FieldType)> for Declarations {
    fn from_iter<I: IntoIterator<Item = (S, FieldType)>>(fields: I) -> Declarations {
        let fields = fields.into_iter();
        fields
            .map(|(name, kind)| (name.into(), Declaration::of(kind)))
            .collect()
    }
}

impl FromIterator<(String, Declaration)> for Declarations {
    fn from_iter<I: IntoIterator<Item = (String, Declaration)>>(fields: I) -> Declarations {
        Declarations(fields.into_iter().collect())
    }
}

impl Declaration {
    /// Returns the declaration of a type alone.
    pub fn of(kind: FieldType) -> Declaration {
        Declaration {
            kind,
            searchable: None,
            weight: None,
            b: None,
            analyzer: None,
            prior: None,
        }
    }

    fn has_settings(&self) -> bool {
        self.searchable.is_some() || self.has_settings_of_words()
    }

    fn has_settings_of_words(&self) -> bool {
        self.weight.is_some() || self.b.is_some() || self.analyzer.is_some()
    }

    fn has_more_weight(&self) -> bool {
        self.weight.is_some_and(|weight| weight > 1.0)
    }

    /// Adds the declared field `name` to a schema, or changes its settings there.
    ///
    /// # Errors
    /// What does not fit the schema, as a sentence without its end.
    pub fn apply(&self, name: &str, schema: &mut Schema) -> Result<(), String> {
        let kind = self.kind;
        if let Some(known) = schema.get(name).filter(|known| *known != kind) {
            return Err(format!(
                "the field {name} has the type {known} here, not {kind}: leave it out of the types, or build into \
                 another directory"
            ));
        }
        if name == TITLE && (kind != FieldType::Text || self.searchable == Some(false)) {
            return Err(format!(
                "the words of {name} are always searched: leave it out, or give it a weight and b"
            ));
        }
        if name == TITLE && self.analyzer.is_some() {
            return Err(format!(
                "{name} has the analyzer of the index: leave `analyzer` out there"
            ));
        }
        let is_new = schema.get(name).is_none();
        if !schema.add(name, kind) {
            return Err(format!(
                "the field {name} is one too many, or its name is too long"
            ));
        }
        if kind != FieldType::Text {
            return self.apply_prior(name, schema);
        }
        if (is_new || name == TITLE)
            && self.searchable != Some(false)
            && schema.searched(name).is_none()
        {
            let added = schema.search_words(name).is_some();
            if self.weight == Some(0.0) {
                schema.keep_out_of_text(name);
            }
            if let Some(analyzer) = self.analyzer {
                schema.analyze_with(name, analyzer);
            }
            if !added {
                return Err(format!("the field {name} is one text too many"));
            }
        }
        match schema.searched(name) {
            Some(_) if self.searchable == Some(false) => Err(format!(
                "the words of the field {name} are searched here: leave `searchable` out, or build into another directory"
            )),
            Some(settings)
                if self
                    .analyzer
                    .is_some_and(|own| Some(own) != settings.analyzer) =>
            {
                let known = settings.analyzer.map(|known| known.name());
                Err(format!(
                    "the field {name} has the analyzer {} here: leave `analyzer` out, or build into another directory",
                    known.as_deref().unwrap_or("of the index")
                ))
            }
            Some(settings) if settings.analyzer.is_some() && self.has_more_weight() => {
                Err(format!("the field {name} {WEIGHT_OF_OWN_ANALYZER}"))
            }
            Some(mut settings) => {
                settings.weight = self.weight.unwrap_or(settings.weight);
                settings.b = self.b.or(settings.b);
                schema.set_searched(name, settings).then_some(()).ok_or_else(|| {
                    format!(
                        "the field {name} cannot change between weight 0 and another one: build into another directory"
                    )
                })
            }
            None if self.has_settings() && self.searchable != Some(false) => Err(format!(
                "the words of the field {name} are not searched here: leave its settings out, or build into another \
                 directory"
            )),
            None => Ok(()),
        }
    }
}

impl Declaration {
    fn apply_prior(&self, name: &str, schema: &mut Schema) -> Result<(), String> {
        let fits = match self.prior {
            None => true,
            Some(DeclaredPrior::Off) => schema.set_prior(name, None),
            Some(DeclaredPrior::On(prior)) => schema.set_prior(name, Some(prior)),
        };
        match fits {
            true => Ok(()),
            false => Err(format!(
                "the field {name} is a number, and its prior {PRIOR_FORM}"
            )),
        }
    }
}

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
        if declared.prior.is_some() && !Prior::fits(kind) {
            return Err(E::custom(format_args!(
                "a prior is a setting of the types i64 and f64, not of {kind}"
            )));
        }
        if declared.has_settings() && kind != FieldType::Text {
            return Err(E::custom(format_args!(
                "searchable, weight, b and analyzer are settings of the type text, not of {kind}"
            )));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads declarations, which are the same when they are written and read again.
    fn declared(json: &str) -> Result<Declarations, String> {
        let read = |json: &str| serde_json::from_str::<Declarations>(json);
        let declared = read(json).map_err(|error| error.to_string())?;
        let written = serde_json::to_string(&declared).unwrap();
        assert_eq!(read(&written).unwrap(), declared, "{written}");
        Ok(declared)
    }

    /// Applies declarations one after another; returns the schema as JSON, or the first refusal.
    fn applied(all: &[&str]) -> Result<String, String> {
        let mut schema = Schema::default();
        for json in all {
            for (name, declaration) in declared(json)?.iter() {
                declaration.apply(name, &mut schema)?;
            }
        }
        assert!(schema.is_sound());
        let json = serde_json::to_string(&schema).unwrap();
        assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), schema);
        Ok(json)
    }

    #[test]
    fn types_and_settings_are_declared() {
        let cases = [
            (r#"{"n":"i64"}"#, r#"{"n":"i64"}"#),
            (
                r#"{"a":"text"}"#,
                r#"{"a":{"type":"text","number":3,"weight":1.0}}"#,
            ),
            (
                r#"{"a":{"type":"text","weight":2,"b":0.5}}"#,
                r#"{"a":{"type":"text","number":3,"weight":2.0,"b":0.5}}"#,
            ),
            (
                r#"{"a":{"type":"text","searchable":false}}"#,
                r#"{"a":"text"}"#,
            ),
            (
                r#"{"a":{"type":"text","weight":0}}"#,
                r#"{"a":{"type":"text","number":3,"weight":0.0}}"#,
            ),
            (
                r#"{"a":{"type":"text","weight":0,"analyzer":"standard-de"}}"#,
                r#"{"a":{"type":"text","number":3,"words":{"weight":0.0,"analyzer":"standard-de"}}}"#,
            ),
            (
                r#"{"title":{"type":"text","weight":3}}"#,
                r#"{"title":{"type":"text","number":1,"weight":3.0}}"#,
            ),
        ];
        for (json, expected) in cases {
            assert_eq!(applied(&[json]).as_deref(), Ok(expected), "{json}");
            assert_eq!(applied(&[json, json]).as_deref(), Ok(expected), "{json}");
        }
        let prior = r#"{"a":{"type":"i64","prior":{"weight":2,"pivot":50}}}"#;
        let written = r#"{"a":{"type":"i64","prior":{"weight":2.0,"pivot":50.0}}}"#;
        let off = r#"{"a":{"type":"i64","prior":{"weight":0}}}"#;
        for (all, expected) in [
            (&[prior][..], written),
            (&[r#"{"a":"i64"}"#, prior, prior], written),
            (&[prior, r#"{"a":"i64"}"#], written),
            (&[prior, off], r#"{"a":"i64"}"#),
        ] {
            assert_eq!(applied(all).as_deref(), Ok(expected), "{all:?}");
        }
        let raised = [r#"{"a":"text"}"#, r#"{"a":{"type":"text","weight":4}}"#];
        assert!(applied(&raised).unwrap().contains("4.0"));
        let kept = [
            r#"{"a":{"type":"text","analyzer":"plain"}}"#,
            r#"{"a":{"type":"text","b":0.5}}"#,
        ];
        let words = r#"{"weight":1.0,"b":0.5,"analyzer":"plain"}"#;
        assert!(applied(&kept).unwrap().contains(words));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (all, said) in [
            (&[r#"{"a":"words"}"#][..], "unknown variant"),
            (&[r#"{"a":7}"#], "a type, or a table"),
            (&[r#"{"a":{"weight":2}}"#], "missing field `type`"),
            (&[r#"{"a":{"type":"text","boost":2}}"#], "unknown field"),
            (&[r#"{"a":{"type":"i64","weight":2}}"#], "type text"),
            (&[r#"{"a":{"type":"text","weight":0.5}}"#], "1 to 100"),
            (&[r#"{"a":{"type":"text","weight":101}}"#], "1 to 100"),
            (&[r#"{"a":{"type":"text","b":2}}"#], "0 to 1"),
            (
                &[r#"{"a":{"type":"keyword","prior":{"weight":1,"pivot":1}}}"#],
                "i64 and f64, not of keyword",
            ),
            (
                &[r#"{"a":{"type":"f64","prior":{"weight":1}}}"#],
                "missing field `pivot`",
            ),
            (
                &[r#"{"a":{"type":"f64","prior":{"weight":101,"pivot":1}}}"#],
                "up to 100",
            ),
            (
                &[r#"{"a":{"type":"f64","prior":{"weight":1,"pivot":0}}}"#],
                "1e-9 to 1e15",
            ),
            (
                &[r#"{"a":{"type":"text","searchable":false,"b":1}}"#],
                "neither",
            ),
            (&[r#"{"a":{"type":"text","analyzer":"german"}}"#], "german"),
            (
                &[r#"{"a":{"type":"text","analyzer":"plain","weight":2}}"#],
                "a weight of 1 or 0",
            ),
            (
                &[
                    r#"{"a":{"type":"text","analyzer":"plain"}}"#,
                    r#"{"a":{"type":"text","weight":2}}"#,
                ],
                "the field a has an analyzer of its own",
            ),
            (
                &[
                    r#"{"a":"text"}"#,
                    r#"{"a":{"type":"text","analyzer":"plain"}}"#,
                ],
                "the analyzer of the index here",
            ),
            (
                &[
                    r#"{"a":{"type":"text","analyzer":"english"}}"#,
                    r#"{"a":{"type":"text","analyzer":"plain"}}"#,
                ],
                "the analyzer english here",
            ),
            (
                &[r#"{"title":{"type":"text","analyzer":"plain"}}"#],
                "analyzer of the index",
            ),
            (&[r#"{"title":"keyword"}"#], "always searched"),
            (&[r#"{"a":"i64"}"#, r#"{"a":"text"}"#], "has the type i64"),
            (
                &[
                    r#"{"a":{"type":"text","searchable":false}}"#,
                    r#"{"a":{"type":"text","weight":2}}"#,
                ],
                "not searched here",
            ),
            (
                &[
                    r#"{"a":"text"}"#,
                    r#"{"a":{"type":"text","searchable":false}}"#,
                ],
                "are searched here",
            ),
            (
                &[r#"{"a":"text"}"#, r#"{"a":{"type":"text","weight":0}}"#],
                "between weight 0",
            ),
            (
                &[r#"{"title":{"type":"text","weight":0}}"#],
                "between weight 0",
            ),
        ] {
            let refusal = applied(all).unwrap_err();
            assert!(refusal.contains(said), "{all:?}: {refusal}");
        }
    }

    #[test]
    fn texts_past_the_limit_are_refused() {
        let mut schema = Schema::default();
        let text = Declaration::of(FieldType::Text);
        for number in 0..crate::TEXT_FIELDS_MAX {
            text.apply(&format!("f{number}"), &mut schema).unwrap();
        }
        assert!(schema.is_sound());
        assert!(
            text.apply("more", &mut schema)
                .unwrap_err()
                .contains("too many")
        );
    }
}
