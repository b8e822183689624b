//! Reader of a table: comma-separated values, or those of a semicolon, a tab or a bar, below a row of names.

use crate::ReaderError;
use crate::input::{Input, InputError};
use crate::step::{BadDocument, Place, Step};
use document::Mapper;
use json::{Map, Value};
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use web::charset::Encodings;

/// Upper limit on the bytes of a row. It bounds memory where a quotation mark is never closed.
const ROW_BYTES_MAX: u64 = 64 << 20;
const BUFFER_BYTES: usize = 128 << 10;
const SEPARATORS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// Reader of one table.
pub(crate) struct Table {
    place: Place,
    rows: csv::Reader<Bounded>,
    names: Vec<String>,
    /// Lines before the current row.
    lines_count: u64,
    mapper: Mapper,
    ended: bool,
}

/// Input that fails where a row is too long.
struct Bounded {
    input: BufReader<Input>,
    row_bytes: u64,
    /// Bytes handed on.
    bytes: u64,
    /// Ends of lines that no row has passed: the parser of rows does not count those that are a carriage return alone.
    line_ends: VecDeque<LineEnd>,
    line_start: u64,
    is_after_return: bool,
}

/// End of a line: `\n`, `\r\n` or `\r`.
struct LineEnd {
    /// Offset after its first byte, where the parser of rows begins the next row.
    end: u64,
    is_of_empty_line: bool,
}

impl Bounded {
    /// Notes the ends of lines in bytes that are handed on.
    fn note_lines(&mut self, bytes: &[u8]) {
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            let is_after_return = match at.checked_sub(1) {
                Some(before) => bytes[before] == b'\r',
                None => self.is_after_return,
            };
            let start = self.bytes + at as u64;
            if bytes[at] == b'\r' || !is_after_return {
                self.line_ends.push_back(LineEnd {
                    end: start + 1,
                    is_of_empty_line: start == self.line_start,
                });
            }
            self.line_start = start + 1;
        }
        if let Some(&last) = bytes.last() {
            self.is_after_return = last == b'\r';
        }
        self.bytes += bytes.len() as u64;
    }

    /// Returns the number of lines before the row that begins at an offset, and that no earlier call counted. Empty lines are
    /// before the row that follows them.
    fn lines_before(&mut self, offset: u64) -> u64 {
        let is_before = |line: &&LineEnd| line.end <= offset || line.is_of_empty_line;
        let passed = self.line_ends.iter().take_while(is_before).count();
        self.line_ends.drain(..passed);
        passed as u64
    }
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
        self.note_lines(&buffer[..read]);
        Ok(read)
    }
}

impl Table {
    /// Creates a reader of `input`. `name` stands for the file in reasons.
    pub(crate) fn new(name: String, input: Input, mapper: Mapper) -> Table {
        let input = input.in_utf8(Encodings::Any);
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
                bytes: 0,
                line_ends: VecDeque::new(),
                line_start: 0,
                is_after_return: false,
            });
        Table {
            place: Place {
                file: name,
                ..Place::default()
            },
            rows,
            names: Vec::new(),
            lines_count: 0,
            mapper,
            ended: false,
        }
    }

    /// Addresses records without a URL of their own below that of the file.
    pub(crate) fn within(mut self, url: String) -> Table {
        self.place.url = Some(url);
        self
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
        if let Some(start) = row.position() {
            self.lines_count += bounded.lines_before(start.byte());
            self.place.line = self.lines_count + 1;
        }
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
        let text = |cell: &[u8]| String::from_utf8_lossy(cell).into_owned();
        let cells: Vec<String> = row.iter().map(text).collect();
        if self.names.is_empty() {
            let names = (1..).zip(&cells).map(|(number, name)| match name.trim() {
                "" => format!("column {number}"),
                name => name.to_owned(),
            });
            self.names = names.collect();
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
        let mut record = Map::new();
        for (name, cell) in filled {
            add(&mut record, name, cell);
        }
        match self.mapper.document(record, self.place.origin()) {
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

/// Adds a cell to a record. Cells of columns of one name are a list.
fn add(record: &mut Map, name: &str, cell: String) {
    match record.get_mut(name) {
        None => {
            record.insert(name.to_owned(), cell.into());
        }
        Some(Value::Array(cells)) => cells.push(cell.into()),
        Some(first) => *first = Value::Array(vec![std::mem::take(first), cell.into()]),
    }
}

/// Returns the separator that the first row has most of, outside quotation marks.
fn separator(beginning: &[u8]) -> u8 {
    let mut counts = [0u64; SEPARATORS.len()];
    let mut is_quoted = false;
    // A tab may be the separator before a first name that is empty.
    let empty_lines = beginning
        .iter()
        .take_while(|byte| matches!(byte, b'\n' | b'\r'));
    for &byte in &beginning[empty_lines.count()..] {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' | b'\r' if !is_quoted => break,
            _ if is_quoted => {}
            _ => {
                let which = SEPARATORS.iter().position(|&separator| separator == byte);
                which.into_iter().for_each(|which| counts[which] += 1);
            }
        }
    }
    // Of equals the first in the list.
    let best = (0..SEPARATORS.len())
        .rev()
        .max_by_key(|&which| counts[which]);
    best.map_or(b',', |which| SEPARATORS[which])
}
