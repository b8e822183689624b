//! Table of named columns, and the Parquet file that stores it.
//!
//! Every column is optional and of one of four types, so a reader in any language finds plain values
//! and nulls: `BOOLEAN`, `INT64`, `DOUBLE`, `BYTE_ARRAY (UTF8)`. The file is not compressed: a minute
//! at a thousand requests a second takes about 10 MB, and codecs would dominate the compile time.
use crate::LoadError;
use parquet::basic::Type as Physical;
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// A column; `None` for a row without a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Column {
    Flag(Vec<Option<bool>>),
    Integer(Vec<Option<i64>>),
    Real(Vec<Option<f64>>),
    Text(Vec<Option<String>>),
}

/// Named columns of equal length.
pub(crate) type Table = Vec<(String, Column)>;

/// Writes the table atomically: under a temporary name first, then renamed.
pub(crate) fn write(path: &Path, table: &Table) -> Result<(), LoadError> {
    let partial = path.with_extension("partial");
    let written = write_file(&partial, table)
        .map_err(|error| failed(path, &error.to_string(), "make room there and save again"));
    let moved = written.and_then(|()| {
        std::fs::rename(&partial, path)
            .map_err(|error| failed(path, &error.to_string(), "save to another folder"))
    });
    if moved.is_err() {
        let _ = std::fs::remove_file(&partial);
    }
    moved
}

/// Reads every column of the four types and ignores others.
pub(crate) fn read(path: &Path) -> Result<Table, LoadError> {
    read_file(path).map_err(|error| {
        failed(
            path,
            &error.to_string(),
            "is it the samples.parquet of a run? measure again",
        )
    })
}

fn failed(path: &Path, reason: &str, remedy: &str) -> LoadError {
    LoadError::File {
        path: path.display().to_string(),
        reason: format!("{reason}; {remedy}"),
    }
}

fn write_file(path: &Path, table: &Table) -> Result<(), ParquetError> {
    let fields: String = table
        .iter()
        .map(|(name, column)| match column {
            Column::Flag(_) => format!("OPTIONAL BOOLEAN {name};"),
            Column::Integer(_) => format!("OPTIONAL INT64 {name};"),
            Column::Real(_) => format!("OPTIONAL DOUBLE {name};"),
            Column::Text(_) => format!("OPTIONAL BYTE_ARRAY {name} (UTF8);"),
        })
        .collect();
    let schema = Arc::new(parse_message_type(&format!(
        "message samples {{ {fields} }}"
    ))?);
    let mut writer = SerializedFileWriter::new(File::create(path)?, schema, Arc::default())?;
    let mut rows = writer.next_row_group()?;
    for (_, column) in table {
        match column {
            Column::Flag(values) => write_column::<BoolType, _>(&mut rows, values, |v| *v)?,
            Column::Integer(values) => write_column::<Int64Type, _>(&mut rows, values, |v| *v)?,
            Column::Real(values) => write_column::<DoubleType, _>(&mut rows, values, |v| *v)?,
            Column::Text(values) => write_column::<ByteArrayType, _>(&mut rows, values, |text| {
                ByteArray::from(text.as_bytes().to_vec())
            })?,
        }
    }
    rows.close()?;
    let file = writer.into_inner()?;
    file.sync_all()?;
    Ok(())
}

fn write_column<T: DataType, V>(
    rows: &mut SerializedRowGroupWriter<'_, File>,
    values: &[Option<V>],
    convert: impl Fn(&V) -> T::T,
) -> Result<(), ParquetError> {
    let levels: Vec<i16> = values
        .iter()
        .map(|value| i16::from(value.is_some()))
        .collect();
    let present: Vec<T::T> = values.iter().flatten().map(convert).collect();
    let missing = || ParquetError::General("a column without a writer".into());
    let mut column = rows.next_column()?.ok_or_else(missing)?;
    column
        .typed::<T>()
        .write_batch(&present, Some(&levels), None)?;
    column.close()
}

