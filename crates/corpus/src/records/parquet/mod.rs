//! Reader of a Parquet file: each row is a record.
//!
//! A damaged file makes the crate `parquet` fail or panic; both cost the rest of the file and no more. Its memory is that of
//! the pages of one row group that are read at a time.

use crate::input::Meter;
use crate::limits::{Allowance, FileLimits};
use crate::step::{BadDocument, Place, Step};
use document::Mapper;
use document::iso_date;
use json::{Map, Number, Value};
use parquet::basic::{LogicalType, TimeUnit};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use parquet::schema::types::{Type, TypePtr};
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Upper limit on the depth of lists and groups of a value.
const DEPTH_MAX: usize = 32;

/// Days of the years that four digits write, from 1970-01-01 on.
const DAYS: std::ops::Range<i64> = -719_528..2_932_897;

/// Reader of one Parquet file.
pub(crate) struct Parquet {
    place: Place,
    /// `None` once the file ended.
    rows: Option<RowIter<'static>>,
    /// Types of the columns: those of values do not tell all units of times.
    columns: Option<TypePtr>,
    /// Why the file cannot be read at all.
    refusal: Option<String>,
    mapper: Mapper,
    allowance: Allowance,
    meter: Meter,
    /// Bytes of the file, and those that the meter has.
    file_bytes: u64,
    counted_bytes: u64,
    rows_count: u64,
}

impl Parquet {
    /// Creates a reader of an open file. `name` stands for the file in reasons.
    pub(crate) fn new(
        name: String,
        file: File,
        limits: FileLimits,
        meter: &Meter,
        mapper: Mapper,
    ) -> Parquet {
        let file_bytes = file.metadata().map_or(0, |metadata| metadata.len());
        let opened = caught(|| open(file));
        let (rows, columns, refusal, rows_count) = match opened {
            Ok((rows, columns, count)) => (Some(rows), Some(columns), None, count),
            Err(reason) => (None, None, Some(reason), 0),
        };
        Parquet {
            place: Place {
                file: name,
                ..Place::default()
            },
            rows,
            columns,
            refusal,
            mapper,
            allowance: Allowance::new(limits, true),
            meter: meter.clone(),
            file_bytes,
            counted_bytes: 0,
            rows_count,
        }
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    pub(crate) fn mapper(&self) -> &Mapper {
        &self.mapper
    }

    /// Reads the next row.
    pub(crate) fn next(&mut self) -> Step {
        if let Some(reason) = self.refusal.take() {
            return self.end_with(Some(reason));
        }
        let Some(rows) = &mut self.rows else {
            return Step::End;
        };
        self.allowance.resume();
        // A time beyond the calendar makes its conversion panic, too.
        let columns = self.columns.as_deref();
        let row = caught(|| Ok(rows.next().transpose()?.map(|row| record(row, columns))));
        let record = match row {
            Ok(Some(record)) => record,
            Ok(None) => return self.end_with(None),
            Err(reason) => return self.end_with(Some(reason)),
        };
        let text_bytes = record.values().map(text_bytes).sum();
        let counted = self.allowance.count(text_bytes, self.file_bytes);
        self.allowance.pause();
        if let Err(beyond) = counted {
            return self.end_with(Some(beyond.to_string()));
        }
        self.place.line += 1;
        self.place.decoded_bytes = self.allowance.decoded();
        // Rows say how far the file is read; its columns are read in any order.
        let share = self.place.line as f64 / self.rows_count.max(1) as f64;
        self.count((self.file_bytes as f64 * share.min(1.0)) as u64);
        match self.mapper.document(record, self.place.origin()) {
            Ok(document) => Step::Good {
                document,
                text_bytes,
            },
            Err(error) => self.bad(error.to_string(), text_bytes),
        }
    }

    /// Ends the file, for a reason perhaps.
    fn end_with(&mut self, reason: Option<String>) -> Step {
        self.rows = None;
        self.count(self.file_bytes);
        match reason {
            Some(reason) => self.bad(reason, 0),
            None => Step::End,
        }
    }

    /// Counts the bytes of the file up to `bytes` as read.
    fn count(&mut self, bytes: u64) {
        self.meter.skip(bytes.saturating_sub(self.counted_bytes));
        self.counted_bytes = self.counted_bytes.max(bytes);
    }

    fn bad(&self, reason: String, text_bytes: u64) -> Step {
        let (file, line) = (self.place.file.clone(), self.place.line);
        Step::Bad {
            bad: BadDocument { file, line, reason },
            text_bytes,
        }
    }
}

fn open(file: File) -> Result<(RowIter<'static>, TypePtr, u64), ParquetError> {
    let reader = SerializedFileReader::new(file)?;
    let metadata = reader.metadata().file_metadata();
    let (rows, columns) = (
        metadata.num_rows(),
        metadata.schema_descr().root_schema_ptr(),
    );
    Ok((
        reader.into_iter(),
        columns,
        u64::try_from(rows).unwrap_or(0),
    ))
}

/// Runs a step of the reader; an error or a panic is a sentence.
fn caught<T>(step: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(error)) => Err(format!("the Parquet file cannot be read: {error}")),
        Err(_) => Err("the Parquet file is damaged; the rest is left out".to_owned()),
    }
}

fn record(row: Row, columns: Option<&Type>) -> Map {
    let valued = row.into_columns().into_iter().map(|(name, field)| {
        let value = value(&field, member(columns, &name), 0);
        (name, value)
    });
    valued.filter(|(_, value)| !value.is_null()).collect()
}

