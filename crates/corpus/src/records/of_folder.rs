//! Files of a folder that hold records: tables, lines of JSON, arrays of objects. Each record is a document.
//!
//! ```text
//! people.csv, log.jsonl           records, by the name
//! [{…}, …], {…}\n{…}              records of a .json, by its beginning
//! {…}, [1, 2], 7                  one text: settings, data of a program
//! ```

use super::{Table, is_stream};
use crate::ReaderError;
use crate::input::Input;
use crate::json_lines::{JsonLines, LINE_BYTES_MAX};
use crate::source::{JSON_ENDINGS, TABLE_ENDINGS, has_ending};
use crate::step::{BadDocument, Place, Step};
use document::Mapper;
use std::path::Path;

/// Upper limit on the records that are taken of a file of a folder, so that a dump beside texts does not bury them.
pub(crate) const RECORDS_MAX: u64 = 100_000;

/// Form of a file of a folder, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordsName {
    /// A table.
    Table,
    /// Lines of JSON.
    JsonLines,
    /// JSON of any shape, which its beginning tells.
    Json,
}

impl RecordsName {
    /// Returns the form that a file's name indicates; `None` for other files.
    pub(crate) fn of(name: &str) -> Option<RecordsName> {
        let path = Path::new(name);
        match () {
            () if has_ending(path, &TABLE_ENDINGS) => Some(RecordsName::Table),
            () if has_ending(path, &["json"]) => Some(RecordsName::Json),
            () if has_ending(path, &JSON_ENDINGS) => Some(RecordsName::JsonLines),
            () => None,
        }
    }
}

/// Returns whether JSON of any shape, of which the beginning is given, holds records: objects in an array, or one a line.
pub(crate) fn is_of_records(beginning: &[u8]) -> bool {
    let text = String::from_utf8_lossy(beginning);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if let Some(entries) = text.strip_prefix('[') {
        return entries.trim_start().starts_with('{');
    }
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let is_object = |line: &str| {
        let line = line.trim();
        line.starts_with('{') && (line.ends_with('}') || line.len() > LONG_LINE_BYTES)
    };
    !is_stream(text.as_bytes()) && lines.next().is_some_and(is_object) && lines.next().is_some()
}

/// Length from which a first line may go on beyond the beginning that was read, in bytes.
const LONG_LINE_BYTES: usize = 2 << 10;

/// Records of one file of a folder.
pub(crate) struct RecordsFile {
    records: Records,
    count: u64,
}

enum Records {
    Table(Box<Table>),
    Json(Box<JsonLines>),
}

impl RecordsFile {
    /// Begins to read a file. Its records without a URL of their own are addressed by `url` and their id or line.
    pub(crate) fn new(
        form: RecordsName,
        (path, url): (&Path, String),
        input: Input,
        mapper: Mapper,
    ) -> RecordsFile {
        let name = path.display().to_string();
        let records = match form {
            RecordsName::Table => {
                Records::Table(Box::new(Table::new(name, input, mapper).within(url)))
            }
            RecordsName::JsonLines | RecordsName::Json => {
                let lines = JsonLines::new(name, input, LINE_BYTES_MAX, mapper);
                Records::Json(Box::new(lines.within(url)))
            }
        };
        RecordsFile { records, count: 0 }
    }

    /// Reads the next record.
    pub(crate) fn next(&mut self) -> Step {
        if self.count > RECORDS_MAX {
            return Step::End;
        }
        let step = match &mut self.records {
            Records::Table(table) => table.next(),
            Records::Json(lines) => lines.next(),
        };
        let step = step.unwrap_or_else(|error| self.failed(&error));
        if matches!(step, Step::Good { .. }) {
            self.count += 1;
            if self.count > RECORDS_MAX {
                let reason = format!(
                    "a file of a folder has at most {RECORDS_MAX} records; the rest is left out, name the file itself as a \
                     source to read it whole"
                );
                return self.bad(reason);
            }
        }
        step
    }

    /// Ends a file that cannot be read on.
    fn failed(&mut self, error: &ReaderError) -> Step {
        self.count = RECORDS_MAX + 1;
        let reason = match error {
            ReaderError::Io { source, .. } => format!("cannot read: {source}"),
            other => other.to_string(),
        };
        self.bad(reason)
    }

    fn bad(&self, reason: String) -> Step {
        let Place { file, line, .. } = self.place().clone();
        let bad = BadDocument { file, line, reason };
        Step::Bad { bad, text_bytes: 0 }
    }

    /// Returns the place of the record read last.
    pub(crate) fn place(&self) -> &Place {
        match &self.records {
            Records::Table(table) => table.place(),
            Records::Json(lines) => lines.place(),
        }
    }

    pub(crate) fn mapper(&self) -> &Mapper {
        match &self.records {
            Records::Table(table) => table.mapper(),
            Records::Json(lines) => lines.mapper(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_of_records_and_other_json() {
        for records in [
            "[{\"id\": 1}]",
            "\u{feff} [\n  {\n",
            "{\"a\": 1}\n{\"a\": 2}\n",
            "{\"a\": {}}\n\n{\"a\":",
        ] {
            assert!(is_of_records(records.as_bytes()), "{records}");
        }
        for other in [
            "{\"name\": \"x\"}",
            "{\"name\": \"x\"}\n",
            "{\n  \"name\": \"x\"\n}\n",
            "{\n}\n{\n}\n",
            "[1, 2]",
            "[]",
            "7",
            "",
            "not JSON\n{}",
        ] {
            assert!(!is_of_records(other.as_bytes()), "{other}");
        }
    }
}
