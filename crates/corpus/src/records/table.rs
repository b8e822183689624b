//! Reader of a table: comma-separated values, or those of a semicolon, a tab or a bar, below a row of names.

use super::names::Mapper;
use crate::ReaderError;
use crate::input::{Input, InputError};
use crate::step::{BadDocument, Place, Step};
use json::{Map, Value};
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;

/// Upper limit on the bytes of a row. It bounds memory where a quotation mark is never closed.
const ROW_BYTES_MAX: u64 = 64 << 20;
const BUFFER_BYTES: usize = 128 << 10;
const SEPARATORS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// Reader of one table.
pub(crate) struct Table {
    place: Place,
    rows: csv::Reader<Bounded>,
    names: Vec<String>,
    mapper: Mapper,
    ended: bool,
}

/// Input that fails where a row is too long.
struct Bounded {
    input: BufReader<Input>,
    row_bytes: u64,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.row_bytes > ROW_BYTES_MAX {
            let reason = format!(
                "a row is longer than {ROW_BYTES_MAX} bytes; a quotation mark may not be closed"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        let read = self.input.read(buffer)?;
        self.row_bytes += read as u64;
        Ok(read)
    }
}

impl Table {
    /// Creates a reader of `input`. `name` stands for the file in reasons.
    pub(crate) fn new(name: String, input: Input, mapper: Mapper) -> Table {
        let mut input = BufReader::with_capacity(BUFFER_BYTES, input);
        input.get_mut().resume();
        // An error comes again when rows are read.
        let separator = input.fill_buf().map_or(b',', separator);
        input.get_mut().pause();
        let rows = csv::ReaderBuilder::new()
            .delimiter(separator)
            .has_headers(false)
            .flexible(true)
            .from_reader(Bounded {
                input,
                row_bytes: 0,
            });
        Table {
            place: Place {
                file: name,
                ..Place::default()
            },
            rows,
            names: Vec::new(),
            mapper,
            ended: false,
        }
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    pub(crate) fn mapper(&self) -> &Mapper {
        &self.mapper
    }

    /// Reads the next row.
    pub(crate) fn next(&mut self) -> Result<Step, ReaderError> {
        if self.ended {
            return Ok(Step::End);
        }
        self.rows.get_mut().input.get_mut().resume();
        let mut row = csv::ByteRecord::new();
        let read = self.rows.read_byte_record(&mut row);
        let bounded = self.rows.get_mut();
        bounded.row_bytes = 0;
        bounded.input.get_mut().pause();
        self.place.decoded_bytes = bounded.input.get_ref().decoded_bytes();
        let text_bytes = row.as_slice().len() as u64;
        self.place.line = row.position().map_or(self.place.line, csv::Position::line);
        match read {
            Ok(true) => Ok(self.row(&row, text_bytes)),
            Ok(false) => {
                self.ended = true;
                Ok(Step::End)
            }
            Err(error) => {
                self.ended = true;
                self.explain(error)
            }
        }
    }

    fn row(&mut self, row: &csv::ByteRecord, text_bytes: u64) -> Step {
        let cells: Vec<String> = row.iter().map(decoded).collect();
        if self.names.is_empty() {
            let bare = |name: &String| name.trim_start_matches('\u{FEFF}').trim().to_owned();
            self.names = cells.iter().map(bare).collect();
            return Step::Meanwhile;
        }
        if cells.len() != self.names.len() {
            let (found, wanted) = (cells.len(), self.names.len());
            return self.bad(
                format!("the row has {found} fields, the first row names {wanted}"),
                text_bytes,
            );
        }
        let filled = self
            .names
            .iter()
            .zip(cells)
            .filter(|(_, cell)| !cell.is_empty());
        let record: Map<String, Value> = filled
            .map(|(name, cell)| (name.clone(), Value::String(cell)))
            .collect();
        match self.mapper.document(record, &self.place) {
            Ok(document) => Step::Good {
                document,
                text_bytes,
            },
            Err(error) => self.bad(error.to_string(), text_bytes),
        }
    }

    fn bad(&self, reason: String, text_bytes: u64) -> Step {
        let (file, line) = (self.place.file.clone(), self.place.line);
        Step::Bad {
            bad: BadDocument { file, line, reason },
            text_bytes,
        }
    }

    fn explain(&mut self, error: csv::Error) -> Result<Step, ReaderError> {
        let source = match error.into_kind() {
            csv::ErrorKind::Io(source) => source,
            other => return Ok(self.bad(format!("cannot be read: {other:?}"), 0)),
        };
        if source.kind() == io::ErrorKind::InvalidData
            && source
                .get_ref()
                .is_some_and(|inner| inner.to_string().starts_with("a row"))
        {
            return Ok(self.bad(source.to_string(), 0));
        }
        match self.rows.get_ref().input.get_ref().explain(source) {
            InputError::Damaged(reason) => Ok(self.bad(reason, 0)),
            InputError::Beyond(beyond) => Ok(self.bad(beyond.to_string(), 0)),
            InputError::Io(source) => Err(ReaderError::Io {
                path: PathBuf::from(&self.place.file),
                source,
            }),
        }
    }
}

/// Returns the separator that the first line has most of.
fn separator(beginning: &[u8]) -> u8 {
    let line = beginning
        .split(|&byte| byte == b'\n')
        .next()
        .unwrap_or_default();
    let count = |separator: u8| line.iter().filter(|&&byte| byte == separator).count();
    // Of equals the first in the list.
    let best = SEPARATORS
        .iter()
        .rev()
        .max_by_key(|&&separator| count(separator));
    best.copied().unwrap_or(b',')
}

/// Decodes UTF-8, else Latin-1.
fn decoded(cell: &[u8]) -> String {
    match std::str::from_utf8(cell) {
        Ok(text) => text.to_owned(),
        Err(_) => cell.iter().map(|&byte| char::from(byte)).collect(),
    }
}
