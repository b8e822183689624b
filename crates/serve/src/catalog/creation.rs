//! What a request says of an index to create.

use fields::Declarations;
use index::{BuildOptions, Texts};
use serde::Deserialize;
use text::Analyzer;

/// Settings of a new index, all optional.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Creation {
    /// Chunks, into which documents are hashed.
    chunks: Option<u32>,
    /// Partitions to lay the chunks out for.
    partitions: Option<u32>,
    /// Name of the analyzer, as `english`.
    analyzer: Option<String>,
    /// `stored` or `none`.
    texts: Option<Texts>,
    /// Types of fields, as `{"price": "f64"}`, and settings of their words.
    fields: Declarations,
}

/// Reads the body of a request that creates an index; an empty one is a creation by the defaults.
///
/// # Errors
/// It is no such JSON; the reason is for the client.
pub(super) fn creation(body: &[u8]) -> Result<BuildOptions, String> {
    let read = match body.trim_ascii().first() {
        None => Ok(Creation::default()),
        Some(b'{') => serde_json::from_slice(body),
        // A list would be taken for the settings in their order.
        Some(_) => Err(serde::de::Error::custom("it is no JSON object")),
    };
    let creation: Creation = read.map_err(|error| {
        format!(
            "the body is not what an index is created with: {error}; send nothing, or JSON as \
             {{\"chunks\": 4, \"analyzer\": \"english\", \"texts\": \"stored\", \"fields\": {{\"price\": \"f64\"}}}}"
        )
    })?;
    let analyzer = creation.analyzer.map(|name| name.parse::<Analyzer>());
    let analyzer = analyzer.transpose();
    Ok(BuildOptions {
        chunks: creation.chunks,
        partitions: creation.partitions,
        analyzer: analyzer.map_err(|error| format!("analyzer: {error}"))?,
        texts: creation.texts,
        fields: creation.fields,
        ..BuildOptions::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_optional_and_others_are_refused() {
        for empty in ["", " \n", "{}"] {
            let options = creation(empty.as_bytes()).unwrap();
            assert_eq!((options.chunks, options.texts), (None, None), "{empty:?}");
        }
        let body =
            r#"{"chunks": 3, "texts": "none", "analyzer": "english", "fields": {"price": "f64"}}"#;
        let options = creation(body.as_bytes()).unwrap();
        assert_eq!(
            (options.chunks, options.texts),
            (Some(3), Some(Texts::None))
        );
        assert!(options.analyzer.is_some());
        assert_ne!(options.fields, Declarations::default());
        for bad in [
            r#"{"chunk": 3}"#,
            r#"{"chunks": -1}"#,
            r#"{"texts": "some"}"#,
            r#"{"analyzer": "klingon"}"#,
            r#"{"fields": {"price": "money"}}"#,
            "[]",
            "[3]",
            "null",
            "{",
            "\u{0}",
        ] {
            assert!(creation(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(creation(&[0xff, 0xfe]).is_err());
    }
}
