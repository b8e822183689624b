//! Schema: the fields of an index and their types.

use crate::field_type::FieldType;
use crate::prior::{Prior, Priors};
use crate::words::{NUMBER_FIRST, Searched, TITLE, TextFields};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use text::Analyzer;

/// Upper limit on the fields of a schema. Further fields are stored, and cannot be searched.
pub const FIELDS_MAX: usize = 1_000;
/// Upper limit on the name of a field, in bytes.
pub const NAME_BYTES_MAX: usize = 256;

/// Field of a schema: its type, how its words are searched, and its prior.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    kind: FieldType,
    searched: Option<Searched>,
    /// Whether the words of its values belong to the text of the document, and the field has none of its own.
    is_in_text: bool,
    prior: Option<Prior>,
}

/// Forms of an entry. Programs that know only some of them refuse the others.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum WrittenEntry {
    Type(FieldType),
    Searched {
        #[serde(rename = "type")]
        kind: FieldType,
        number: u8,
        weight: f32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        b: Option<f32>,
    },
    Analyzed {
        #[serde(rename = "type")]
        kind: FieldType,
        number: u8,
        words: WrittenWords,
    },
    Prior {
        #[serde(rename = "type")]
        kind: FieldType,
        prior: Prior,
    },
    InText {
        #[serde(rename = "type")]
        kind: FieldType,
        in_text: WrittenInText,
    },
}

/// Settings of a field whose words belong to the text of the document alone.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenInText {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prior: Option<Prior>,
}

/// Settings of a field with an analyzer of its own.
#[derive(Serialize, Deserialize)]
struct WrittenWords {
    weight: f32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    b: Option<f32>,
    analyzer: Analyzer,
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kind = self.kind;
        let written = match (self.searched, self.prior) {
            (None, prior) if self.is_in_text => WrittenEntry::InText {
                kind,
                in_text: WrittenInText { prior },
            },
            (None, None) => WrittenEntry::Type(kind),
            (None, Some(prior)) => WrittenEntry::Prior { kind, prior },
            (Some(searched), _) => {
                let Searched {
                    number,
                    weight,
                    b,
                    analyzer,
                } = searched;
                match analyzer {
                    None => WrittenEntry::Searched {
                        kind,
                        number,
                        weight,
                        b,
                    },
                    Some(analyzer) => WrittenEntry::Analyzed {
                        kind,
                        number,
                        words: WrittenWords {
                            weight,
                            b,
                            analyzer,
                        },
                    },
                }
            }
        };
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entry, D::Error> {
        let mut is_in_text = false;
        let (kind, searched, prior) = match WrittenEntry::deserialize(deserializer)? {
            WrittenEntry::Type(kind) => (kind, None, None),
            WrittenEntry::Prior { kind, prior } => (kind, None, Some(prior)),
            WrittenEntry::InText { kind, in_text } => {
                is_in_text = true;
                (kind, None, in_text.prior)
            }
            WrittenEntry::Searched {
                kind,
                number,
                weight,
                b,
            } => {
                let searched = Searched {
                    number,
                    weight,
                    b,
                    analyzer: None,
                };
                (kind, Some(searched), None)
            }
            WrittenEntry::Analyzed {
                kind,
                number,
                words:
                    WrittenWords {
                        weight,
                        b,
                        analyzer,
                    },
            } => {
                let searched = Searched {
                    number,
                    weight,
                    b,
                    analyzer: Some(analyzer),
                };
                (kind, Some(searched), None)
            }
        };
        Ok(Entry {
            kind,
            searched,
            is_in_text,
            prior,
        })
    }
}

impl Entry {
    fn of(kind: FieldType) -> Entry {
        Entry {
            kind,
            searched: None,
            is_in_text: false,
            prior: None,
        }
    }

    /// Returns whether the field may have a prior.
    fn admits(&self, prior: Prior) -> bool {
        self.kind.is_number() && prior.is_sound()
    }
}

/// Fields of an index, by name. A type never changes once it is set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Schema(BTreeMap<String, Entry>);

impl Schema {
    /// Returns whether there is no field.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the type of a field.
    pub fn get(&self, name: &str) -> Option<FieldType> {
        self.0.get(name).map(|entry| entry.kind)
    }

    /// Returns whether the words of a field are searched.
    pub fn is_searched(&self, name: &str) -> bool {
        let entry = self.0.get(name);
        entry.is_some_and(|entry| entry.is_in_text || entry.searched.is_some())
    }

    /// Returns how a field's own words are searched; `None` where it has none.
    pub fn searched(&self, name: &str) -> Option<Searched> {
        self.0.get(name)?.searched
    }

    /// Returns the prior of a field.
    pub fn prior(&self, name: &str) -> Option<Prior> {
        self.0.get(name)?.prior
    }

