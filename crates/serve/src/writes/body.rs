//! Changes in the body of a request.

use corpus::{BodyObject, Document, json_objects};
use ingest::Change;
use serde_json::Value;

/// Action of a request on the documents of its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Put,
    Patch,
    Delete,
}

/// Change in a body, or the reason why it is none.
pub(super) struct ReadChange {
    /// Line of the body, from 1; 0 for a URL in the request's own address.
    pub(super) line: u64,
    pub(super) change: Result<Change, String>,
}

/// Reads the changes of a body.
pub(super) fn changes(action: Action, body: &[u8]) -> Vec<ReadChange> {
    if action == Action::Delete {
        return deletes(body);
    }
    let objects = json_objects(body).into_iter();
    let read = |BodyObject { line, object }| {
        let change = object.and_then(|object| match action {
            Action::Put => put(&object),
            Action::Patch | Action::Delete => patch(&object),
        });
        ReadChange { line, change }
    };
    objects.map(read).collect()
}

fn put(object: &[u8]) -> Result<Change, String> {
    let document = Document::from_json_line(object);
    document.map(Change::Put).map_err(|error| error.to_string())
}

fn patch(object: &[u8]) -> Result<Change, String> {
    let object = std::str::from_utf8(object).map_err(|_| "not UTF-8")?;
    let mut patch =
        json::parse_object(object).map_err(|error| format!("not a JSON object: {error}"))?;
    match patch.remove("url") {
        Some(json::Value::String(url)) if !url.is_empty() => Ok(Change::Patch { url, patch }),
        _ => Err("no `url`: a patch names its document".into()),
    }
}

/// Reads URLs to delete: an array of strings, or on each line a URL, a string or an object with a `url`.
fn deletes(body: &[u8]) -> Vec<ReadChange> {
    if body.trim_ascii_start().starts_with(b"[")
        && let Ok(values) = serde_json::from_slice::<Vec<Value>>(body)
    {
        return values
            .iter()
            .map(|value| ReadChange {
                line: 1,
                change: url_of(value),
            })
            .collect();
    }
    let lines = (1..).zip(body.split(|&byte| byte == b'\n'));
    let lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
    let read = |(line, text): (u64, &[u8])| {
        let change = match text.trim_ascii() {
            json @ [b'{' | b'"', ..] => serde_json::from_slice(json)
                .map_err(|error| format!("not JSON: {error}"))
                .and_then(|value| url_of(&value)),
            plain => match std::str::from_utf8(plain) {
                Ok(url) => Ok(Change::Delete { url: url.into() }),
                Err(_) => Err("not UTF-8".into()),
            },
        };
        ReadChange { line, change }
    };
    lines.map(read).collect()
}

fn url_of(value: &Value) -> Result<Change, String> {
    let url = value.as_str().or_else(|| value.get("url")?.as_str());
    match url {
        Some(url) if !url.is_empty() => Ok(Change::Delete { url: url.into() }),
        _ => Err("no URL: name it as a string, or as {\"url\": …}".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(action: Action, body: &str) -> Vec<(u64, Result<String, String>)> {
        let changes = changes(action, body.as_bytes()).into_iter();
        changes
            .map(|one| (one.line, one.change.map(|change| change.url().to_owned())))
            .collect()
    }

    #[test]
    fn urls_to_delete_come_in_four_forms() {
        let two =
            |lines: [u64; 2]| vec![(lines[0], Ok("a:1".to_owned())), (lines[1], Ok("b".into()))];
        assert_eq!(read(Action::Delete, "a:1\n\nb\n"), two([1, 3]));
        assert_eq!(
            read(Action::Delete, "\"a:1\"\n{\"url\":\"b\",\"x\":1}"),
            two([1, 2])
        );
        assert_eq!(
            read(Action::Delete, "[\"a:1\", {\"url\":\"b\"}]"),
            two([1, 1])
        );
        assert!(read(Action::Delete, "{\"id\":1}")[0].1.is_err());
        assert!(read(Action::Delete, "").is_empty());
    }

    #[test]
    fn documents_and_patches_need_a_url() {
        let body = "{\"url\":\"a\",\"title\":\"t\"}\n{\"title\":\"t\"}\nnothing\n";
        for action in [Action::Put, Action::Patch] {
            let found = read(action, body);
            assert_eq!(found[0], (1, Ok("a".to_owned())));
            assert!(found[1].1.is_err() && found[2].1.is_err());
            assert_eq!(found[2].0, 3);
        }
        assert!(read(Action::Patch, "{\"url\":\"a\"}")[0].1.is_ok());
        assert!(read(Action::Put, "{\"url\":\"a\"}")[0].1.is_err());
    }
}
