//! Declarations of fields, and what they change in a schema.

use crate::field_type::FieldType;
use crate::prior::Prior;
use crate::schema::Schema;
use crate::words::TITLE;
use std::collections::BTreeMap;
use text::Analyzer;

/// Why a field with an analyzer of its own has no weight above 1.
pub(super) const WEIGHT_OF_OWN_ANALYZER: &str = "has an analyzer of its own and so a weight of 1 or 0: what it weighs beyond the text is found by the terms of the text. Weigh the clause instead, as in `name:word^3`";

/// Form of a prior.
pub(super) const PRIOR_FORM: &str = "has a weight above 0 and up to 100, or 0 for none, and a pivot from 1e-9 to 1e15: the value that adds half the weight";

/// Declaration of one field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Declaration {
    /// Type.
    pub kind: FieldType,
    /// Whether the words of the field are searched; `None`: they are, in an index without the field.
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
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Declarations(pub(super) BTreeMap<String, Declaration>);

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

    /// Adds the declared fields to a schema, or changes their settings there.
    ///
    /// # Errors
    /// What does not fit the schema, as a sentence without its end.
    pub fn apply(&self, schema: &mut Schema) -> Result<(), String> {
        self.iter()
            .try_for_each(|(name, declared)| declared.apply(name, schema))
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

    pub(super) fn has_settings_of_words(&self) -> bool {
        self.weight.is_some() || self.b.is_some() || self.analyzer.is_some()
    }

    pub(super) fn has_more_weight(&self) -> bool {
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
        if !kind.has_words() {
            return self.apply_to_values(name, is_new, schema);
        }
        if (is_new || name == TITLE)
            && self.searchable != Some(false)
            && schema.searched(name).is_none()
        {
            let added = schema.search_words(name).is_some();
            if !added && kind == FieldType::Keyword && !self.has_settings_of_words() {
                schema.search(name);
                return Ok(());
            }
            if self.weight == Some(0.0) {
                schema.keep_out_of_text(name);
            }
            if let Some(analyzer) = self.analyzer {
                schema.analyze_with(name, analyzer);
            }
            if !added {
                return Err(format!(
                    "the field {name} is one too many with words of its own"
                ));
            }
        }
        if self.searchable == Some(false) && schema.is_searched(name) {
            return Err(is_searched_here(name));
        }
        match schema.searched(name) {
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
            None if self.has_settings_of_words() => Err(is_not_searched_here(name)),
            None if self.searchable == Some(true) && !schema.is_searched(name) => {
                Err(is_not_searched_here(name))
            }
            None => Ok(()),
        }
    }

    /// Adds a field of values without words of its own.
    fn apply_to_values(&self, name: &str, is_new: bool, schema: &mut Schema) -> Result<(), String> {
        if is_new && self.searchable != Some(false) {
            schema.search(name);
        }
        match (self.searchable, schema.is_searched(name)) {
            (Some(false), true) => Err(is_searched_here(name)),
            (Some(true), false) => Err(is_not_searched_here(name)),
            _ => self.apply_prior(name, schema),
        }
    }

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

fn is_searched_here(name: &str) -> String {
    format!(
        "the words of the field {name} are searched here: leave `searchable` out, or build into another directory"
    )
}

fn is_not_searched_here(name: &str) -> String {
    format!(
        "the words of the field {name} are not searched here: leave its settings out, or build into another directory"
    )
}