    /// Returns the fields with priors.
    pub fn priors(&self) -> Priors {
        let entries = self.0.iter();
        entries
            .filter_map(|(name, entry)| Some((name.clone(), entry.prior?)))
            .collect()
    }

    /// Gives a field a prior, or takes it away. Returns whether it fits.
    pub fn set_prior(&mut self, name: &str, prior: Option<Prior>) -> bool {
        let Some(entry) = self.0.get_mut(name) else {
            return false;
        };
        let fits = prior.is_none_or(|prior| entry.admits(prior));
        if fits {
            entry.prior = prior;
        }
        fits
    }

    /// Sets the type of a field that is not in the schema yet, where there is room. Returns whether the field has that
    /// type now.
    pub fn add(&mut self, name: &str, kind: FieldType) -> bool {
        if let Some(known) = self.get(name) {
            return known == kind;
        }
        let has_room = self.0.len() < FIELDS_MAX && name.len() <= NAME_BYTES_MAX;
        if has_room {
            self.0.insert(name.to_owned(), Entry::of(kind));
        }
        has_room
    }

    /// Makes the words of a new field searched: its own, where its type has any and there is room, else those of the text
    /// of the document alone. Truth values have no words.
    pub fn search(&mut self, name: &str) {
        if self.search_words(name).is_none() {
            self.search_in_text(name);
        }
    }

    /// Makes the words of a field searched as those of the text of the document alone, where its type has such words.
    pub fn search_in_text(&mut self, name: &str) {
        if let Some(entry) = self.0.get_mut(name) {
            entry.is_in_text = entry.kind.may_be_in_text() && entry.searched.is_none();
        }
    }

    /// Returns whether the words of a field belong to the text of the document, and it has none of its own.
    pub fn is_in_text(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|entry| entry.is_in_text)
    }

    /// Makes the words of a text or of keywords searched; returns the settings, which may be changed then. `None` where the
    /// type has no words of its own, where they are searched already, and where there are too many such fields.
    pub fn search_words(&mut self, name: &str) -> Option<Searched> {
        let numbers = self.0.values().filter_map(|entry| entry.searched);
        let last = numbers.map(|searched| searched.number).max();
        let number = last.map_or(NUMBER_FIRST, |last| {
            NUMBER_FIRST.max(last.saturating_add(1))
        });
        self.search_words_as(name, number)
    }

    /// Does the same as [`Schema::search_words`], for a field whose number is known.
    pub fn search_words_as(&mut self, name: &str, number: u8) -> Option<Searched> {
        let searched = match name {
            TITLE => Searched::title(),
            _ => Searched::new(number),
        };
        let entry = self.0.get_mut(name)?;
        let fits = entry.kind.has_words() && entry.searched.is_none() && !entry.is_in_text;
        (fits && searched.is_sound()).then(|| *entry.searched.insert(searched))
    }

    /// Changes weight and b of a field whose words are searched. Returns whether they fit: the analyzer, and whether the
    /// words belong to the text, never change.
    pub fn set_searched(&mut self, name: &str, settings: Searched) -> bool {
        let Some(known) = self
            .0
            .get_mut(name)
            .and_then(|entry| entry.searched.as_mut())
        else {
            return false;
        };
        let fits = known.number == settings.number
            && known.is_in_text() == settings.is_in_text()
            && known.analyzer == settings.analyzer
            && settings.is_sound();
        if fits {
            *known = settings;
        }
        fits
    }

    /// Makes the words of a new field found by its name alone. Returns whether it is a further field whose words are
    /// searched.
    pub fn keep_out_of_text(&mut self, name: &str) -> bool {
        let further = self.further_mut(name);
        further.map(|searched| searched.weight = 0.0).is_some()
    }

    /// Gives a new field an analyzer of its own. Returns whether it is a further field whose words are searched.
    pub fn analyze_with(&mut self, name: &str, analyzer: Analyzer) -> bool {
        let further = self.further_mut(name);
        further
            .map(|searched| searched.analyzer = Some(analyzer))
            .is_some()
    }

    /// Returns the settings of a further field whose words are searched.
    fn further_mut(&mut self, name: &str) -> Option<&mut Searched> {
        let entry = self.0.get_mut(name)?;
        entry.searched.as_mut().filter(|one| !one.is_title())
    }

    /// Returns the analyzer of its own that the field with a number has.
    pub fn analyzer_of(&self, number: u8) -> Option<Analyzer> {
        let mut searched = self.0.values().filter_map(|entry| entry.searched);
        searched
            .find(|searched| searched.number == number)?
            .analyzer
    }

    /// Gives the fields the numbers that they have in another schema, where the words of the same fields are searched there
    /// and in the same way. Returns whether they are.
    pub fn take_numbers_of(&mut self, other: &Schema) -> bool {
        let has_all = other.0.keys().all(|name| self.0.contains_key(name));
        let numbers: Option<Vec<u8>> = (self.0.iter())
            .map(|(name, entry)| {
                let of_other = other.0.get(name)?;
                let searched = of_other.searched;
                let number = searched.map_or(0, |searched| searched.number);
                let own = entry.searched.map(|own| Searched { number, ..own });
                let is_cut_alike =
                    entry.kind == of_other.kind || entry.kind.is_cut_as(of_other.kind);
                let is_same = own == searched && entry.is_in_text == of_other.is_in_text;
                (is_same && (is_cut_alike || !self.is_searched(name))).then_some(number)
            })
            .collect();
        let Some(numbers) = numbers.filter(|_| has_all) else {
            return false;
        };
        for (entry, number) in self.0.values_mut().zip(numbers) {
            if let Some(own) = &mut entry.searched {
                own.number = number;
            }
        }
        true
    }

    /// Returns the fields whose words are searched.
    pub fn text_fields(&self) -> TextFields {
        let entries = self.0.iter();
        let searched = entries.filter(|(_, entry)| entry.is_in_text || entry.searched.is_some());
        TextFields::new(searched.map(|(name, entry)| (name.as_str(), entry.kind, entry.searched)))
    }

    /// Returns the fields in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, FieldType)> {
        self.0
            .iter()
            .map(|(name, entry)| (name.as_str(), entry.kind))
    }

    /// Returns the fields that have columns, in the order of their names.
    pub fn columnar(&self) -> impl Iterator<Item = (&str, FieldType)> {
        self.iter().filter(|(_, kind)| kind.is_columnar())
    }

    /// Returns whether the numbers of searched fields differ and all settings fit their fields and their ranges.
    pub fn is_sound(&self) -> bool {
        let mut numbers = BTreeSet::new();
        self.0.iter().all(|(name, entry)| {
            let has_sound_words = entry.searched.is_none_or(|searched| {
                let is_title = searched.is_title();
                (entry.kind.has_words() && !entry.is_in_text)
                    && (!is_title || entry.kind == FieldType::Text)
                    && searched.is_sound()
                    && is_title == (name == TITLE)
                    && numbers.insert(searched.number)
            });
            let may_be_in_text = !entry.is_in_text || entry.kind.may_be_in_text();
            may_be_in_text && has_sound_words && entry.prior.is_none_or(|prior| entry.admits(prior))
        })
    }
}

