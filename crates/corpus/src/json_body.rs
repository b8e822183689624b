//! JSON objects of a body: one a line, or one array, compressed or not.

use crate::records::{JsonStream, ObjectRead, is_stream};
use flate2::read::MultiGzDecoder;
use std::io::{self, Read};

/// Upper limit on the window of a zstd body: 8 MiB, the least that RFC 9659 asks of readers. It bounds memory.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// Object in a body, with the number of its first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyObject {
    /// Number of its line, from 1.
    pub line: u64,
    /// Its bytes, or why it is none.
    pub object: Result<Vec<u8>, String>,
}

/// Splits a body into its objects. Empty lines count for nothing.
pub fn json_objects(body: &[u8]) -> Vec<BodyObject> {
    if !is_stream(body) {
        let lines = (1..).zip(body.split(|&byte| byte == b'\n'));
        let lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
        return lines
            .map(|(line, object)| BodyObject {
                line,
                object: Ok(object.to_vec()),
            })
            .collect();
    }
    let mut objects = Vec::new();
    let (mut stream, mut input, mut line) = (JsonStream::default(), body, 1);
    loop {
        let mut object = Vec::new();
        let mut budget = u64::MAX;
        let first = line + leading_newlines(input);
        let read = stream.read(&mut input, &mut object, u64::MAX, &mut line, &mut budget);
        let (object, is_last) = match read {
            Ok(ObjectRead::Whole) => (Ok(object), false),
            Ok(ObjectRead::End) => return objects,
            Ok(ObjectRead::Truncated) => (Err("the body ends within this object".into()), true),
            Ok(ObjectRead::Stray) => {
                let what =
                    "something other than an object: send an array of objects, or one a line";
                (Err(what.to_owned()), true)
            }
            Ok(ObjectRead::TooLong { .. } | ObjectRead::Unfinished) | Err(_) => {
                (Err("the body cannot be read".into()), true)
            }
        };
        objects.push(BodyObject {
            line: first,
            object,
        });
        if is_last {
            return objects;
        }
    }
}

/// Counts the newlines before the next object.
fn leading_newlines(input: &[u8]) -> u64 {
    let before = input.iter().take_while(|&&byte| byte != b'{');
    before.filter(|&&byte| byte == b'\n').count() as u64
}

/// Decompresses a body as its `Content-Encoding` says; fails for other encodings, damaged data, and more than `bytes_max`.
pub fn decoded_body(encoding: &str, body: Vec<u8>, bytes_max: usize) -> io::Result<Vec<u8>> {
    let input: Box<dyn Read> = match encoding {
        "" | "identity" => return Ok(body),
        "gzip" | "x-gzip" => Box::new(MultiGzDecoder::new(&body[..])),
        "zstd" => {
            let mut decoder = zstd::Decoder::new(&body[..])?;
            decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
            Box::new(decoder)
        }
        other => {
            let what = format!("the encoding `{other}` is not read; send gzip, zstd or none");
            return Err(io::Error::new(io::ErrorKind::Unsupported, what));
        }
    };
    let mut decoded = Vec::new();
    input.take(bytes_max as u64 + 1).read_to_end(&mut decoded)?;
    if decoded.len() > bytes_max {
        let what = format!("more than {bytes_max} bytes when decompressed; send smaller batches");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn split(body: &str) -> Vec<(u64, Result<String, String>)> {
        let objects = json_objects(body.as_bytes()).into_iter();
        objects
            .map(|one| {
                let object = one.object.map(|bytes| String::from_utf8(bytes).unwrap());
                (one.line, object)
            })
            .collect()
    }

    #[test]
    fn lines_and_arrays_are_split() {
        let two = |first: u64, second: u64| {
            vec![
                (first, Ok(r#"{"a":1}"#.to_owned())),
                (second, Ok(r#"{"b":"}"}"#.to_owned())),
            ]
        };
        assert_eq!(split("{\"a\":1}\n\n{\"b\":\"}\"}\n"), two(1, 3));
        assert_eq!(split("[{\"a\":1},{\"b\":\"}\"}]"), two(1, 1));
        assert_eq!(split("[\n{\"a\":1},\n\n{\"b\":\"}\"}\n]\n"), two(2, 4));
        assert_eq!(split("{\"a\":1}"), two(1, 1)[..1]);
        assert_eq!(
            (split(""), split("[]"), split("\n \n")),
            (vec![], vec![], vec![])
        );
        let cut = split("[{\"a\":1},\n{\"b\"");
        assert_eq!((cut.len(), cut[1].0, cut[1].1.is_err()), (2, 2, true));
        assert!(split("[{\"a\":1}, 7]")[1].1.is_err());
        // A bad line spoils no other.
        assert_eq!(split("{\"a\":1}\n{\"a\n{\"b\":\"}\"}").len(), 3);
    }

    #[test]
    fn bodies_are_decompressed_up_to_a_limit() {
        let text = b"one line of many\n".repeat(1000);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&text).unwrap();
        let gzip = gzip.finish().unwrap();
        let zstd = zstd::encode_all(&text[..], 1).unwrap();
        for (encoding, body) in [
            ("gzip", &gzip),
            ("zstd", &zstd),
            ("identity", &text),
            ("", &text),
        ] {
            assert_eq!(
                decoded_body(encoding, body.clone(), text.len()).unwrap(),
                text
            );
        }
        for (encoding, body) in [("gzip", &gzip), ("zstd", &zstd)] {
            assert!(decoded_body(encoding, body.clone(), text.len() - 1).is_err());
            assert!(decoded_body(encoding, body[..20].to_vec(), text.len()).is_err());
        }
        assert!(decoded_body("br", text, 1 << 20).is_err());
    }
}
