//! Fields whose words are searched: their numbers in dictionaries, their weights and their length normalisation.
//!
//! ```text
//! "abstract": {"type": "text", "number": 3, "weight": 2.0, "b": 0.5}       entries of a schema
//! "brand":    {"type": "keyword", "number": 4, "weight": 1.0}
//! "price":    {"type": "f64", "in_text": {}}
//! ```
//!
//! The words of a field with a weight of at least 1 belong to the text of the document, as those of title and body do,
//! and count once there. The excess of the weight over 1 multiplies a second score, of the field alone with its own
//! lengths and its own `b`, which is added to that of the text. Words of a field of weight 0 are found by its name alone.
//!
//! A field may have an analyzer of its own, for the words that are found by its name. Its text belongs to the text of the
//! document all the same, with the terms of the index's analyzer.
//!
//! Fields with columns are searched, too. Keywords have words of their own, as texts have; numbers and dates belong to the
//! text of the document alone, since `name:` tests their values. Each of their values stands *apart*: an empty place is
//! before it, so that no phrase reaches over its edge.
//!
//! Why a weight between 0 and 1 is refused: matching and most of the score come from the lists of the text, where a word
//! counts once.

use crate::each_leaf;
use crate::field_type::FieldType;
use crate::text_form::TextForm;
use document::PartNames;
use json::{Map, Value};
use std::borrow::Cow;
use text::Analyzer;

/// Name of the title, whose weight may be set.
pub const TITLE: &str = "title";
/// Number of the title.
const NUMBER_TITLE: u8 = 1;
/// Number of the first further field.
pub const NUMBER_FIRST: u8 = 3;
/// Upper limit on further fields with words of their own. More texts are stored, and the words of more keywords belong to
/// the text alone.
pub const TEXT_FIELDS_MAX: usize = 250;
/// Upper limit on weights.
pub const WEIGHT_MAX: f32 = 100.0;

/// Settings of a field whose words are searched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Searched {
    /// Number of the field in dictionaries; it never changes.
    pub number: u8,
    /// Weight of its words, where those of the body have 1: 0, or 1 to [`WEIGHT_MAX`].
    pub weight: f32,
    /// Strength of length normalisation, 0 to 1; `None`: that of the ranking.
    pub b: Option<f32>,
    /// Analyzer of the words that are found by the name of the field; `None`: that of the index. It never changes.
    pub analyzer: Option<Analyzer>,
}

// Weight and b are finite (`is_sound`).
impl Eq for Searched {}

impl Searched {
    /// Returns the settings of a field without any of its own.
    pub fn new(number: u8) -> Searched {
        Searched {
            number,
            weight: 1.0,
            b: None,
            analyzer: None,
        }
    }

    /// Returns the settings of the title.
    pub fn title() -> Searched {
        Searched::new(NUMBER_TITLE)
    }

    /// Returns whether the field is the title.
    pub fn is_title(&self) -> bool {
        self.number == NUMBER_TITLE
    }

    /// Returns whether its words belong to the text of the document.
    pub fn is_in_text(&self) -> bool {
        self.weight >= 1.0
    }

    /// Returns the weight beyond that of the text; 0 where there is none.
    pub fn weight_beyond_text(&self) -> f32 {
        (self.weight - 1.0).max(0.0)
    }

    /// Returns whether number, weight and `b` are in their ranges, and an analyzer is set only where one is allowed.
    pub fn is_sound(&self) -> bool {
        let last = NUMBER_FIRST as usize + TEXT_FIELDS_MAX - 1;
        let is_known = self.is_title() && self.is_in_text()
            || (NUMBER_FIRST.into()..=last).contains(&self.number.into());
        // The second score of a weight beyond that of the text looks for the terms of the text.
        let fits = self.analyzer.is_none() || !self.is_title() && self.weight_beyond_text() == 0.0;
        is_known
            && fits
            && is_weight(self.weight)
            && self.b.is_none_or(|b| (0.0..=1.0).contains(&b))
    }
}

/// Returns whether a number may be a weight.
pub(crate) fn is_weight(weight: f32) -> bool {
    weight == 0.0 || (1.0..=WEIGHT_MAX).contains(&weight)
}

/// Further field whose words are searched.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TextField {
    name: String,
    kind: FieldType,
    /// Settings of its own words; `None`: they belong to the text of the document alone.
    own: Option<Searched>,
}

