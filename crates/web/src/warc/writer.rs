//! Writer of WARC 1.1, one gzip member a record, without clock and randomness.
//!
//! A record is compressed in memory and written with one call, so that a crash leaves at most one torn member, at the
//! end, where [`recover`](super::recover) cuts.

use super::digest::Digest;
use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use jiff::Timestamp;
use std::fmt;
use std::io::{self, Write};

/// Head of a gzip member: deflate, no name, no time, fastest compression, unknown system.
const MEMBER_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255];

/// Compression level: on pages, level 2 takes no longer than level 1, for a quarter fewer bytes.
const LEVEL: u32 = 2;

/// Capacity that the buffers keep, in bytes, so that one huge record does not hold memory for ever.
const KEPT_BYTES: usize = 4 << 20;

/// Id of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RecordId(pub u128);

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = format!("{:032x}", self.0);
        let (a, b, c, d, e) = (
            &hex[..8],
            &hex[8..12],
            &hex[12..16],
            &hex[16..20],
            &hex[20..],
        );
        write!(f, "<urn:uuid:{a}-{b}-{c}-{d}-{e}>")
    }
}

/// Properties that the records of one fetch share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About<'a> {
    /// URL.
    pub uri: &'a str,
    /// Time at which the fetch began.
    pub date: Timestamp,
    /// Address of the server.
    pub ip: Option<&'a str>,
}

/// Reason why a revisit record has no body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// The body had the same digest as that of an earlier record.
    IdenticalPayload,
    /// The server answered that nothing was modified.
    NotModified,
}

impl Profile {
    /// Returns the profile's URI.
    pub fn uri(self) -> &'static str {
        match self {
            Profile::IdenticalPayload => {
                "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
            }
            Profile::NotModified => "http://netpreserve.org/warc/1.1/revisit/server-not-modified",
        }
    }
}

/// Place and digest of a written record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// First byte of the record's gzip member in the file.
    pub offset: u64,
    /// Length of the member in bytes.
    pub length_bytes: u64,
    /// Id of the record.
    pub id: RecordId,
    /// Digest of the payload.
    pub payload_digest: Digest,
}

/// Writer of one file.
pub struct Writer<W> {
    inner: W,
    offset: u64,
    seed: u64,
    compress: Compress,
    plain: Vec<u8>,
    member: Vec<u8>,
}

/// Header fields of a record beyond those that every record has.
type Fields<'a> = Vec<(&'static str, String)>;

impl<W: Write> Writer<W> {
    /// Creates a writer that appends at `offset` of a file. `seed` makes the ids of its records: use another for every
    /// file.
    pub fn new(inner: W, offset: u64, seed: u64) -> Writer<W> {
        Writer {
            inner,
            offset,
            seed,
            compress: Compress::new(Compression::new(LEVEL), false),
            plain: Vec::new(),
            member: Vec::new(),
        }
    }

    /// Writes the description of the file: its name, and fields such as `software`, `operator` and `robots`.
    pub fn warcinfo(
        &mut self,
        date: Timestamp,
        file_name: &str,
        fields: &[(&str, &str)],
    ) -> io::Result<Written> {
        let extra = vec![
            ("WARC-Filename", file_name.to_owned()),
            ("Content-Type", "application/warc-fields".to_owned()),
        ];
        self.record("warcinfo", None, date, extra, &[], &warc_fields(fields))
    }

    /// Writes a request: its head with the empty line at its end, and its body.
    pub fn request(
        &mut self,
        about: &About<'_>,
        head: &[u8],
        body: &[u8],
        concurrent_to: Option<RecordId>,
    ) -> io::Result<Written> {
        let mut extra = about_fields(about);
        push_concurrent(&mut extra, concurrent_to);
        push_type(&mut extra, "application/http; msgtype=request");
        self.record("request", Some(about.uri), about.date, extra, head, body)
    }

