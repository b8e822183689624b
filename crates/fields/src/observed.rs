//! Inference of a schema from the values of documents.

use crate::schema::{FieldType, Schema};
use crate::{dates, each_leaf};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Length up to which a text is short, in bytes.
const SHORT_BYTES: usize = 64;
/// A field of text is keywords unless at least one value of this number is long.
const LONG_SHARE: u64 = 10;
/// Upper limit on the names observed, above that of a schema so that order does not decide which names fit.
const NAMES_MAX: usize = 10_000;

/// Counts of the values of one field, by form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Forms {
    integers: u64,
    floats: u64,
    bools: u64,
    dates: u64,
    short_texts: u64,
    long_texts: u64,
    /// Long texts that may be prose.
    prose: u64,
}

/// Forms of the values of all fields. The sum over documents does not depend on their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observed(BTreeMap<String, Forms>);

impl Observed {
    /// Counts the values of a document.
    pub fn add(&mut self, fields: &Map<String, Value>) {
        each_leaf(fields, &mut |path, value| {
            if !self.0.contains_key(path) {
                if self.0.len() >= NAMES_MAX {
                    return;
                }
                self.0.insert(path.to_owned(), Forms::default());
            }
            if let Some(forms) = self.0.get_mut(path) {
                forms.add(value);
            }
        });
    }

    /// Adds the values counted by another.
    pub fn join(&mut self, other: &Observed) {
        for (name, forms) in &other.0 {
            let sum = self.0.entry(name.clone()).or_default();
            sum.integers += forms.integers;
            sum.floats += forms.floats;
            sum.bools += forms.bools;
            sum.dates += forms.dates;
            sum.short_texts += forms.short_texts;
            sum.long_texts += forms.long_texts;
            sum.prose += forms.prose;
        }
    }

    /// Returns whether no document had a value.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the fields that `schema` lacks, with the types of most of their values.
    pub fn extend(&self, schema: &mut Schema) {
        for (name, forms) in &self.0 {
            schema.add(name, forms.kind());
        }
    }

    /// Does the same as [`Observed::extend`], and makes the words of the texts added searched, where there is room and
    /// half of the long ones may be prose: addresses, hashes and the like are only stored.
    pub fn extend_with_words(&self, schema: &mut Schema) {
        for (name, forms) in &self.0 {
            let kind = forms.kind();
            let is_prose = kind == FieldType::Text && 2 * forms.prose >= forms.long_texts;
            if schema.get(name).is_none() && schema.add(name, kind) && is_prose {
                schema.search_words(name);
            }
        }
    }
}

/// Returns whether a text may be words in some language: it has white space, or letters that are not ASCII.
fn may_be_prose(text: &str) -> bool {
    text.contains(|character: char| character.is_whitespace() || !character.is_ascii())
}

impl Forms {
    fn add(&mut self, value: &Value) {
        let count = match value {
            Value::Bool(_) => &mut self.bools,
            Value::Number(number) if number.is_i64() => &mut self.integers,
            Value::Number(_) => &mut self.floats,
            Value::String(text) if dates::parse(text).is_some() => &mut self.dates,
            Value::String(text) if text.len() <= SHORT_BYTES => &mut self.short_texts,
            Value::String(text) => {
                self.prose += u64::from(may_be_prose(text));
                &mut self.long_texts
            }
            _ => return,
        };
        *count += 1;
    }

    /// Returns the type that most values fit; text wins over numbers, numbers over truth values.
    fn kind(&self) -> FieldType {
        let numbers = self.integers + self.floats;
        let texts = self.dates + self.short_texts + self.long_texts;
        if texts >= numbers && texts >= self.bools && texts > 0 {
            return match () {
                _ if self.dates == texts => FieldType::Date,
                _ if self.long_texts * LONG_SHARE >= texts => FieldType::Text,
                _ => FieldType::Keyword,
            };
        }
        match () {
            _ if self.bools > numbers => FieldType::Bool,
            _ if self.floats > 0 => FieldType::Float,
            _ => FieldType::Integer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inferred(documents: &[&str]) -> Vec<(String, &'static str)> {
        let mut observed = Observed::default();
        for json in documents {
            observed.add(&serde_json::from_str(json).unwrap());
        }
        let mut schema = Schema::default();
        observed.extend(&mut schema);
        let fields = schema
            .iter()
            .map(|(name, kind)| (name.to_owned(), kind.name()));
        fields.collect()
    }

    fn type_of(values: &str) -> &'static str {
        inferred(&[&format!("{{\"x\":[{values}]}}")])[0].1
    }

    #[test]
    fn the_values_decide() {
        assert_eq!(type_of("1,2,-3"), "i64");
        assert_eq!(type_of("1,2.5"), "f64");
        assert_eq!(type_of("9223372036854775808"), "f64");
        assert_eq!(type_of("true,false"), "bool");
        assert_eq!(
            type_of(r#""2024-05-06","1969-12-31T23:59:59+01:00""#),
            "date"
        );
        // Neither numbers nor parts of dates are dates.
        assert_eq!(type_of(r#""2024","2024-05""#), "keyword");
        assert_eq!(type_of(r#""128.0.""#), "keyword");
        assert_eq!(type_of(r#""2024-05-06","unknown""#), "keyword");
        assert_eq!(type_of(r#""en","""#), "keyword");
        assert_eq!(type_of(&format!("\"{}\"", "long ".repeat(20))), "text");
        assert_eq!(type_of("1,\"a\""), "keyword");
        assert_eq!(type_of("1,2,\"a\""), "i64");
        assert_eq!(type_of("1,true"), "i64");
        assert!(inferred(&[r#"{"x":null,"y":[],"z":{}}"#]).is_empty());
    }

    #[test]
    fn words_of_prose_are_searched() {
        let long = |part: &str| serde_json::json!({ "x": part.repeat(40) }).to_string();
        let is_searched = |documents: &[&str]| {
            let mut observed = Observed::default();
            for part in documents {
                observed.add(&serde_json::from_str(&long(part)).unwrap());
            }
            let mut schema = Schema::default();
            observed.extend_with_words(&mut schema);
            assert_eq!(schema.get("x"), Some(FieldType::Text));
            schema.searched("x").is_some()
        };
        assert!(is_searched(&["a word "]));
        assert!(is_searched(&["文字"]));
        assert!(!is_searched(&["0aF9"]));
        assert!(is_searched(&["a word ", "0aF9"]));
        assert!(!is_searched(&["a word ", "0aF9", "http"]));
    }

    #[test]
    fn order_does_not_matter_and_objects_are_paths() {
        let documents = [
            r#"{"a":1,"b":{"c":"x"}}"#,
            r#"{"a":1.5}"#,
            r#"{"b":{"d":true}}"#,
        ];
        let forward = inferred(&documents);
        let reversed: Vec<&str> = documents.into_iter().rev().collect();
        assert_eq!(forward, inferred(&reversed));
        let expected = [("a", "f64"), ("b.c", "keyword"), ("b.d", "bool")];
        assert_eq!(
            forward,
            expected.map(|(name, kind)| (name.to_owned(), kind))
        );
    }
}