/// Returns the type of a member of a group.
fn member<'t>(group: Option<&'t Type>, name: &str) -> Option<&'t Type> {
    let group = group.filter(|group| group.is_group())?;
    let mut members = group.get_fields().iter();
    members.find(|one| one.name() == name).map(|one| &**one)
}

/// Returns the type of the elements of a list, in the three levels that lists have, or in the two of old files.
fn element(list: Option<&Type>) -> Option<&Type> {
    let repeated = list.filter(|list| list.is_group())?.get_fields().first()?;
    match repeated.is_group() && repeated.get_fields().len() == 1 {
        true => Some(&repeated.get_fields()[0]),
        false => Some(repeated),
    }
}

/// Returns whether integers of a column are times in nanoseconds.
fn is_in_nanoseconds(column: Option<&Type>) -> bool {
    let logical = column.and_then(|column| column.get_basic_info().logical_type_ref());
    matches!(logical, Some(LogicalType::Timestamp(time)) if time.unit == TimeUnit::NANOS)
}

/// Writes the time of a number of seconds since 1970 with a fraction: `2024-05-01T12:00:00.000Z`. A time that four digits of
/// years cannot write is its number, which is no date.
fn time(seconds: i64, fraction: &str) -> Value {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let clock = format!(
        "{:02}:{:02}:{:02}",
        second / 3600,
        second / 60 % 60,
        second % 60
    );
    match date(days) {
        Some(date) => format!("{date}T{clock}.{fraction}Z").into(),
        None => format!("{seconds}.{fraction} s").into(),
    }
}

/// Writes a day by its number from 1970-01-01 on; `None` where four digits of years cannot.
fn date(days: i64) -> Option<String> {
    DAYS.contains(&days).then(|| iso_date(days))
}

/// Returns a value as JSON has it. Bytes that are no text are left out.
fn value(field: &Field, column: Option<&Type>, depth: usize) -> Value {
    if depth > DEPTH_MAX {
        return Value::Null;
    }
    let float = |number: f64| Value::from(number);
    match field {
        Field::Null => Value::Null,
        Field::Bool(value) => Value::Bool(*value),
        Field::Byte(value) => Value::from(*value),
        Field::Short(value) => Value::from(*value),
        Field::Int(value) => Value::from(*value),
        Field::Long(nanos) if is_in_nanoseconds(column) => {
            let fraction = format!("{:09}", nanos.rem_euclid(1_000_000_000));
            time(nanos.div_euclid(1_000_000_000), &fraction)
        }
        Field::Long(value) => Value::from(*value),
        Field::UByte(value) => Value::from(*value),
        Field::UShort(value) => Value::from(*value),
        Field::UInt(value) => Value::from(*value),
        Field::ULong(value) => Value::from(*value),
        Field::Float16(value) => float(value.to_f64()),
        // The shortest text that is read as the number, rather than that of the same number with 64 bits.
        Field::Float(value) => {
            let text = serde_json::to_string(value).unwrap_or_default();
            Number::parse(&text).map_or(Value::Null, Value::Number)
        }
        Field::Double(value) => float(*value),
        Field::Str(text) => Value::String(text.clone()),
        Field::Bytes(bytes) => match std::str::from_utf8(bytes.data()) {
            Ok(text) => Value::String(text.to_owned()),
            Err(_) => Value::Null,
        },
        Field::Date(days) => match date((*days).into()) {
            Some(date) => date.into(),
            None => format!("{days} days").into(),
        },
        Field::TimestampMillis(millis) => {
            let fraction = format!("{:03}", millis.rem_euclid(1_000));
            time(millis.div_euclid(1_000), &fraction)
        }
        Field::TimestampMicros(micros) => {
            let fraction = format!("{:06}", micros.rem_euclid(1_000_000));
            time(micros.div_euclid(1_000_000), &fraction)
        }
        Field::Decimal(_) => {
            let text = field.to_string().trim_matches('"').to_owned();
            Number::parse(&text).map_or(Value::String(text), Value::Number)
        }
        Field::TimeMillis(_) | Field::TimeMicros(_) => {
            Value::String(field.to_string().trim_matches('"').to_owned())
        }
        Field::Group(row) => {
            let columns = row.get_column_iter();
            let valued = columns.map(|(name, field)| {
                let value = value(field, member(column, name), depth + 1);
                (name.clone(), value)
            });
            Value::Object(valued.filter(|(_, value)| !value.is_null()).collect())
        }
        Field::ListInternal(list) => {
            // A repeated column without a group around it is a list of itself.
            let items = list.elements().iter();
            let of_items = match column.is_some_and(Type::is_group) {
                true => element(column),
                false => column,
            };
            items.map(|item| value(item, of_items, depth + 1)).collect()
        }
        Field::MapInternal(map) => {
            let entries = map.entries().iter();
            let entry = column.filter(|column| column.is_group());
            let entry = entry
                .and_then(|map| map.get_fields().first())
                .map(|entry| &**entry);
            let [of_keys, of_values] = [0, 1].map(|at| {
                let parts = entry.filter(|entry| entry.is_group())?.get_fields();
                parts.get(at).map(|part| &**part)
            });
            let valued = entries.map(|(key, item)| {
                let key = match value(key, of_keys, depth + 1) {
                    Value::String(key) => key,
                    other => other.to_string(),
                };
                (key, value(item, of_values, depth + 1))
            });
            Value::Object(valued.collect())
        }
    }
}

/// Returns the length of the texts of a value.
fn text_bytes(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.len() as u64,
        Value::Array(items) => items.iter().map(text_bytes).sum(),
        Value::Object(entries) => entries.values().map(text_bytes).sum(),
        _ => 8,
    }
}

#[cfg(test)]
mod tests;