impl<S: Into<String>> FromIterator<(S, FieldType)> for Schema {
    fn from_iter<I: IntoIterator<Item = (S, FieldType)>>(fields: I) -> Schema {
        Schema(
            fields
                .into_iter()
                .map(|(name, kind)| (name.into(), Entry::of(kind)))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_stay_and_names_are_limited() {
        let mut schema = Schema::default();
        assert!(schema.add("a", FieldType::Date));
        assert!(!schema.add("a", FieldType::Bool));
        assert_eq!(schema.get("a"), Some(FieldType::Date));
        assert!(!schema.add(&"n".repeat(NAME_BYTES_MAX + 1), FieldType::Bool));
        for number in 0..2 * FIELDS_MAX {
            schema.add(&format!("f{number}"), FieldType::Integer);
        }
        assert_eq!(schema.iter().count(), FIELDS_MAX);
        let json = serde_json::to_string(&schema).unwrap();
        assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), schema);
        assert!(json.contains("\"f1\":\"i64\""));
    }

    #[test]
    fn numbers_of_fields_are_those_of_a_schema_that_searches_the_same() {
        let of = |fields: &[(&str, FieldType)]| {
            let mut schema = Schema::default();
            for (name, kind) in fields {
                schema.add(name, *kind);
                schema.search(name);
            }
            schema
        };
        use FieldType::{Bool, Date, Float, Integer, Keyword, Text};
        let guess = of(&[("k", Keyword), ("b", Text), ("n", Integer)]);
        let mut same = of(&[("b", Text), ("k", Keyword), ("n", Float)]);
        assert!(same.take_numbers_of(&guess));
        assert_eq!(same.searched("k"), guess.searched("k"));
        for other in [
            &[("b", Keyword), ("k", Keyword), ("n", Integer)][..],
            &[("b", Text), ("k", Keyword), ("n", Date)],
            &[("b", Text), ("k", Keyword), ("n", Bool)],
            &[("b", Text), ("k", Keyword)],
            &[("b", Text), ("k", Keyword), ("n", Integer), ("o", Integer)],
        ] {
            let mut schema = of(other);
            assert!(!schema.take_numbers_of(&guess), "{other:?}");
            assert_eq!(schema, of(other));
        }
    }
}