    /// Writes an answer: its head with the empty line at its end, and its body as received. `truncated` is the reason
    /// why the body is not whole: `length`, `time` or `disconnect`.
    pub fn response(
        &mut self,
        about: &About<'_>,
        head: &[u8],
        body: &[u8],
        truncated: Option<&str>,
    ) -> io::Result<Written> {
        let mut extra = about_fields(about);
        if let Some(reason) = truncated {
            extra.push(("WARC-Truncated", reason.to_owned()));
        }
        push_type(&mut extra, "application/http; msgtype=response");
        self.record("response", Some(about.uri), about.date, extra, head, body)
    }

    /// Writes a visit that found nothing new: the head of the answer, and the earlier record, its date and the digest
    /// of its payload, as far as known.
    pub fn revisit(
        &mut self,
        about: &About<'_>,
        head: &[u8],
        profile: Profile,
        earlier: (Option<RecordId>, Option<Timestamp>, Option<Digest>),
    ) -> io::Result<Written> {
        let (id, date, digest) = earlier;
        let mut extra = about_fields(about);
        extra.push(("WARC-Profile", profile.uri().to_owned()));
        if let Some(id) = id {
            extra.push(("WARC-Refers-To", id.to_string()));
        }
        extra.push(("WARC-Refers-To-Target-URI", clean_uri(about.uri)));
        if let Some(date) = date {
            extra.push(("WARC-Refers-To-Date", date_text(date)));
        }
        if let Some(digest) = digest {
            extra.push(("WARC-Payload-Digest", digest.to_string()));
        }
        push_type(&mut extra, "application/http; msgtype=response");
        self.record("revisit", Some(about.uri), about.date, extra, head, &[])
    }

    /// Writes what became of an answer: the page as a browser shows it, with a head as that of an answer.
    pub fn conversion(
        &mut self,
        about: &About<'_>,
        head: &[u8],
        body: &[u8],
        refers_to: Option<RecordId>,
    ) -> io::Result<Written> {
        let mut extra = about_fields(about);
        if let Some(id) = refers_to {
            extra.push(("WARC-Refers-To", id.to_string()));
        }
        push_type(&mut extra, "application/http; msgtype=response");
        self.record("conversion", Some(about.uri), about.date, extra, head, body)
    }

    /// Writes statements about another record.
    pub fn metadata(
        &mut self,
        about: &About<'_>,
        fields: &[(&str, &str)],
        concurrent_to: Option<RecordId>,
    ) -> io::Result<Written> {
        let mut extra = about_fields(about);
        push_concurrent(&mut extra, concurrent_to);
        push_type(&mut extra, "application/warc-fields");
        let block = warc_fields(fields);
        self.record("metadata", Some(about.uri), about.date, extra, &[], &block)
    }

