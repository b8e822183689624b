//! Recovery of a WARC file that a crash cut.

use super::reader::{Item, Limits, Reader};
use super::source::Counted;
use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, Read};

/// Returns the length in bytes of the beginning of a file that holds only whole records: where it is to be cut before
/// more is appended. A compressed file is judged by its gzip members, whose checksums are verified.
pub fn recover(mut source: impl BufRead) -> io::Result<u64> {
    if source.fill_buf()?.starts_with(&[0x1f]) {
        return recover_members(source);
    }
    let limits = Limits {
        block_bytes_max: 0,
        ..Limits::default()
    };
    let mut reader = Reader::with_limits(source, limits);
    let mut good_bytes = 0;
    while let Some(item) = reader.next()? {
        match item {
            Item::Record(record) => {
                let Some(length) = record.place.length_bytes else {
                    break;
                };
                if !reader.closed() {
                    break;
                }
                good_bytes = record.place.offset + length;
            }
            Item::Problem(_) => break,
        }
    }
    Ok(good_bytes)
}

fn recover_members(source: impl BufRead) -> io::Result<u64> {
    let mut source = Counted::new(source);
    let mut good_bytes = 0;
    let mut buffer = vec![0; 32 << 10];
    loop {
        if source.fill_buf()?.is_empty() {
            return Ok(good_bytes);
        }
        let mut decoder = GzDecoder::new(source);
        loop {
            match decoder.read(&mut buffer) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if decoder.get_ref().failed => return Err(error),
                Err(_) => return Ok(good_bytes),
            }
        }
        source = decoder.into_inner();
        good_bytes = source.position();
    }
}
