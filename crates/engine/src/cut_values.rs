//! Values of a document's fields, cut to what an answer shows: one document must not make a page too large.
//!
//! A string ends with `…` where it was cut, a list has `"…"` as its last entry, an object a field `…`. What was cut is
//! named beside the fields.

use crate::details::char_boundary;
use document::{PART_NAMES, PartNames};
use json::{Map, Value};

/// Characters of a string in an answer, as of a title.
const STRING_CHARS_MAX: usize = crate::details::TITLE_CHARS_MAX;
/// Upper limits on one value, on the fields of a document, and on a name, in bytes of JSON.
const VALUE_BYTES_MAX: usize = 32 << 10;
const FIELDS_BYTES_MAX: usize = 64 << 10;
const NAME_BYTES_MAX: usize = 1 << 10;
/// Size up to which a value is whole while there is room, with its name, in bytes.
const SMALL_BYTES: usize = 256;
/// Upper limit on the names of cut values; all further ones are one `…`.
const NAMES_MAX: usize = 100;
/// Mark at the place of a cut.
const CUT: &str = "…";

/// Cuts fields, as JSON, to the limits of an answer; returns them with the names of those that were cut.
pub fn cut_fields(fields: &str) -> (String, Vec<String>) {
    let may_have_names = fields.contains(PART_NAMES);
    // Nothing in so short a text is too long.
    if fields.len() <= STRING_CHARS_MAX && !may_have_names {
        return (fields.to_owned(), Vec::new());
    }
    let Ok(mut parsed) = json::parse_object(fields) else {
        return (fields.to_owned(), Vec::new());
    };
    PartNames::hide_in(&mut parsed);
    let mut cut = cut_map(&mut parsed, VALUE_BYTES_MAX, FIELDS_BYTES_MAX);
    if cut.is_empty() && !may_have_names {
        return (fields.to_owned(), cut);
    }
    cut.sort_unstable();
    (Value::Object(parsed).to_string(), cut)
}

/// Cuts each value to `value_bytes_max`, and the largest ones further where all together have over `bytes_max`. Returns
/// the names of those that were cut.
pub fn cut_map(fields: &mut Map, value_bytes_max: usize, bytes_max: usize) -> Vec<String> {
    let mut cut = Vec::new();
    let long: Vec<String> = fields
        .keys()
        .filter(|name| name.len() > NAME_BYTES_MAX)
        .cloned()
        .collect();
    for name in long {
        fields.remove(&name);
        if cut.len() < NAMES_MAX {
            cut.push(cut_text(&name, 100));
        }
    }
    let mut sizes: Vec<(usize, String)> = fields
        .iter()
        .map(|(name, value)| (name.len() + json_bytes(value), name.clone()))
        .collect();
    // The smallest first: what they leave is for the others.
    sizes.sort_unstable();
    let (mut left, count) = (bytes_max, sizes.len());
    for (at, (bytes, name)) in sizes.into_iter().enumerate() {
        // Equal shares of many fields would have room for none of them.
        let share = (left / (count - at)).max(SMALL_BYTES).min(left);
        let share = share.min(value_bytes_max);
        let Some(value) = fields.get_mut(&name) else {
            continue;
        };
        let is_long = |text: &str| text.chars().nth(STRING_CHARS_MAX).is_some();
        if bytes > share || value.as_str().is_some_and(is_long) {
            match share > name.len() {
                true => cut_value(value, share - name.len()),
                false => drop(fields.remove(&name)),
            }
            match cut.len() {
                ..NAMES_MAX => cut.push(name.clone()),
                NAMES_MAX => cut.push(CUT.to_owned()),
                _ => {}
            }
        }
        let kept = fields
            .get(&name)
            .map_or(0, |value| name.len() + json_bytes(value));
        left = left.saturating_sub(kept);
    }
    cut
}

