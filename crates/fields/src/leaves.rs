//! Leaves of a JSON object: its values by path.

use document::PART_NAMES;
use json::{Map, Value};

/// Calls `each` with the path and the value of every leaf of `fields`, in order. The path of a value in an object is
/// that of the object, `.` and its name; the elements of a list have the path of the list. Nulls are no leaves, and what the
/// document stores for itself ([`PART_NAMES`]) is no field.
pub fn each_leaf<'v>(fields: &'v Map<String, Value>, each: &mut impl FnMut(&str, &'v Value)) {
    for (name, value) in fields.iter().filter(|(name, _)| *name != PART_NAMES) {
        visit(name, value, each);
    }
}

// Depth is bounded by the parser of JSON, which refuses more than 128 levels.
fn visit<'v>(path: &str, value: &'v Value, each: &mut impl FnMut(&str, &'v Value)) {
    match value {
        Value::Null => {}
        Value::Array(elements) => elements.iter().for_each(|one| visit(path, one, each)),
        Value::Object(inner) => {
            for (name, value) in inner {
                visit(&format!("{path}.{name}"), value, each);
            }
        }
        leaf => each(path, leaf),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_paths_and_lists_are_several_leaves() {
        let json = r#"{"a":{"b":[1,[2],{"c":true}],"d":null},"e":"x","_names":{"body":["e"]}}"#;
        let fields: Map<String, Value> = serde_json::from_str(json).unwrap();
        let mut leaves = Vec::new();
        each_leaf(&fields, &mut |path, value| {
            leaves.push(format!("{path}={value}"))
        });
        assert_eq!(leaves, ["a.b=1", "a.b=2", "a.b.c=true", "e=\"x\""]);
    }
}