impl TextField {
    /// Returns the text whose words are searched of a value; `None` where it has none.
    ///
    /// A date has the words of its day: a time is no word that anyone types.
    fn text_of<'v>(&self, value: &'v Value) -> Option<Cow<'v, str>> {
        match (value, self.kind) {
            (Value::String(text), FieldType::Date) => match TextForm::of(text) {
                TextForm::Date => text.trim().get(..DAY_BYTES).map(Cow::from),
                _ => Some(text.into()),
            },
            (Value::String(text), _) => Some(text.into()),
            (Value::Number(number), kind) if kind.is_columnar() => Some(number.text()),
            _ => None,
        }
    }
}

/// Length of `2024-05-06`, in bytes.
const DAY_BYTES: usize = 10;

/// Text of a further field in a document.
#[derive(Debug, Clone, Copy)]
pub struct FieldText<'v> {
    /// Name of the field.
    pub name: &'v str,
    /// Settings of the words of the field; `None`: they belong to the text of the document alone.
    pub own: Option<Searched>,
    /// The text.
    pub text: &'v str,
    /// Whether it is the title or the body, whose words the document's text has already.
    pub is_part: bool,
    /// Whether it is a value that stands apart, with an empty place before it, if it has words.
    pub is_apart: bool,
}

impl FieldText<'_> {
    /// Returns whether its words belong to the text of the document, besides those of title and body.
    pub fn is_in_text(&self) -> bool {
        self.own.is_none_or(|own| own.is_in_text()) && !self.is_part
    }

    /// Returns the analyzer of its own that the field has.
    pub fn analyzer(&self) -> Option<Analyzer> {
        self.own?.analyzer
    }

    /// Returns the number of empty places before its words.
    pub fn places_before(&self) -> u32 {
        self.is_apart.into()
    }
}

/// Searched fields of a schema, for those who cut words: the title's settings, and the further fields by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextFields {
    title: Option<Searched>,
    further: Vec<TextField>,
}

impl TextFields {
    pub(crate) fn new<'a>(
        fields: impl Iterator<Item = (&'a str, FieldType, Option<Searched>)>,
    ) -> TextFields {
        let mut text_fields = TextFields::default();
        for (name, kind, own) in fields {
            match own.filter(Searched::is_title) {
                Some(title) => text_fields.title = Some(title),
                None => text_fields.further.push(TextField {
                    name: name.to_owned(),
                    kind,
                    own,
                }),
            }
        }
        text_fields
    }

    /// Returns whether no further field is searched.
    pub fn is_empty(&self) -> bool {
        self.further.is_empty()
    }

    /// Returns the further fields with words of their own, in the order of their names.
    pub fn further(&self) -> impl Iterator<Item = (&str, Searched)> {
        let further = self.further.iter();
        further.filter_map(|field| Some((field.name.as_str(), field.own?)))
    }

    /// Returns the settings of the field with a number, where the schema has any.
    pub fn get(&self, number: u8) -> Option<Searched> {
        let further = self.further().map(|(_, own)| own);
        let mut settings = self.title.into_iter().chain(further);
        settings.find(|searched| searched.number == number)
    }

    /// Returns the name of the further field with a number.
    pub fn name_of(&self, number: u8) -> Option<&str> {
        let mut further = self.further();
        further.find_map(|(name, searched)| (searched.number == number).then_some(name))
    }

    /// Returns the fields whose words weigh more than those of the text: the title first, then by name.
    pub fn weighted(&self) -> impl Iterator<Item = Searched> {
        let further = self.further().map(|(_, own)| own);
        let settings = self.title.into_iter().chain(further);
        settings.filter(|searched| searched.weight_beyond_text() > 0.0)
    }

