//! Changes in the body of a request, read one at a time.

use document::{
    BodyEntries, BodyEntry, BodyError, Change, ChangeReader, EntryText, FieldNames, Mapper, Origin,
    URL_BYTES_MAX,
};
use json::Value;
use std::io::Read;

/// Action of a request on the documents of its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Put,
    Patch,
    Delete,
}

/// Change in a body, or the reason why it is none.
#[derive(Debug)]
pub(super) struct ReadChange {
    /// Line of the body, from 1; 0 for a URL in the request's own address.
    pub(super) line: u64,
    pub(super) change: Result<Change, String>,
    /// Bytes of the entry.
    pub(super) bytes: usize,
}

impl ReadChange {
    /// Returns the deletion that the request's own address names.
    pub(super) fn deletion(url: &str) -> ReadChange {
        ReadChange {
            line: 0,
            change: deleted(url),
            bytes: url.len(),
        }
    }
}

/// Reader of the changes in a body.
pub(super) struct BodyChanges<R> {
    action: Action,
    entries: BodyEntries<R>,
    reader: ChangeReader,
    /// Line of the entry read last.
    line: u64,
}

impl<R: Read> BodyChanges<R> {
    /// Creates a reader of documents whose parts have these names.
    pub(super) fn new(
        action: Action,
        entries: BodyEntries<R>,
        names: FieldNames,
    ) -> BodyChanges<R> {
        BodyChanges {
            action,
            entries,
            reader: ChangeReader::new(Mapper::new(names)),
            line: 0,
        }
    }

    /// Returns which fields became which part.
    pub(super) fn names_found(&self) -> impl Iterator<Item = &str> {
        self.reader.mapper().found()
    }

    /// Reads the next change; `None` at the end of the body.
    pub(super) fn next(&mut self) -> Result<Option<ReadChange>, BodyError> {
        loop {
            let Some(BodyEntry { line, text }) = self.entries.next_entry()? else {
                return Ok(self.reader.end().err().map(|error| ReadChange {
                    line: self.line,
                    change: Err(error.to_string()),
                    bytes: 0,
                }));
            };
            self.line = line;
            let (bytes, change) = match text {
                EntryText::TooLong { bytes } => (
                    0,
                    Err(format!(
                        "the entry has {bytes} bytes; 64 MiB at most are taken"
                    )),
                ),
                EntryText::Json(json) | EntryText::JsonLine(json) => (json.len(), self.read(&json)),
                EntryText::Plain(text) => (
                    text.len(),
                    match self.action {
                        Action::Delete => plain_url(&text).map(Some),
                        Action::Put | Action::Patch => self.read(&text),
                    },
                ),
            };
            // An action of a bulk request alone is no change.
            if let Some(change) = change.transpose() {
                return Ok(Some(ReadChange {
                    line,
                    change,
                    bytes,
                }));
            }
        }
    }

    fn read(&mut self, json: &[u8]) -> Result<Option<Change>, String> {
        match self.action {
            Action::Put => {
                let read = self.reader.read(json, Origin::Request);
                read.map_err(|error| error.to_string())
            }
            Action::Patch => patch(json).map(Some),
            Action::Delete => {
                let value =
                    json::parse(utf8(json)?).map_err(|error| format!("not JSON: {error}"))?;
                url_of(&value).map(Some)
            }
        }
    }
}

fn utf8(json: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(json).map_err(|_| "not UTF-8".to_owned())
}

fn patch(object: &[u8]) -> Result<Change, String> {
    let mut patch =
        json::parse_object(utf8(object)?).map_err(|error| format!("not a JSON object: {error}"))?;
    match patch.remove("url") {
        Some(Value::String(url)) if !url.is_empty() => {
            bounded(&url)?;
            let absent = None;
            Ok(Change::Patch { url, patch, absent })
        }
        _ => Err("no `url`: a patch names its document".into()),
    }
}