fn read_file(path: &Path) -> Result<Table, ParquetError> {
    let reader = SerializedFileReader::new(File::open(path)?)?;
    let mut table = Table::new();
    for group in 0..reader.num_row_groups() {
        let rows = reader.get_row_group(group)?;
        let schema = rows.metadata().schema_descr_ptr();
        for (idx, descriptor) in schema.columns().iter().enumerate() {
            if descriptor.max_rep_level() != 0 || descriptor.max_def_level() > 1 {
                continue;
            }
            let rows = rows.as_ref();
            let is_optional = descriptor.max_def_level() == 1;
            let column = match descriptor.physical_type() {
                Physical::BOOLEAN => {
                    Column::Flag(read_column::<BoolType, _>(rows, idx, is_optional, Some)?)
                }
                Physical::INT64 => {
                    Column::Integer(read_column::<Int64Type, _>(rows, idx, is_optional, Some)?)
                }
                Physical::DOUBLE => {
                    Column::Real(read_column::<DoubleType, _>(rows, idx, is_optional, Some)?)
                }
                Physical::BYTE_ARRAY => {
                    let text = |bytes: ByteArray| bytes.as_utf8().ok().map(str::to_owned);
                    Column::Text(read_column::<ByteArrayType, _>(
                        rows,
                        idx,
                        is_optional,
                        text,
                    )?)
                }
                _ => continue,
            };
            append(&mut table, descriptor.name(), column);
        }
    }
    Ok(table)
}

fn append(table: &mut Table, name: &str, column: Column) {
    let Some((_, known)) = table.iter_mut().find(|(known, _)| known == name) else {
        table.push((name.to_owned(), column));
        return;
    };
    // All row groups of a file share one schema.
    match (known, column) {
        (Column::Flag(all), Column::Flag(more)) => all.extend(more),
        (Column::Integer(all), Column::Integer(more)) => all.extend(more),
        (Column::Real(all), Column::Real(more)) => all.extend(more),
        (Column::Text(all), Column::Text(more)) => all.extend(more),
        _ => {}
    }
}

fn read_column<T: DataType, V>(
    rows: &dyn RowGroupReader,
    idx: usize,
    is_optional: bool,
    convert: impl Fn(T::T) -> Option<V>,
) -> Result<Vec<Option<V>>, ParquetError> {
    let mut reader = get_typed_column_reader::<T>(rows.get_column_reader(idx)?);
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    // The row count of the file is untrusted: it is checked against the rows that were read.
    let count = usize::try_from(rows.metadata().num_rows()).unwrap_or_default();
    let mut read = 0;
    while read < count {
        let levels = is_optional.then_some(&mut levels);
        let (records, _, _) = reader.read_records(count - read, levels, None, &mut values)?;
        if records == 0 {
            return Err(ParquetError::EOF(format!(
                "row {read} of {count} is missing"
            )));
        }
        read += records;
    }
    let mut values = values.into_iter();
    if !is_optional {
        return Ok(values.map(convert).collect());
    }
    let present = levels.into_iter().map(|level| level > 0);
    Ok(present
        .map(|is| {
            if is {
                values.next().and_then(&convert)
            } else {
                None
            }
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_comes_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.parquet");
        let table: Table = vec![
            (
                "flag".into(),
                Column::Flag(vec![Some(true), None, Some(false)]),
            ),
            (
                "integer".into(),
                Column::Integer(vec![Some(i64::MIN), Some(-1), None]),
            ),
            (
                "real".into(),
                Column::Real(vec![None, Some(0.1), Some(f64::MAX)]),
            ),
            (
                "text".into(),
                Column::Text(vec![Some("naïve".into()), None, Some(String::new())]),
            ),
            ("none".into(), Column::Integer(vec![None; 3])),
        ];
        write(&path, &table).unwrap();
        assert_eq!(read(&path).unwrap(), table);
        let empty: Table = vec![("integer".into(), Column::Integer(Vec::new()))];
        write(&path, &empty).unwrap();
        assert_eq!(read(&path).unwrap(), empty);
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "nothing partial stays");
    }

    #[test]
    fn damage_is_an_error_that_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.parquet");
        let column = Column::Text((0..100).map(|n| Some(n.to_string())).collect());
        write(&path, &vec![("text".into(), column)]).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for length in [0, 4, whole.len() / 2, whole.len() - 1] {
            std::fs::write(&path, &whole[..length]).unwrap();
            let error = read(&path).unwrap_err().to_string();
            assert!(error.contains("samples.parquet"), "{error}");
        }
    }
}
