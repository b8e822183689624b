//! Versions of documents.

use document::Document;
use std::fmt;
use std::str::FromStr;
use xxhash_rust::xxh3::xxh3_128;

/// Version of a document: the XXH3-128 of its contents. Equal contents have equal versions, whatever happened between
/// them, in every copy of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Version(u128);

impl Version {
    /// Returns the version of a document.
    pub fn of(document: &Document) -> Version {
        let fields = serde_json::to_string(&document.fields).unwrap_or_default();
        let mut contents = Vec::with_capacity(document.body.len() + document.title.len() + 256);
        let texts = [
            &document.url,
            document.id(),
            &document.title,
            &document.body,
            &fields,
        ];
        for text in texts {
            contents.extend_from_slice(&(text.len() as u64).to_le_bytes());
            contents.extend_from_slice(text.as_bytes());
        }
        Version(xxh3_128(&contents))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Version, String> {
        let is_hex = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let version = is_hex
            .then(|| u128::from_str_radix(text, 16).ok())
            .flatten();
        version.map(Version).ok_or_else(|| {
            format!("`{text}` is no version: 32 hexadecimal digits, as answers have them")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_document_counts() {
        let document = Document {
            url: "u".into(),
            title: "ab".into(),
            body: "c".into(),
            ..Document::default()
        };
        let version = Version::of(&document);
        assert_eq!(version.to_string().parse(), Ok(version));
        let moved = Document {
            title: "a".into(),
            body: "bc".into(),
            ..document.clone()
        };
        let fields = [("n".to_owned(), 1.into())].into_iter().collect();
        let field = Document {
            fields,
            ..document.clone()
        };
        let id = Document {
            id: Some("7".into()),
            ..document.clone()
        };
        let own = Document {
            id: Some("u".into()),
            ..document
        };
        for other in [moved, field, id] {
            assert_ne!(Version::of(&other), version);
        }
        assert_eq!(Version::of(&own), version);
        assert!("12".parse::<Version>().is_err());
        assert!(
            "+1234567890123456789012345678901"
                .parse::<Version>()
                .is_err()
        );
    }
}
