//! Records of tables, Parquet files and streams of JSON; `document::Mapper` makes documents of them.

mod json_stream;
mod of_folder;
#[cfg(feature = "parquet")]
mod parquet;
mod table;

#[cfg(test)]
mod tests;

pub(crate) use json_stream::{JsonStream, ObjectRead, is_stream};
#[cfg(test)]
pub(crate) use of_folder::RECORDS_MAX;
pub(crate) use of_folder::{RecordsFile, RecordsName, is_of_records};
#[cfg(feature = "parquet")]
pub(crate) use parquet::Parquet;
pub(crate) use table::Table;
