//! Writes a WARC file of COUNT random records, reads it back and compares: `warc_write COUNT FILE`.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::time::Instant;
use web::warc::{About, DigestCheck, Item, Reader, Writer, recover};

/// Returns the body of a record: words, of a length that differs.
fn body(number: u64) -> Vec<u8> {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut text = String::new();
    for _ in 0..number % 1_500 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text.push_str(&format!("word{} ", state % 5_000));
    }
    text.into_bytes()
}

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let count: u64 = arguments
        .next()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1_000);
    let path = arguments
        .next()
        .unwrap_or_else(|| "records.warc.gz".to_owned());
    let date: jiff::Timestamp = jiff::Timestamp::UNIX_EPOCH;
    let started = Instant::now();
    let mut writer = Writer::new(BufWriter::new(File::create(&path)?), 0, 7);
    let mut bytes = 0;
    for number in 0..count {
        let uri = format!("http://example.com/{number}");
        let about = About {
            uri: &uri,
            date,
            ip: Some("127.0.0.1"),
        };
        let body = body(number);
        bytes += body.len();
        writer.response(
            &about,
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
            &body,
            None,
        )?;
    }
    writer.get_mut().flush()?;
    let wrote = started.elapsed().as_secs_f64();
    let length = writer.offset();
    let started = Instant::now();
    let mut reader = Reader::new(BufReader::new(File::open(&path)?));
    let (mut number, mut errors) = (0, 0);
    while let Some(item) = reader.next()? {
        match item {
            Item::Record(record) => {
                let same = record.payload() == body(number)
                    && record.payload_digest() == DigestCheck::Equal
                    && record.block_digest() == DigestCheck::Equal;
                errors += u64::from(!same);
                number += 1;
            }
            Item::Problem(_) => errors += 1,
        }
    }
    let read = started.elapsed().as_secs_f64();
    let good = recover(BufReader::new(File::open(&path)?))?;
    let mut out = std::io::stdout();
    writeln!(
        out,
        "{count} records, {bytes} body bytes, {length} in the file, whole up to {good}"
    )?;
    writeln!(
        out,
        "written in {wrote:.2} s, read and compared in {read:.2} s: {number} records, {errors} errors"
    )
}