fn plain_url(text: &[u8]) -> Result<Change, String> {
    match std::str::from_utf8(text) {
        // A client that sends JSON further down would delete nothing, and be told that it did.
        Ok(url) if url.starts_with(['{', '[', '"']) => Err(
            "JSON among plain URLs: send a URL a line, or JSON alone, an array or a value a line"
                .into(),
        ),
        Ok(url) => deleted(url),
        Err(_) => Err("not UTF-8".into()),
    }
}

fn url_of(value: &Value) -> Result<Change, String> {
    let url = value.as_str().or_else(|| value.get("url")?.as_str());
    match url {
        Some(url) if !url.is_empty() => deleted(url),
        _ => Err("no URL: name it as a string, or as {\"url\": …}".into()),
    }
}

fn deleted(url: &str) -> Result<Change, String> {
    bounded(url)?;
    Ok(Change::Delete { url: url.into() })
}

/// No document has a longer URL, and the log keeps what is deleted.
fn bounded(url: &str) -> Result<(), String> {
    match url.len() > URL_BYTES_MAX {
        true => Err(format!(
            "the URL is {} bytes long; at most {URL_BYTES_MAX} are taken",
            url.len()
        )),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::BodyForm;

    fn read(action: Action, body: &str) -> Vec<(u64, Result<String, String>)> {
        let entries = BodyEntries::new(body.as_bytes(), BodyForm::ByFirstByte, 1 << 20);
        let mut read = BodyChanges::new(action, entries, FieldNames::default());
        let mut changes = Vec::new();
        while let Some(one) = read.next().unwrap() {
            changes.push((one.line, one.change.map(|change| change.url().to_owned())));
        }
        changes
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
    fn json_among_plain_urls_and_long_urls_delete_nothing() {
        let long = "x".repeat(URL_BYTES_MAX + 1);
        for body in [
            "a\n[\"b\"]",
            "a\n\"b\"",
            "a\n{\"url\":\"b\"}",
            &format!("a\n{long}"),
        ] {
            let found = read(Action::Delete, body);
            assert!(found[0].1.is_ok() && found[1].1.is_err(), "{found:?}");
        }
        assert!(read(Action::Delete, &format!("[\"{long}\"]"))[0].1.is_err());
        assert!(
            read(Action::Patch, &format!("{{\"url\":\"{long}\"}}"))[0]
                .1
                .is_err()
        );
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
        assert!(read(Action::Put, "{\"url\":\"a\"}")[0].1.is_ok());
        assert!(read(Action::Put, "{}")[0].1.is_err());
    }

    #[test]
    fn bulk_requests_are_read_as_files_are() {
        let body = "{\"index\":{\"_id\":\"7\"}}\n{\"message\":\"m\"}\n{\"delete\":{\"_id\":8}}\n\
            {\"id\":9,\"text\":\"t\"}\n{\"index\":{}}\n{\"message\":\"m\"}\n{\"index\":{\"_id\":\"x\"}}\n";
        let found = read(Action::Put, body);
        let urls: Vec<_> = found
            .iter()
            .map(|(line, url)| (*line, url.as_deref().ok()))
            .collect();
        assert_eq!(
            urls,
            [
                (2, Some("id:7")),
                (3, Some("id:8")),
                (4, Some("id:9")),
                (6, None),
                (7, None)
            ]
        );
    }

    #[test]
    fn a_key_that_occurs_twice_is_refused_by_every_action() {
        for object in [
            r#"{"url":"a","url":"b","title":"t"}"#,
            r#"{"url":"a","title":"t","title":"u"}"#,
            r#"{"url":"a","title":"t","n":1,"n":1}"#,
            r#"{"url":"a","title":"t","o":{"x":1,"y":[{"z":1,"z":2}]}}"#,
            r#"{"url":"a","title":"t","u":1,"\u0075":1}"#,
        ] {
            for action in [Action::Put, Action::Patch, Action::Delete] {
                let found = read(action, object).remove(0).1;
                let reason = found.expect_err(object);
                assert!(
                    reason.contains("occurs twice"),
                    "{action:?} {object}: {reason}"
                );
            }
        }
    }
}
