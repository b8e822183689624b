//! Bodies of HTTP messages without their transfer and content encodings, within limits.

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use std::io::{self, Read};

/// Upper limit on the decoded bytes for each encoded byte.
const RATIO_MAX: usize = 100;

/// Decoded bytes up to which the ratio does not apply; a page of spaces is no bomb.
const RATIO_FROM_BYTES: usize = 64 << 10;

/// Upper limit on the number of encodings, one inside the other.
const ENCODINGS_MAX: usize = 3;

/// Upper limit on the zstd window, that of RFC 9659 for the web: 8 MiB.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// Body without its encodings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Body {
    /// Decoded bytes; only the beginning, where the notes say so.
    pub bytes: Vec<u8>,
    /// Findings, in order; empty for a whole and correct body.
    pub notes: Vec<BodyNote>,
}

/// Finding of decoding a body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyNote {
    /// The head says chunked and the body is not; taken as it is. Some writers store bodies so.
    #[error("not in chunks, though the head says so")]
    NotChunked,
    /// A chunk is damaged or missing; the chunks before are kept.
    #[error("a chunk is damaged or missing; the beginning is kept")]
    BadChunk,
    /// The body is not in the encoding that the head names; taken as it is.
    #[error("not in the encoding {0}, though the head says so")]
    NotEncoded(&'static str),
    /// The encoding is unknown; nothing is decoded.
    #[error("unknown encoding {0}")]
    UnknownEncoding(String),
    /// The encoded bytes are damaged or end early; the beginning is kept.
    #[error("the {0} data is damaged or ends early; the beginning is kept")]
    Damaged(&'static str),
    /// The body is longer than the limit; the beginning is kept.
    #[error("longer than {0} bytes; the beginning is kept")]
    Cut(usize),
    /// The body grows more than a hundredfold; the beginning is kept.
    #[error("grows more than {RATIO_MAX} times when decoded; the beginning is kept")]
    Ratio,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// Decodes a body according to the fields of its head, to at most `bytes_max` bytes.
pub fn decoded_body(headers: &[(String, String)], body: &[u8], bytes_max: usize) -> Body {
    let mut notes = Vec::new();
    let transfer = values(headers, "transfer-encoding");
    let content = values(headers, "content-encoding");
    let unchunked = match transfer.iter().any(|name| name == "chunked") {
        true => unchunked(body, &mut notes),
        false => None,
    };
    let mut bytes = unchunked.unwrap_or_else(|| body.to_vec());
    let transfer = transfer.into_iter().filter(|name| name != "chunked");
    let names: Vec<String> = content.into_iter().chain(transfer).collect();
    // The encoding applied last stands last.
    for name in names.iter().rev().take(ENCODINGS_MAX) {
        let encoding = match &**name {
            "" | "identity" | "none" | "utf-8" => continue,
            "gzip" | "x-gzip" => Encoding::Gzip,
            "deflate" => Encoding::Deflate,
            "br" => Encoding::Brotli,
            "zstd" => Encoding::Zstd,
            other => {
                notes.push(BodyNote::UnknownEncoding(other.to_owned()));
                break;
            }
        };
        if let Some(decoded) = decode(encoding, &bytes, bytes_max, &mut notes) {
            bytes = decoded;
        }
    }
    if bytes.len() > bytes_max {
        bytes.truncate(bytes_max);
        notes.push(BodyNote::Cut(bytes_max));
    }
    Body { bytes, notes }
}

fn values(headers: &[(String, String)], name: &str) -> Vec<String> {
    headers
        .iter()
        .filter(|(known, _)| known.eq_ignore_ascii_case(name))
        .flat_map(|(_, value)| value.split(','))
        .map(|value| value.trim().to_ascii_lowercase())
        .collect()
}

/// Joins the chunks; `None` where the body does not begin with a chunk.
fn unchunked(body: &[u8], notes: &mut Vec<BodyNote>) -> Option<Vec<u8>> {
    let mut joined = Vec::new();
    let mut rest = body;
    let mut is_first = true;
    loop {
        let Some((size, after)) = chunk_size(rest) else {
            if is_first && !body.is_empty() {
                notes.push(BodyNote::NotChunked);
                return None;
            }
            notes.push(BodyNote::BadChunk);
            return Some(joined);
        };
        is_first = false;
        rest = after;
        if size == 0 {
            return Some(joined);
        }
        let taken = rest.len().min(size);
        joined.extend_from_slice(&rest[..taken]);
        rest = &rest[taken..];
        if taken < size {
            notes.push(BodyNote::BadChunk);
            return Some(joined);
        }
        rest = rest.strip_prefix(b"\r").unwrap_or(rest);
        rest = rest.strip_prefix(b"\n").unwrap_or(rest);
    }
}

/// Parses the line that begins a chunk.
fn chunk_size(bytes: &[u8]) -> Option<(usize, &[u8])> {
    // Sixteen digits and a short extension; a longer line is no chunk.
    let bounded = &bytes[..bytes.len().min(1_024)];
    let end = memchr::memchr(b'\n', bounded)?;
    let line = std::str::from_utf8(&bounded[..end]).ok()?;
    let digits = line.split(';').next().unwrap_or("").trim();
    let size = usize::from_str_radix(digits, 16).ok()?;
    (!digits.starts_with('+')).then_some((size, &bytes[end + 1..]))
}

fn decode(
    encoding: Encoding,
    bytes: &[u8],
    bytes_max: usize,
    notes: &mut Vec<BodyNote>,
) -> Option<Vec<u8>> {
    let (name, reader): (&'static str, io::Result<Box<dyn Read + '_>>) = match encoding {
        Encoding::Gzip => ("gzip", Ok(Box::new(MultiGzDecoder::new(bytes)))),
        // The standard means zlib; some servers send bare deflate.
        Encoding::Deflate if is_zlib(bytes) => ("deflate", Ok(Box::new(ZlibDecoder::new(bytes)))),
        Encoding::Deflate => ("deflate", Ok(Box::new(DeflateDecoder::new(bytes)))),
        Encoding::Brotli => (
            "br",
            Ok(Box::new(brotli_decompressor::Decompressor::new(
                bytes,
                16 << 10,
            ))),
        ),
        Encoding::Zstd => ("zstd", zstd_reader(bytes)),
    };
    let magic: &[u8] = match encoding {
        Encoding::Gzip => &[0x1f, 0x8b],
        Encoding::Zstd => &[0x28, 0xb5, 0x2f, 0xfd],
        Encoding::Deflate | Encoding::Brotli => &[],
    };
    if bytes.is_empty() {
        return None;
    }
    let Ok(reader) = reader else {
        notes.push(BodyNote::Damaged(name));
        return None;
    };
    if !bytes.starts_with(magic) {
        notes.push(BodyNote::NotEncoded(name));
        return None;
    }
    let by_ratio = bytes.len().saturating_mul(RATIO_MAX).max(RATIO_FROM_BYTES);
    let max = bytes_max.min(by_ratio);
    let mut decoded = Vec::new();
    let read = reader.take(max as u64 + 1).read_to_end(&mut decoded);
    if decoded.len() > max {
        decoded.truncate(max);
        notes.push(match max == bytes_max {
            true => BodyNote::Cut(bytes_max),
            false => BodyNote::Ratio,
        });
    } else if read.is_err() {
        if decoded.is_empty() {
            notes.push(BodyNote::NotEncoded(name));
            return None;
        }
        notes.push(BodyNote::Damaged(name));
    }
    Some(decoded)
}

fn is_zlib(bytes: &[u8]) -> bool {
    matches!(bytes, [a, b, ..] if a & 0x0f == 8 && u16::from_be_bytes([*a, *b]) % 31 == 0)
}

fn zstd_reader(bytes: &[u8]) -> io::Result<Box<dyn Read + '_>> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(bytes)?;
    decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
    Ok(Box::new(decoder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use proptest::prelude::*;
    use std::io::Write;

    fn check(headers: &[(&str, &str)], body: &[u8], expected: &[u8], notes: &[BodyNote]) {
        let headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let decoded = decoded_body(&headers, body, 1_000_000);
        assert_eq!((&*decoded.bytes, &*decoded.notes), (expected, notes));
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn chunks() {
        let chunked = [("Transfer-Encoding", "chunked")];
        check(
            &chunked,
            b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n",
            b"abcde",
            &[],
        );
        check(&chunked, b"3\nabc\n0\n", b"abc", &[]);
        check(&chunked, b"<html>", b"<html>", &[BodyNote::NotChunked]);
        check(
            &chunked,
            b"3\r\nabc\r\n9\r\nde",
            b"abcde",
            &[BodyNote::BadChunk],
        );
        check(&chunked, b"3\r\nabc\r\n", b"abc", &[BodyNote::BadChunk]);
        check(
            &chunked,
            b"ffffffffffffffff\r\nab",
            b"ab",
            &[BodyNote::BadChunk],
        );
    }

    #[test]
    fn encodings() {
        let text = b"some text, some text, some text";
        check(&[("content-encoding", "gzip")], &gzip(text), text, &[]);
        check(
            &[("content-encoding", "gzip, gzip")],
            &gzip(&gzip(text)),
            text,
            &[],
        );
        check(&[("Content-Encoding", "identity")], text, text, &[]);
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(text).unwrap();
        check(
            &[("content-encoding", "deflate")],
            &zlib.finish().unwrap(),
            text,
            &[],
        );
        let mut bare = DeflateEncoder::new(Vec::new(), Compression::default());
        bare.write_all(text).unwrap();
        check(
            &[("content-encoding", "deflate")],
            &bare.finish().unwrap(),
            text,
            &[],
        );
        let zstd = zstd::encode_all(&text[..], 1).unwrap();
        check(&[("content-encoding", "zstd")], &zstd, text, &[]);
        // An uncompressed block of brotli: window 16, not last, two nibbles of length, then the empty last block.
        check(
            &[("content-encoding", "br")],
            b"\x0b\x02\x80hello\x03",
            b"hello",
            &[],
        );
    }

    #[test]
    fn damage_and_lies_are_named() {
        let gzipped = [("content-encoding", "gzip")];
        check(
            &gzipped,
            b"<html>",
            b"<html>",
            &[BodyNote::NotEncoded("gzip")],
        );
        let unknown = BodyNote::UnknownEncoding("pack200".to_owned());
        check(&[("content-encoding", "pack200")], b"x", b"x", &[unknown]);
        let text: Vec<u8> = (0..40_000u32)
            .flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes())
            .collect();
        let whole = gzip(&text);
        let headers = [("content-encoding".to_owned(), "gzip".to_owned())];
        let half = decoded_body(&headers, &whole[..whole.len() / 2], 1_000_000);
        assert!(!half.bytes.is_empty() && text.starts_with(&half.bytes));
        assert_eq!(half.notes, [BodyNote::Damaged("gzip")]);
        let cut = decoded_body(&headers, &whole, 1_000);
        assert_eq!(
            (cut.bytes.len(), cut.notes),
            (1_000, vec![BodyNote::Cut(1_000)])
        );
    }

    #[test]
    fn a_bomb_is_cut_at_a_hundred_times_its_size() {
        let bomb = gzip(&vec![0; 10 << 20]);
        let headers = [("content-encoding".to_owned(), "gzip".to_owned())];
        let body = decoded_body(&headers, &bomb, usize::MAX >> 1);
        assert_eq!(body.bytes.len(), bomb.len() * RATIO_MAX);
        assert_eq!(body.notes, [BodyNote::Ratio]);
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_body(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            chunked in any::<bool>(),
            encoding in prop::sample::select(vec!["gzip", "deflate", "br", "zstd", "?"]),
        ) {
            let mut headers = vec![("Content-Encoding".to_owned(), encoding.to_owned())];
            if chunked {
                headers.push(("Transfer-Encoding".to_owned(), "chunked".to_owned()));
            }
            prop_assert!(decoded_body(&headers, &bytes, 100).bytes.len() <= 100);
        }
    }
}