/// Cuts a value to about `bytes_max` bytes, with the mark.
fn cut_value(value: &mut Value, bytes_max: usize) {
    match value {
        Value::String(text) => *text = cut_text(text, bytes_max),
        Value::Number(number) => *value = cut_text(&number.to_string(), bytes_max).into(),
        Value::Array(values) => {
            let mut left = bytes_max;
            let mut kept = Vec::new();
            for mut value in std::mem::take(values) {
                let bytes = json_bytes(&value);
                if bytes > left {
                    if left > CUT.len() && !matches!(value, Value::Null | Value::Bool(_)) {
                        cut_value(&mut value, left);
                        kept.push(value);
                    }
                    break;
                }
                left -= bytes;
                kept.push(value);
            }
            kept.push(CUT.into());
            *values = kept;
        }
        Value::Object(values) => {
            let mut left = bytes_max;
            let mut kept = Map::new();
            for (name, mut value) in std::mem::take(values) {
                let bytes = name.len() + json_bytes(&value);
                if bytes > left {
                    if left > name.len() + CUT.len()
                        && !matches!(value, Value::Null | Value::Bool(_))
                    {
                        cut_value(&mut value, left - name.len());
                        kept.insert(name, value);
                    }
                    break;
                }
                left -= bytes;
                kept.insert(name, value);
            }
            kept.insert(CUT.into(), CUT.into());
            *values = kept;
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// Cuts a text to `bytes_max` bytes and [`STRING_CHARS_MAX`] characters, with the mark.
fn cut_text(text: &str, bytes_max: usize) -> String {
    let by_chars = text.char_indices().nth(STRING_CHARS_MAX);
    let end = by_chars.map_or(text.len(), |(end, _)| end).min(bytes_max);
    let mut cut = text[..char_boundary(text, end)].to_owned();
    cut.push_str(CUT);
    cut
}

/// Returns the length of a value as JSON, in bytes.
fn json_bytes(value: &Value) -> usize {
    struct Counting(usize);
    impl std::io::Write for Counting {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counting = Counting(0);
    // Counting does not fail.
    let _ = serde_json::to_writer(&mut counting, value);
    counting.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cut_of(fields: serde_json::Value) -> (Map, Vec<String>) {
        let (text, cut) = cut_fields(&fields.to_string());
        (json::parse_object(&text).unwrap(), cut)
    }

    #[test]
    fn short_fields_stay_as_they_are() {
        for text in [
            r#"{"a":1}"#.to_owned(),
            format!(r#"{{"a": 1.50, "b":"{}"}}"#, "x".repeat(8_000)),
            "x".repeat(5_000),
        ] {
            assert_eq!(cut_fields(&text), (text.clone(), vec![]));
        }
    }

    #[test]
    fn a_long_value_is_cut_and_marked_and_others_stay() {
        let (fields, cut) = cut_of(json!({
            "blob": "é".repeat(5 << 20), "lang": "en", "n": 7,
            "list": vec!["word"; 100_000],
            "object": { "a": 1, "b": vec![1; 100_000], "c": "x" },
        }));
        assert_eq!(cut, ["blob", "list", "object"]);
        assert!(fields["lang"] == "en" && fields["n"] == 7u8);
        let blob = fields["blob"].as_str().unwrap();
        assert!(blob.ends_with("é…") && blob.chars().count() <= STRING_CHARS_MAX + 1);
        let list = fields["list"].as_array().unwrap();
        assert!(list.len() > 1_000 && list.last() == Some(&Value::from("…")));
        assert_eq!(fields["object"]["…"], "…");
        assert_eq!(fields["object"]["a"], 1u8);
        let whole = Value::Object(fields).to_string();
        assert!(whole.len() < FIELDS_BYTES_MAX + 1_000, "{}", whole.len());
    }

    #[test]
    fn many_values_and_long_names_are_bounded_together() {
        let many: serde_json::Map<String, serde_json::Value> = (0..50_000)
            .map(|n| (format!("name{n}"), json!("x".repeat(50))))
            .collect();
        let (fields, cut) = cut_of(many.into());
        assert!(fields.len() > 500);
        assert!(Value::Object(fields).to_string().len() < 2 * FIELDS_BYTES_MAX);
        assert_eq!(
            (cut.len(), cut.contains(&CUT.to_owned())),
            (NAMES_MAX + 1, true)
        );
        let (fields, cut) = cut_of(json!({ "n".repeat(1 << 20): 1, "b": 2 }));
        assert_eq!((fields.len(), cut.len()), (1, 1));
        assert_eq!(fields["b"], 2u8);
        assert!(cut[0].len() < 200);
        let deep = (0..100).fold(json!("x".repeat(50_000)), |value, _| json!([value]));
        let (fields, cut) = cut_of(json!({ "deep": deep }));
        assert_eq!(cut, ["deep"]);
        assert!(Value::Object(fields).to_string().len() < VALUE_BYTES_MAX + 2_000);
    }
}
