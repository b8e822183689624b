//! Document: an address, and texts and values under it.

use crate::{Error, Fields, Result, Value};
use document::{PART_NAMES, PartNames};
use std::fmt;

/// Document to add, or as an index stores it. Its URL identifies it: a later document with the same URL replaces it.
///
/// ```
/// use shorttail::Document;
///
/// let document = Document::new("https://shop.example/kettle")
///     .title("Kettle")
///     .body("Boils a litre in two minutes.")
///     .field("price", 25)
///     .field("tags", vec!["kitchen", "steel"]);
/// assert_eq!(document.fields["price"], 25);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Document {
    /// Address, which identifies the document.
    pub url: String,
    /// Name that answers show in place of the URL.
    pub id: Option<String>,
    /// Title; empty for none.
    pub title: String,
    /// Text; empty for none.
    pub body: String,
    /// Further fields. Texts, numbers and dates are searched; all but long texts are filtered, sorted and counted.
    pub fields: Fields,
    /// Names of the fields that are title and body.
    names: PartNames,
}

impl Document {
    /// Reads a document from an object of JSON of any shape. The fields `url`, `id`, `title` and `body` are those of the document;
    /// where one is missing, a field with a usual name of it stands in (`link`, `slug`, `headline`, `text`, `message` and the
    /// like), and stays a field. Without a URL the id is the address.
    ///
    /// ```
    /// use shorttail::Document;
    ///
    /// let document = Document::from_json(r#"{"id": 7, "message": "disk full", "host": "a1"}"#)?;
    /// assert_eq!((&*document.url, &*document.body), ("id:7", "disk full"));
    /// assert_eq!(document.fields["message"], "disk full");
    /// # Ok::<(), shorttail::Error>(())
    /// ```
    ///
    /// # Errors
    /// No object of JSON, one without an address, a name that occurs twice.
    pub fn from_json(json: &str) -> Result<Document> {
        let read = document::Document::from_json_line(json.as_bytes());
        let read = read.map_err(|error| Error::refused("document", error.to_string()))?;
        let mut fields = read.fields;
        let names = PartNames::of(&fields);
        PartNames::hide_in(&mut fields);
        Ok(Document {
            url: read.url,
            id: read.id,
            title: read.title,
            body: read.body,
            fields,
            names,
        })
    }

    /// Returns a document without texts.
    pub fn new(url: impl Into<String>) -> Document {
        Document {
            url: url.into(),
            ..Document::default()
        }
    }

    /// Sets the name that answers show in place of the URL.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Document {
        self.id = Some(id.into());
        self
    }

    /// Sets the title.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Document {
        self.title = title.into();
        self
    }

    /// Sets the text.
    #[must_use]
    pub fn body(mut self, body: impl Into<String>) -> Document {
        self.body = body.into();
        self
    }

    /// Sets a further field: a text, a number, a truth value, a list or an object.
    #[must_use]
    pub fn field(mut self, name: impl Into<String>, value: impl Into<Value>) -> Document {
        self.fields.insert(name.into(), value.into());
        self
    }

    /// Refuses a document without an address, and a field whose name is taken.
    pub(crate) fn into_indexed(self) -> Result<document::Document> {
        if self.url.is_empty() {
            return Err(Error::refused("url", "a document needs an address"));
        }
        if self.fields.contains_key(PART_NAMES) {
            let reason = format!("the name {PART_NAMES} is taken; rename the field");
            return Err(Error::refused("fields", reason));
        }
        let mut indexed = document::Document {
            url: self.url,
            id: self.id,
            title: self.title,
            body: self.body,
            fields: self.fields,
        };
        self.names.restore_in(&mut indexed);
        Ok(indexed)
    }

    pub(crate) fn from_stored(stored: index::StoredDocument) -> Document {
        let mut fields = stored.fields;
        let names = PartNames::of(&fields);
        PartNames::hide_in(&mut fields);
        Document {
            id: Some(stored.id).filter(|id| *id != stored.url),
            url: stored.url,
            title: stored.title,
            body: stored.body,
            fields,
            names,
        }
    }
}

/// Type of a further field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FieldKind {
    /// Short text that is compared as a whole, and whose words are searched.
    Keyword,
    /// Integer of 64 bits.
    Integer,
    /// Floating-point number of 64 bits.
    Float,
    /// True or false.
    Bool,
    /// Instant: a date, or a date and a time.
    Date,
    /// Long text, whose words are searched.
    Text,
}

impl FieldKind {
    pub(crate) fn to_type(self) -> fields::FieldType {
        match self {
            FieldKind::Keyword => fields::FieldType::Keyword,
            FieldKind::Integer => fields::FieldType::Integer,
            FieldKind::Float => fields::FieldType::Float,
            FieldKind::Bool => fields::FieldType::Bool,
            FieldKind::Date => fields::FieldType::Date,
            FieldKind::Text => fields::FieldType::Text,
        }
    }

    pub(crate) fn of_type(kind: fields::FieldType) -> FieldKind {
        match kind {
            fields::FieldType::Keyword => FieldKind::Keyword,
            fields::FieldType::Integer => FieldKind::Integer,
            fields::FieldType::Float => FieldKind::Float,
            fields::FieldType::Bool => FieldKind::Bool,
            fields::FieldType::Date => FieldKind::Date,
            fields::FieldType::Text => FieldKind::Text,
        }
    }
}

impl fmt::Display for FieldKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_type().fmt(f)
    }
}
