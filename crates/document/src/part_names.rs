//! Names of the fields that are a document's title and body.

use crate::Document;
use crate::record::PART_NAMES;
use crate::text_of_value::{get, text, text_of_fields};
use json::{Map, Value};

/// Names of the fields that are title and body. Their texts are in [`crate::Document::title`] and [`crate::Document::body`], too;
/// a text in either place is one text, whose words count once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartNames {
    title: Option<String>,
    body: Vec<String>,
}

impl PartNames {
    /// Returns the names for parts whose fields have these; a part's own name, and none, tell nothing.
    pub(crate) fn of_parts(title: String, body: Vec<String>) -> PartNames {
        let is_own = matches!(body.as_slice(), [own] if own == "body");
        PartNames {
            title: Some(title).filter(|name| !name.is_empty() && name != "title"),
            body: if is_own { Vec::new() } else { body },
        }
    }

    /// Reads the names from a document's fields.
    pub fn of(fields: &Map) -> PartNames {
        let Some(Value::Object(names)) = fields.get(PART_NAMES) else {
            return PartNames::default();
        };
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let body = names.get("body").and_then(Value::as_array);
        PartNames {
            title: names.get("title").and_then(text),
            body: body.into_iter().flatten().filter_map(text).collect(),
        }
    }

    /// Removes the names from fields that are shown.
    pub fn hide_in(fields: &mut Map) {
        fields.remove(PART_NAMES);
    }

    /// Writes the names that still are of the document's title and body into its fields.
    pub fn restore_in(mut self, document: &mut Document) {
        let (fields, title, body) = (&document.fields, &document.title, &document.body);
        if self.title_in(fields).is_some_and(|text| text != *title) {
            self.forget_title();
        }
        if self.body_in(fields).is_some_and(|text| text != *body) {
            self.forget_body();
        }
        self.note_in(&mut document.fields);
    }

    /// Writes the names into a document's fields.
    pub(crate) fn note_in(self, fields: &mut Map) {
        let mut names = Map::new();
        if let Some(title) = self.title {
            names.insert("title".to_owned(), title.into());
        }
        if !self.body.is_empty() {
            names.insert("body".to_owned(), self.body.into());
        }
        if names.is_empty() {
            fields.remove(PART_NAMES);
        } else {
            fields.insert(PART_NAMES.to_owned(), names.into());
        }
    }

    /// Returns the name of the field that is the title.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Returns the names of the fields that are the body, one after the other.
    pub fn body(&self) -> &[String] {
        &self.body
    }

    /// Returns the title, where it is a field by another name.
    pub(crate) fn title_in(&self, fields: &Map) -> Option<String> {
        let title = |name| get(fields, name).and_then(text).unwrap_or_default();
        self.title().map(title)
    }

    /// Returns the body, where it is fields by other names: their texts, one after the other.
    pub(crate) fn body_in(&self, fields: &Map) -> Option<String> {
        let names = self.body.iter();
        (!self.body.is_empty()).then(|| text_of_fields(fields, names.map(String::as_str)))
    }

    /// Returns whether the field at a path (`a.b` within an object) is title or body.
    pub fn has(&self, path: &str) -> bool {
        self.title.as_deref() == Some(path) || self.body.iter().any(|name| name == path)
    }

    /// Forgets the name of the title, which is a text of its own from now on.
    pub(crate) fn forget_title(&mut self) {
        self.title = None;
    }

    /// Forgets the names of the body.
    pub(crate) fn forget_body(&mut self) {
        self.body.clear();
    }
}
