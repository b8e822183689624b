//! Inference of a schema from the values of documents.
//!
//! ```text
//! bool      most values are truth values
//! number    numbers are more than texts, or three quarters of the texts that say something are numbers
//!           i64: unless fractions are more than integers that no float is; keyword: a tenth is beyond 64 bits
//! date      more than half of the texts that say something are dates
//! text      a tenth of the texts is long, or most are the titles or the bodies of their documents
//! keyword   otherwise
//! ```
//!
//! Texts are no numbers where they identify: a hundredth begins with 0 or `+` (`01234`), or fractions of different lengths
//! end in 0 (`1.1` beside `1.10`). All of it is decided by counts, so neither the order of documents nor their parts matter.

use crate::each_leaf;
use crate::field_type::FieldType;
use crate::schema::Schema;
use crate::text_form::TextForm;
use document::PartNames;
use json::{Map, Value};
use std::collections::BTreeMap;

/// Length up to which a text is short, in bytes.
const SHORT_BYTES: usize = 64;
/// A field of text is keywords unless at least one value of this number is long.
const LONG_SHARE: u64 = 10;
/// A field of numbers is keywords if at least one of this number is beyond 64 bits, since then it would be rounded.
const BEYOND_SHARE: u64 = 10;
/// Texts identify if more than one of this number has the form of an identifier.
const CODE_SHARE: u64 = 100;
/// Greatest integer up to which all are floats.
const FLOAT_INTEGERS_MAX: u64 = 1 << 53;
/// Digits of fractions that are counted apart.
const FRACTION_DIGITS: usize = 16;
/// Upper limit on the names observed, above that of a schema so that order does not decide which names fit.
const NAMES_MAX: usize = 10_000;

/// Counts of the values of one field, by form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Forms {
    integers: u64,
    floats: u64,
    bools: u64,
    /// Integers of 64 bits that no float is, also those in texts.
    wide: u64,
    /// Integers beyond 64 bits, and those in texts.
    beyond: u64,
    beyond_texts: u64,
    dates: u64,
    integer_texts: u64,
    exponent_texts: u64,
    /// Numbers in texts by the digits of their fractions, the least first; the last count is of longer ones, too.
    fraction_texts: [u64; FRACTION_DIGITS],
    /// Decimal texts that end in 0 after another digit.
    padded_texts: u64,
    code_texts: u64,
    missing_texts: u64,
    short_texts: u64,
    long_texts: u64,
    /// Texts that are the title or the body of their document.
    parts: u64,
}

/// Forms of the values of all fields. The sum over documents does not depend on their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observed(BTreeMap<String, Forms>);

impl Observed {
    /// Counts the values of a document.
    pub fn add(&mut self, fields: &Map<String, Value>) {
        let parts = PartNames::of(fields);
        each_leaf(fields, &mut |path, value| {
            if !self.0.contains_key(path) {
                if self.0.len() >= NAMES_MAX {
                    return;
                }
                self.0.insert(path.to_owned(), Forms::default());
            }
            if let Some(forms) = self.0.get_mut(path) {
                forms.add(value);
                forms.parts += u64::from(parts.has(path) && value.as_str().is_some());
            }
        });
    }