    /// Returns the length of the file so far, in bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the file.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.inner
    }

    /// Returns the file, ending the writer.
    pub fn into_inner(self) -> W {
        self.inner
    }

    fn record(
        &mut self,
        kind: &str,
        uri: Option<&str>,
        date: Timestamp,
        extra: Fields<'_>,
        head: &[u8],
        body: &[u8],
    ) -> io::Result<Written> {
        let id = self.id(kind, uri.unwrap_or(""), date);
        let payload_digest = Digest::of(body);
        let block_digest = match head {
            [] => payload_digest,
            head => Digest::of_parts(&[head, body]),
        };
        let mut text = format!("WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: {id}\r\n");
        push_field(&mut text, "WARC-Date", &date_text(date));
        if let Some(uri) = uri {
            push_field(&mut text, "WARC-Target-URI", &clean_uri(uri));
        }
        for (name, value) in extra {
            push_field(&mut text, name, &value);
        }
        push_field(&mut text, "WARC-Block-Digest", &block_digest.to_string());
        // A payload is what an HTTP message carries; a revisit names that of the earlier record.
        if matches!(kind, "request" | "response") {
            push_field(
                &mut text,
                "WARC-Payload-Digest",
                &payload_digest.to_string(),
            );
        }
        let length = (head.len() + body.len()).to_string();
        push_field(&mut text, "Content-Length", &length);
        self.plain.clear();
        for part in [text.as_bytes(), b"\r\n", head, body, b"\r\n\r\n"] {
            self.plain.extend_from_slice(part);
        }
        self.compress()?;
        self.inner.write_all(&self.member)?;
        let offset = self.offset;
        let length_bytes = self.member.len() as u64;
        self.offset += length_bytes;
        self.plain.shrink_to(KEPT_BYTES);
        self.member.shrink_to(KEPT_BYTES);
        Ok(Written {
            offset,
            length_bytes,
            id,
            payload_digest,
        })
    }

    /// Makes the gzip member of the plain record.
    fn compress(&mut self) -> io::Result<()> {
        self.member.clear();
        self.member.extend_from_slice(&MEMBER_HEAD);
        self.compress.reset();
        let mut crc = Crc::new();
        crc.update(&self.plain);
        self.member.reserve(self.plain.len() / 2 + 256);
        loop {
            let taken = usize::try_from(self.compress.total_in()).unwrap_or(usize::MAX);
            let rest = self.plain.get(taken..).unwrap_or(&[]);
            let status =
                self.compress
                    .compress_vec(rest, &mut self.member, FlushCompress::Finish)?;
            if status == Status::StreamEnd {
                break;
            }
            self.member.reserve(self.plain.len() / 4 + 256);
        }
        self.member.extend_from_slice(&crc.sum().to_le_bytes());
        self.member.extend_from_slice(&crc.amount().to_le_bytes());
        Ok(())
    }

    /// Returns the id of the record at the writer's place: a hash of what makes it unique, as a UUID of version 8.
    fn id(&self, kind: &str, uri: &str, date: Timestamp) -> RecordId {
        let mut key = Vec::with_capacity(uri.len() + kind.len() + 24);
        key.extend_from_slice(&self.offset.to_le_bytes());
        key.extend_from_slice(&date.as_nanosecond().to_le_bytes());
        key.extend_from_slice(kind.as_bytes());
        key.extend_from_slice(uri.as_bytes());
        let hash = xxhash_rust::xxh3::xxh3_128_with_seed(&key, self.seed);
        let version = 0xf << 76;
        let variant = 0x3 << 62;
        RecordId(hash & !version & !variant | 0x8 << 76 | 0x2 << 62)
    }
}

fn about_fields(about: &About<'_>) -> Fields<'static> {
    let ip = about.ip.map(|ip| ("WARC-IP-Address", ip.to_owned()));
    ip.into_iter().collect()
}

fn push_concurrent(extra: &mut Fields<'_>, concurrent_to: Option<RecordId>) {
    if let Some(id) = concurrent_to {
        extra.push(("WARC-Concurrent-To", id.to_string()));
    }
}

fn push_type(extra: &mut Fields<'_>, media_type: &str) {
    extra.push(("Content-Type", media_type.to_owned()));
}

/// Adds a field. Line ends in a value would begin another field.
fn push_field(text: &mut String, name: &str, value: &str) {
    text.push_str(name);
    text.push_str(": ");
    text.extend(value.chars().map(|c| if c.is_control() { ' ' } else { c }));
    text.push_str("\r\n");
}

fn warc_fields(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut text = String::new();
    for (name, value) in fields {
        push_field(&mut text, &name.replace([':', '\r', '\n'], "_"), value);
    }
    text.into_bytes()
}

/// Returns a URI without the characters that no URI has.
fn clean_uri(uri: &str) -> String {
    let mut clean = String::with_capacity(uri.len());
    for c in uri.chars() {
        match c {
            '\0'..=' ' | '\u{7f}' | '<' | '>' => clean.push_str(&format!("%{:02X}", u32::from(c))),
            c => clean.push(c),
        }
    }
    clean
}

/// Returns a date as WARC 1.1 writes it, with fractions only where there are any.
fn date_text(date: Timestamp) -> String {
    let millisecond = date.as_millisecond();
    let date = Timestamp::from_millisecond(millisecond).unwrap_or(date);
    date.to_string()
}