    /// Calls `each` with every text of a document that belongs to a further field, in the order of leaves.
    pub fn each_text(&self, fields: &Map<String, Value>, mut each: impl FnMut(FieldText<'_>)) {
        let parts = PartNames::of(fields);
        each_leaf(fields, &mut |path, value| {
            if let Ok(at) = (self.further).binary_search_by(|field| field.name.as_str().cmp(path))
                && let field = &self.further[at]
                && let Some(text) = field.text_of(value)
            {
                each(FieldText {
                    name: &field.name,
                    own: field.own,
                    text: &text,
                    is_part: parts.has(path),
                    is_apart: field.kind.is_columnar(),
                });
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FieldType, Schema};

    #[test]
    fn numbers_are_given_once_and_texts_come_by_name() {
        let mut schema = Schema::default();
        for name in ["b", "a.x"] {
            assert!(schema.add(name, FieldType::Text));
            assert!(schema.search_words(name).is_some());
        }
        assert!(schema.add("k", FieldType::Keyword));
        assert!(schema.search_words("b").is_none(), "it has a number");
        let text_fields = schema.text_fields();
        let numbers: Vec<_> = text_fields.further().map(|(_, one)| one.number).collect();
        assert_eq!(numbers, [NUMBER_FIRST + 1, NUMBER_FIRST]);
        assert_eq!(text_fields.name_of(NUMBER_FIRST), Some("b"));
        let json = r#"{"a":{"x":["one","two"],"y":"no"},"b":"three","k":"no","c":7,"_names":{"title":"b"}}"#;
        let mut seen = Vec::new();
        text_fields.each_text(&serde_json::from_str(json).unwrap(), |one| {
            seen.push((one.own.unwrap().number, one.text.to_owned()));
            assert_eq!(one.is_in_text(), one.text != "three");
        });
        let expected = [(4, "one"), (4, "two"), (3, "three")];
        assert_eq!(seen, expected.map(|(n, text)| (n, text.to_owned())));
    }

    #[test]
    fn values_are_texts_as_they_were_written() {
        let mut schema = Schema::default();
        for (name, kind) in [
            ("brand", FieldType::Keyword),
            ("day", FieldType::Date),
            ("is", FieldType::Bool),
            ("price", FieldType::Float),
        ] {
            assert!(schema.add(name, kind));
            schema.search(name);
        }
        assert!(schema.is_sound());
        let json = serde_json::to_string(&schema).unwrap();
        let brand = r#""brand":{"type":"keyword","number":3,"weight":1.0}"#;
        let others =
            r#""day":{"type":"date","in_text":{}},"is":"bool","price":{"type":"f64","in_text":{}}"#;
        assert_eq!(json, format!("{{{brand},{others}}}"));
        assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), schema);
        let json = r#"{"brand":["A b",7],"day":["2024-05-06T10:00:00Z","2024-05-07","May"],"is":true,"price":[12.50,"1e3"]}"#;
        let (text_fields, fields) = (schema.text_fields(), serde_json::from_str(json).unwrap());
        let mut seen = Vec::new();
        text_fields.each_text(&fields, |one| {
            assert!(one.is_in_text() && one.is_apart);
            assert_eq!(one.own.is_some(), one.name == "brand");
            seen.push(one.text.to_owned());
        });
        let expected = [
            "A b",
            "7",
            "2024-05-06",
            "2024-05-07",
            "May",
            "12.50",
            "1e3",
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn settings_survive_json_and_unsound_ones_are_known() {
        let mut schema = Schema::default();
        schema.add("a", FieldType::Text);
        let mut searched = schema.search_words("a").unwrap();
        searched.weight = 2.5;
        searched.b = Some(0.5);
        assert!(schema.set_searched("a", searched));
        schema.add("plain", FieldType::Text);
        let json = serde_json::to_string(&schema).unwrap();
        let entry = r#""a":{"type":"text","number":3,"weight":2.5,"b":0.5}"#;
        assert_eq!(json, format!("{{{entry},\"plain\":\"text\"}}"));
        assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), schema);
        let of = |number, weight, b| {
            Searched {
                number,
                weight,
                b,
                analyzer: None,
            }
            .is_sound()
        };
        assert!(of(3, 1.0, None) && of(252, 100.0, Some(0.0)) && of(1, 3.0, Some(1.0)));
        assert!(of(3, 0.0, None));
        assert!(!of(0, 1.0, None) && !of(2, 1.0, None) && !of(253, 1.0, None));
        assert!(!of(3, 0.5, None) && !of(3, f32::NAN, None) && !of(3, 101.0, None));
        assert!(!of(3, 1.0, Some(1.5)) && !of(1, 0.0, None));
    }

    #[test]
    fn programs_that_know_no_analyzers_of_fields_refuse_them() {
        let mut schema = Schema::default();
        schema.add("a", FieldType::Text);
        schema.search_words("a").unwrap();
        assert!(schema.analyze_with("a", Analyzer::English));
        let json = serde_json::to_string(&schema).unwrap();
        let settings = r#"{"weight":1.0,"analyzer":"english"}"#;
        assert_eq!(
            json,
            format!(r#"{{"a":{{"type":"text","number":3,"words":{settings}}}}}"#)
        );
        assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), schema);
        assert_eq!(schema.analyzer_of(3), Some(Analyzer::English));
        assert_eq!(schema.analyzer_of(4), None);
        let own = |number, weight| {
            Searched {
                weight,
                analyzer: Some(Analyzer::Plain),
                ..Searched::new(number)
            }
            .is_sound()
        };
        assert!(own(3, 1.0) && own(3, 0.0) && !own(3, 2.0));
        assert!(
            !Searched {
                number: 1,
                ..Searched {
                    analyzer: Some(Analyzer::Plain),
                    ..Searched::new(1)
                }
            }
            .is_sound()
        );
    }
}