    /// Adds the values counted by another.
    pub fn join(&mut self, other: &Observed) {
        for (name, forms) in &other.0 {
            self.0.entry(name.clone()).or_default().join(forms);
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

    /// Returns the number of names.
    pub fn names_count(&self) -> usize {
        self.0.len()
    }

    /// Does the same as [`Observed::extend`], and makes the words of the fields added searched. Where there is not room for
    /// the own words of all, texts come first.
    pub fn extend_with_words(&self, schema: &mut Schema) {
        let new: Vec<(&str, FieldType)> = (self.0.iter())
            .filter(|(name, _)| schema.get(name).is_none())
            .map(|(name, forms)| (name.as_str(), forms.kind()))
            .collect();
        new.iter().for_each(|(name, kind)| {
            schema.add(name, *kind);
        });
        let is_text = |kind: FieldType| kind == FieldType::Text;
        let texts = new.iter().filter(|(_, kind)| is_text(*kind));
        let others = new.iter().filter(|(_, kind)| !is_text(*kind));
        texts
            .chain(others)
            .for_each(|(name, _)| schema.search(name));
    }
}

impl Forms {
    fn add(&mut self, value: &Value) {
        let count = match value {
            Value::Bool(_) => &mut self.bools,
            Value::Number(number) => match number.as_i64() {
                Some(integer) => {
                    self.wide += u64::from(is_wide(integer));
                    &mut self.integers
                }
                None if number.text().contains(['.', 'e', 'E']) => &mut self.floats,
                None => &mut self.beyond,
            },
            Value::String(text) => return self.add_text(text),
            _ => return,
        };
        *count += 1;
    }

    fn add_text(&mut self, text: &str) {
        let count = match TextForm::of(text) {
            TextForm::Missing => &mut self.missing_texts,
            TextForm::Date => &mut self.dates,
            TextForm::Integer(integer) => {
                self.wide += u64::from(is_wide(integer));
                &mut self.integer_texts
            }
            TextForm::Beyond => &mut self.beyond_texts,
            TextForm::Fraction { digits, is_padded } => {
                self.padded_texts += u64::from(is_padded);
                &mut self.fraction_texts[digits.clamp(1, FRACTION_DIGITS) - 1]
            }
            TextForm::Exponent => &mut self.exponent_texts,
            TextForm::Code => &mut self.code_texts,
            TextForm::Words if text.len() <= SHORT_BYTES => &mut self.short_texts,
            TextForm::Words => &mut self.long_texts,
        };
        *count += 1;
    }

    fn join(&mut self, other: &Forms) {
        self.integers += other.integers;
        self.floats += other.floats;
        self.bools += other.bools;
        self.wide += other.wide;
        self.beyond += other.beyond;
        self.beyond_texts += other.beyond_texts;
        self.dates += other.dates;
        self.integer_texts += other.integer_texts;
        self.exponent_texts += other.exponent_texts;
        for (sum, count) in self.fraction_texts.iter_mut().zip(other.fraction_texts) {
            *sum += count;
        }
        self.padded_texts += other.padded_texts;
        self.code_texts += other.code_texts;
        self.missing_texts += other.missing_texts;
        self.short_texts += other.short_texts;
        self.long_texts += other.long_texts;
        self.parts += other.parts;
    }

    /// Returns the number of values that are numbers of JSON.
    fn numbers(&self) -> u64 {
        self.integers + self.floats + self.beyond
    }

    /// Returns whether most texts are title or body.
    fn are_parts(&self) -> bool {
        2 * self.parts > self.telling_texts()
    }

    fn fractions(&self) -> u64 {
        self.fraction_texts.iter().sum()
    }

    /// Returns the number of texts that are numbers.
    fn number_texts(&self) -> u64 {
        self.integer_texts + self.beyond_texts + self.exponent_texts + self.fractions()
    }

    /// Returns the number of texts that say something.
    fn telling_texts(&self) -> u64 {
        self.dates + self.number_texts() + self.code_texts + self.short_texts + self.long_texts
    }

    /// Returns the type that most values fit.
    fn kind(&self) -> FieldType {
        let telling = self.telling_texts();
        let texts = telling + self.missing_texts;
        let numbers = self.numbers();
        if self.bools > numbers && self.bools > texts {
            return FieldType::Bool;
        }
        if numbers > texts || self.has_texts_of_numbers() {
            return self.number_kind();
        }
        match () {
            // As many truth values as numbers, and no text.
            _ if texts == 0 => self.number_kind(),
            _ if 2 * self.dates > telling => FieldType::Date,
            _ if self.are_parts() || self.long_texts * LONG_SHARE >= texts => FieldType::Text,
            _ => FieldType::Keyword,
        }
    }

    /// Returns whether the texts of the field are numbers, and do not identify.
    fn has_texts_of_numbers(&self) -> bool {
        let numbers = self.number_texts();
        let are_most = numbers > 0 && 4 * numbers >= 3 * self.telling_texts();
        let has_codes = self.code_texts * CODE_SHARE > numbers + self.code_texts;
        // Amounts are written with the same number of digits, `9.50` beside `10.00`; versions are not.
        let commonest = self.fraction_texts.iter().max().copied().unwrap_or(0);
        let others = self.fractions() - commonest;
        let has_versions = self.padded_texts > 0 && others * CODE_SHARE > self.fractions();
        are_most && !has_codes && !has_versions
    }

    /// Returns the type of a field of numbers.
    fn number_kind(&self) -> FieldType {
        let beyond = self.beyond + self.beyond_texts;
        let fractional = self.floats + self.fractions() + self.exponent_texts;
        match () {
            _ if beyond * BEYOND_SHARE > self.numbers() + self.number_texts() => FieldType::Keyword,
            _ if fractional > self.wide => FieldType::Float,
            _ => FieldType::Integer,
        }
    }
}

/// Returns whether an integer may be one that no float is.
fn is_wide(integer: i64) -> bool {
    integer.unsigned_abs() > FLOAT_INTEGERS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        // Beyond 64 bits, integers are compared as they are written rather than rounded.
        assert_eq!(type_of("9223372036854775808"), "keyword");
        assert_eq!(
            type_of("1e300,18446744073709551616,2.5,1,2,3,4,5,6,7,8"),
            "f64"
        );
        assert_eq!(type_of("1,2,3,4,5,6,7,8,9,9223372036854775808"), "i64");
        // One fraction does not take the type of ids that no float is.
        assert_eq!(type_of("9007199254740993,9007199254740995,0.5"), "i64");
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
    fn texts_are_typed_by_most_of_them() {
        let most = |usual: &[&str], odd: &str| {
            let quoted = |text: &&str| format!("\"{text}\"");
            let mut all: Vec<String> = usual.iter().map(quoted).collect();
            let usual = type_of(&all.join(","));
            all.insert(0, quoted(&odd));
            assert_eq!(type_of(&all.join(",")), usual, "{all:?}");
            usual
        };
        assert_eq!(most(&["100", "9", "25.5"], "n/a"), "f64");
        assert_eq!(most(&["1", "2", "3"], "many"), "i64");
        assert_eq!(most(&["100.0", "25.55", "-3.5", "1e-7"], "?"), "f64");
        assert_eq!(most(&["12.50", "3.00", "100.25"], ""), "f64");
        assert_eq!(most(&["2024-05-06", "2024-05-07"], "1949"), "date");
        assert_eq!(most(&["2024-05-06", "9999-12-31"], "soon"), "date");
        assert_eq!(most(&["2024-05-06", "2024-05-07"], "10000-01-01"), "date");
        // What identifies is no number.
        assert_eq!(most(&["01234", "10115", "20095"], "10117"), "keyword");
        assert_eq!(most(&["+4930123", "+4930124"], "4930125"), "keyword");
        assert_eq!(most(&["1.1", "1.2", "1.10"], "2.0"), "keyword");
        assert_eq!(most(&["1001", "1002", "A-3"], "A-4"), "keyword");
        assert_eq!(most(&["30-123", "30-124"], "7"), "keyword");
        assert_eq!(
            most(&["12345678901234567890123", "12345678901234567890124"], "7"),
            "keyword"
        );
        // A hundredth may be odd.
        let many = |odd: &str| {
            let usual = (0..200).map(|number| format!("\"{}.50\",", number + 1));
            type_of(&format!("{}\"{odd}\"", usual.collect::<String>()))
        };
        assert_eq!([many("007"), many("10.5"), many("x")], ["f64"; 3]);
        assert_eq!(type_of(r#""","""#), "keyword");
        assert_eq!(type_of(r#"1,"2","x""#), "keyword");
        assert_eq!(type_of(r#"1,"2","3","4""#), "i64");
    }

    proptest! {
        #[test]
        fn neither_order_nor_parts_matter(
            values in prop::collection::vec(0usize..16, 1..40), cut in 0usize..40, seed in any::<u64>()
        ) {
            const SAMPLES: [&str; 16] = [
                "1", "2.5", "true", "\"2024-05-06\"", "\"7\"", "\"1.10\"", "\"1.5\"", "\"007\"", "\"\"", "\"word\"",
                "9007199254740993", "18446744073709551616", "\"18446744073709551616\"", "\"1e9\"", "null",
                "\"a long text of more than sixty-four bytes, which has white space in it\"",
            ];
            let observed = |values: &[usize]| {
                let mut observed = Observed::default();
                for &value in values {
                    let json = format!("{{\"x\":{}}}", SAMPLES[value]);
                    observed.add(&serde_json::from_str(&json).unwrap());
                }
                observed
            };
            let all = observed(&values);
            let mut shuffled = values.clone();
            let length = shuffled.len();
            for at in 0..length {
                shuffled.swap(at, (seed.rotate_left(at as u32) % length as u64) as usize);
            }
            let (front, back) = shuffled.split_at(cut.min(length));
            let mut joined = observed(back);
            joined.join(&observed(front));
            prop_assert_eq!(joined, all);
        }
    }

    #[test]
    fn words_of_all_but_truth_values_are_searched() {
        let mut observed = Observed::default();
        let json = r#"{"brand":"Samsung","date":"2024-05-06","hash":"0aF9","is":true,"n":7}"#;
        observed.add(&serde_json::from_str(&json.replace("0aF9", &"0aF9".repeat(40))).unwrap());
        let mut schema = Schema::default();
        schema.add("n", FieldType::Integer);
        observed.extend_with_words(&mut schema);
        let searched = ["brand", "date", "hash", "is", "n"].map(|name| schema.is_searched(name));
        // A field that the index has stays as it is.
        assert_eq!(searched, [true, true, true, false, false]);
        let number = |name: &str| schema.searched(name).map(|own| own.number);
        assert_eq!((number("hash"), number("brand")), (Some(3), Some(4)));
        assert_eq!(number("date"), None);
    }

    #[test]
    fn where_there_is_no_room_for_more_own_words_texts_have_them() {
        let mut observed = Observed::default();
        let (short, long) = ("word", "long words ".repeat(9));
        for number in 0..crate::TEXT_FIELDS_MAX {
            let json =
                serde_json::json!({ format!("a{number}"): short, format!("b{number}"): long });
            observed.add(&serde_json::from_str(&json.to_string()).unwrap());
        }
        let mut schema = Schema::default();
        observed.extend_with_words(&mut schema);
        assert!(schema.is_sound());
        assert!(schema.is_searched("a0") && schema.searched("a0").is_none());
        assert!(schema.searched("b249").is_some());
        let text_fields = schema.text_fields();
        assert_eq!(text_fields.further().count(), crate::TEXT_FIELDS_MAX);
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
