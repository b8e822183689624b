//! Decompression of a body, as its `Content-Encoding` says.

use flate2::bufread::MultiGzDecoder;
use std::io::{self, BufReader, Read};

/// Upper limit on the window of a zstd body: 8 MiB, the least that RFC 9659 asks of readers. It bounds memory.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// Returns a reader of the decompressed body. It fails at damaged data, and beyond `bytes_max` decompressed bytes.
///
/// # Errors
/// Other encodings than gzip, zstd and none.
pub(super) fn decoded_body<'a>(
    encoding: &str,
    body: impl Read + 'a,
    bytes_max: u64,
) -> io::Result<Box<dyn Read + 'a>> {
    let decoded: Box<dyn Read + 'a> = match encoding {
        "" | "identity" => Box::new(body),
        "gzip" | "x-gzip" => Box::new(MultiGzDecoder::new(BufReader::new(body))),
        "zstd" => {
            let mut decoder = zstd::Decoder::new(body)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
            Box::new(decoder)
        }
        other => {
            let what = format!("the encoding `{other}` is not read; send gzip, zstd or none");
            return Err(io::Error::new(io::ErrorKind::Unsupported, what));
        }
    };
    Ok(Box::new(Bounded {
        decoded,
        bytes_max,
        left: bytes_max,
    }))
}

/// Reader that fails where more than `bytes_max` bytes come.
struct Bounded<R> {
    decoded: R,
    bytes_max: u64,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // One byte more shows that there are too many.
        let wanted = self.left.saturating_add(1).min(buffer.len() as u64) as usize;
        let read = self.decoded.read(&mut buffer[..wanted])?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            let max = self.bytes_max;
            let what = format!("it has more than {max} bytes; send smaller batches");
            io::Error::new(io::ErrorKind::FileTooLarge, what)
        })?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn bodies_are_decompressed_up_to_a_limit() {
        let text = b"one line of many\n".repeat(1000);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&text).unwrap();
        let gzip = gzip.finish().unwrap();
        let zstd = zstd::encode_all(&text[..], 1).unwrap();
        let decoded = |encoding, body: &[u8], bytes_max: usize| {
            let mut bytes = Vec::new();
            decoded_body(encoding, body, bytes_max as u64)?.read_to_end(&mut bytes)?;
            Ok::<_, io::Error>(bytes)
        };
        for (encoding, body) in [
            ("gzip", &gzip),
            ("zstd", &zstd),
            ("identity", &text),
            ("", &text),
        ] {
            assert_eq!(decoded(encoding, body, text.len()).unwrap(), text);
            assert!(decoded(encoding, body, text.len() - 1).is_err());
        }
        for (encoding, body) in [("gzip", &gzip), ("zstd", &zstd)] {
            assert!(decoded(encoding, &body[..20], text.len()).is_err());
        }
        assert!(decoded("br", &text, 1 << 20).is_err());
    }
}
