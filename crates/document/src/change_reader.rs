//! Reader of changes: a record a line, or the lines of Elasticsearch's `_bulk`.

use crate::bulk::{Action, NextLine, UpdateLine};
use crate::record::record;
use crate::{Change, LineError, Mapper, Origin, URL_BYTES_MAX};

/// Reader of the changes of one source.
///
/// ```
/// use document::{Change, ChangeReader, Mapper, Origin};
///
/// let mut reader = ChangeReader::new(Mapper::default());
/// let mut read = |line: &str| reader.read(line.as_bytes(), Origin::Request).unwrap();
///
/// let Some(Change::Put(owl)) = read(r#"{"id": 1, "name": "Owl", "text": "It flies."}"#) else { panic!() };
/// assert_eq!((&*owl.url, &*owl.title, &*owl.body), ("id:1", "Owl", "It flies."));
///
/// // An action says what is done with the next line.
/// assert_eq!(read(r#"{"update": {"_id": "1"}}"#), None);
/// assert!(matches!(read(r#"{"doc": {"text": "It sleeps."}}"#), Some(Change::Patch { url, .. }) if url == "id:1"));
/// assert!(matches!(read(r#"{"delete": {"_id": "1"}}"#), Some(Change::Delete { url }) if url == "id:1"));
/// ```
#[derive(Debug, Default)]
pub struct ChangeReader {
    mapper: Mapper,
    /// What the line before says of the next one.
    next: Option<NextLine>,
}

impl ChangeReader {
    /// Creates a reader that makes documents by `mapper`.
    pub fn new(mapper: Mapper) -> ChangeReader {
        ChangeReader { mapper, next: None }
    }

    /// Returns the interpreter of the records.
    pub fn mapper(&self) -> &Mapper {
        &self.mapper
    }

    /// Reads a line; `None` where it says what to do with the next one.
    ///
    /// # Errors
    /// The line is no change. The next line is read as if it were the first.
    pub fn read(&mut self, line: &[u8], origin: Origin<'_>) -> Result<Option<Change>, LineError> {
        let meaning = match self.next.take() {
            Some(meaning) => meaning,
            None => match Action::of(line) {
                Some(Action::Delete(id)) => {
                    let url = address(id)?;
                    return Ok(Some(Change::Delete { url }));
                }
                Some(Action::Next(meaning)) => {
                    self.next = Some(meaning);
                    return Ok(None);
                }
                None => NextLine::Document(None),
            },
        };
        let source = record(line)?;
        Ok(Some(match meaning {
            NextLine::Document(id) => {
                Change::Put(self.mapper.document_with_id(id, source, origin)?)
            }
            NextLine::Update(id) => {
                let UpdateLine { patch, absent } = UpdateLine::of(source)?;
                let own = address(id.clone())?;
                let absent = absent
                    .map(|absent| self.mapper.document_with_id(id, absent, origin))
                    .transpose()?;
                let url = absent.as_ref().map_or(own, |absent| absent.url.clone());
                Change::Patch { url, patch, absent }
            }
        }))
    }

    /// Ends the source.
    ///
    /// # Errors
    /// The last line is an action that wants a further line.
    pub fn end(&mut self) -> Result<(), LineError> {
        match self.next.take() {
            Some(_) => Err(LineError::NoSource),
            None => Ok(()),
        }
    }
}

/// Returns the address of the document with an id and without a URL of its own.
fn address(id: Option<String>) -> Result<String, LineError> {
    let id = id.filter(|id| !id.is_empty()).ok_or(LineError::NoId)?;
    let url = Mapper::address_of_id(&id);
    match url.len() > URL_BYTES_MAX {
        true => Err(LineError::LongUrl { bytes: url.len() }),
        false => Ok(url),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Vec<Result<Option<Change>, LineError>> {
        let mut reader = ChangeReader::default();
        let mut read: Vec<_> = lines
            .iter()
            .map(|line| reader.read(line.as_bytes(), Origin::Request))
            .collect();
        if let Err(error) = reader.end() {
            read.push(Err(error));
        }
        read
    }

    #[test]
    fn bulk_requests_write_change_and_delete() {
        let found = read(&[
            r#"{"index":{"_index":"news","_id":"7"}}"#,
            r#"{"title":"Owls","message":"They fly."}"#,
            r#"{"update":{"_id":"8"}}"#,
            r#"{"doc":{"message":"They run."}}"#,
            r#"{"update":{"_id":"9"}}"#,
            r#"{"doc":{"message":"Whole."},"doc_as_upsert":true}"#,
            r#"{"delete":{"_id":7}}"#,
        ]);
        let Ok(Some(Change::Put(owls))) = &found[1] else {
            panic!("{found:?}");
        };
        assert_eq!(
            (&*owls.url, owls.id(), &*owls.body),
            ("id:7", "7", "They fly.")
        );
        // The line has no `_id`, so neither has what comes back.
        assert!(!owls.fields.contains_key("_id"));
        let shown = |at: usize| match &found[at] {
            Ok(Some(change)) => change.url().to_owned(),
            other => panic!("{other:?}"),
        };
        assert!(
            matches!(&found[3], Ok(Some(Change::Patch { patch, .. })) if patch["message"] == "They run.")
        );
        assert!(
            matches!(&found[5], Ok(Some(Change::Patch { absent: Some(whole), .. })) if whole.body == "Whole.")
        );
        assert!(matches!(&found[6], Ok(Some(Change::Delete { .. }))));
        assert_eq!([3, 5, 6].map(shown), ["id:8", "id:9", "id:7"]);
    }

    #[test]
    fn actions_that_name_nothing_say_so() {
        let last = |lines: &[&str]| read(lines).pop().unwrap().unwrap_err();
        assert_eq!(last(&[r#"{"delete":{}}"#]), LineError::NoId);
        assert_eq!(
            last(&[r#"{"update":{}}"#, r#"{"doc":{"a":1}}"#]),
            LineError::NoId
        );
        assert_eq!(last(&[r#"{"index":{"_id":"1"}}"#]), LineError::NoSource);
        assert_eq!(
            last(&[r#"{"index":{}}"#, r#"{"message":"x"}"#]),
            LineError::NoUrl
        );
        assert_eq!(
            last(&[r#"{"update":{"_id":"1"}}"#, r#"{"script":"x"}"#]),
            LineError::NoPatch
        );
        let long = "x".repeat(URL_BYTES_MAX);
        let delete = format!(r#"{{"delete":{{"_id":"{long}"}}}}"#);
        assert!(matches!(last(&[&delete]), LineError::LongUrl { .. }));
    }
}
