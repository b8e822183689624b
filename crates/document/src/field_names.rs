//! Names of the fields of records, where the user gives them.

/// Names of fields, where the user gives them. A name with dots leads into objects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldNames {
    /// The id.
    pub id: Option<String>,
    /// The URL.
    pub url: Option<String>,
    /// The title.
    pub title: Option<String>,
    /// The body: one field or several, joined.
    pub body: Vec<String>,
}

impl FieldNames {
    /// Returns whether no name is given.
    pub fn is_empty(&self) -> bool {
        *self == FieldNames::default()
    }
}
