//! Tests of files of rows: kinds of values, times in any unit, damage.

use super::*;
use document::Document;
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::io::{Seek, SeekFrom, Write};
use std::sync::Arc;

/// Writes a file of three rows: an id, a title that may be missing, and a text.
fn written() -> Vec<u8> {
    let schema = "message rows { REQUIRED INT64 id; OPTIONAL BINARY title (UTF8); REQUIRED BINARY text (UTF8); \
                  REQUIRED INT64 date (TIMESTAMP_MILLIS); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties =
        WriterProperties::builder().set_compression(parquet::basic::Compression::SNAPPY);
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties.build())).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let texts = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| ByteArray::from(*text))
            .collect::<Vec<_>>()
    };
    let mut number = 0;
    while let Some(mut column) = group.next_column().unwrap() {
        match number {
            0 | 3 => {
                let values = if number == 0 {
                    [7, 8, 9]
                } else {
                    [1_714_564_800_000; 3]
                };
                column
                    .typed::<Int64Type>()
                    .write_batch(&values, None, None)
                    .unwrap();
            }
            1 => {
                let titles = texts(&["Owls", "Mice"]);
                column
                    .typed::<ByteArrayType>()
                    .write_batch(&titles, Some(&[1, 0, 1]), None)
                    .unwrap();
            }
            _ => {
                let bodies = texts(&["They fly.", "nameless", "They run."]);
                column
                    .typed::<ByteArrayType>()
                    .write_batch(&bodies, None, None)
                    .unwrap();
            }
        }
        column.close().unwrap();
        number += 1;
    }
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

fn read(bytes: &[u8]) -> Vec<Result<Document, String>> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    let meter = Meter::default();
    let mut rows = Parquet::new(
        "a.parquet".into(),
        file,
        FileLimits::default(),
        &meter,
        Mapper::default(),
    );
    let mut found = Vec::new();
    loop {
        match rows.next() {
            Step::Good { document, .. } => found.push(Ok(document)),
            Step::Bad { bad, .. } => found.push(Err(bad.to_string())),
            _ => break,
        }
    }
    assert_eq!(meter.bytes(), bytes.len() as u64);
    found
}

#[test]
fn rows_are_records() {
    let found = read(&written());
    let shown: Vec<_> = found
        .iter()
        .map(|one| one.as_ref().unwrap())
        .map(|one| (&*one.url, &*one.title, &*one.body))
        .collect();
    assert_eq!(
        shown,
        [
            ("id:7", "Owls", "They fly."),
            ("id:8", "", "nameless"),
            ("id:9", "Mice", "They run.")
        ]
    );
    assert_eq!(
        found[0].as_ref().unwrap().fields["date"],
        "2024-05-01T12:00:00.000Z"
    );
}

#[test]
fn times_are_times_in_any_unit() {
    let schema = "message rows { REQUIRED BINARY text (UTF8); REQUIRED INT64 nanos (TIMESTAMP(NANOS,true)); \
                  REQUIRED INT64 local (TIMESTAMP(NANOS,false)); REQUIRED INT64 micros (TIMESTAMP_MICROS); \
                  REQUIRED INT96 old; REQUIRED INT64 price (DECIMAL(12,2)); REQUIRED INT64 plain; \
                  REPEATED INT64 many (TIMESTAMP(NANOS,true)); REQUIRED INT32 day (DATE); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut bytes = Vec::new();
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let second = 1_000_000_000i64;
    let integers: [(&str, [i64; 2]); 5] = [
        ("nanos", [1_714_564_800 * second + 5, -1]),
        ("local", [1_714_564_800 * second, -86_400 * second]),
        ("micros", [-1, i64::MAX]),
        ("price", [1250, -5]),
        ("plain", [1_714_564_800 * second, -1]),
    ];
    while let Some(mut column) = group.next_column().unwrap() {
        let name = match column.untyped() {
            parquet::column::writer::ColumnWriter::Int64ColumnWriter(one) => {
                one.get_descriptor().name().to_owned()
            }
            parquet::column::writer::ColumnWriter::Int32ColumnWriter(_) => "day".to_owned(),
            parquet::column::writer::ColumnWriter::Int96ColumnWriter(_) => "old".to_owned(),
            _ => "text".to_owned(),
        };
        match &*name {
            "text" => {
                let texts = ["a", "b"].map(ByteArray::from);
                column
                    .typed::<ByteArrayType>()
                    .write_batch(&texts, None, None)
                    .unwrap();
            }
            "old" => {
                let mut times = [parquet::data_type::Int96::new(); 2];
                // Days of the Julian calendar: 2024-05-01 and 1969-12-31.
                times[0].set_data(0, 0, 2_460_432);
                times[1].set_data(0, 0, 2_440_587);
                column
                    .typed::<parquet::data_type::Int96Type>()
                    .write_batch(&times, None, None)
                    .unwrap();
            }
            "day" => {
                let days = [-1, i32::MAX];
                column
                    .typed::<parquet::data_type::Int32Type>()
                    .write_batch(&days, None, None)
                    .unwrap();
            }
            "many" => {
                let times = [0, second];
                column
                    .typed::<Int64Type>()
                    .write_batch(&times, Some(&[1, 1, 0]), Some(&[0, 1, 0]))
                    .unwrap();
            }
            name => {
                let values = integers.iter().find(|one| one.0 == name).unwrap().1;
                column
                    .typed::<Int64Type>()
                    .write_batch(&values, None, None)
                    .unwrap();
            }
        }
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    let found = read(&bytes);
    let fields: Vec<_> = found
        .iter()
        .map(|one| &one.as_ref().unwrap().fields)
        .collect();
    for (name, texts) in [
        (
            "nanos",
            [
                "2024-05-01T12:00:00.000000005Z",
                "1969-12-31T23:59:59.999999999Z",
            ],
        ),
        (
            "local",
            [
                "2024-05-01T12:00:00.000000000Z",
                "1969-12-31T00:00:00.000000000Z",
            ],
        ),
        (
            "micros",
            ["1969-12-31T23:59:59.999999Z", "9223372036854.775807 s"],
        ),
        (
            "old",
            ["2024-05-01T00:00:00.000Z", "1969-12-31T00:00:00.000Z"],
        ),
        ("day", ["1969-12-31", "2147483647 days"]),
    ] {
        assert_eq!([&fields[0][name], &fields[1][name]], texts, "{name}");
    }
    assert_eq!(
        [&fields[0]["price"], &fields[1]["price"]].map(Value::to_string),
        ["12.50", "-0.05"]
    );
    assert_eq!(fields[0]["plain"], 1_714_564_800 * second);
    let many = r#"["1970-01-01T00:00:00.000000000Z","1970-01-01T00:00:01.000000000Z"]"#;
    assert_eq!(fields[0]["many"].to_string(), many);
}

#[test]
fn damage_costs_the_rest_of_the_file() {
    let whole = written();
    let mut state = 7u64;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    for _ in 0..500 {
        let mut damaged = whole.clone();
        for _ in 0..1 + random(4) {
            let place = random(damaged.len());
            damaged[place] = random(256) as u8;
        }
        damaged.truncate(whole.len() - random(2) * random(whole.len()));
        // Either it is read, or it says why not.
        assert!(read(&damaged).len() <= 10_000);
    }
    std::panic::set_hook(quiet);
    let refused = read(b"PAR1 no such file PAR1");
    assert!(
        refused[0]
            .as_ref()
            .unwrap_err()
            .starts_with("a.parquet: the Parquet"),
        "{refused:?}"
    );
}
