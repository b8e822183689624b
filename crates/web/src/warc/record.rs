//! Records of WARC files.

use super::body::{Body, decoded_body};
use super::digest::{Digest, DigestCheck};
use super::http::HttpHead;
use jiff::Timestamp;

/// Type of a record.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Description of the file.
    Warcinfo,
    /// Request to a server.
    Request,
    /// Answer of a server.
    Response,
    /// Resource as retrieved, without the protocol's messages.
    Resource,
    /// Visit at which nothing new was found.
    Revisit,
    /// Statements about another record.
    Metadata,
    /// Resource in another form.
    Conversion,
    /// Further part of a record.
    Continuation,
    /// First record of an ARC file.
    ArcHeader,
    /// Any other type, as written.
    Other(String),
}

impl Kind {
    /// Parses the value of `WARC-Type`.
    pub fn parse(name: &str) -> Kind {
        match name {
            "warcinfo" => Kind::Warcinfo,
            "request" => Kind::Request,
            "response" => Kind::Response,
            "resource" => Kind::Resource,
            "revisit" => Kind::Revisit,
            "metadata" => Kind::Metadata,
            "conversion" => Kind::Conversion,
            "continuation" => Kind::Continuation,
            "arc_header" => Kind::ArcHeader,
            other => Kind::Other(other.to_owned()),
        }
    }

    /// Returns the type's name.
    pub fn as_str(&self) -> &str {
        match self {
            Kind::Warcinfo => "warcinfo",
            Kind::Request => "request",
            Kind::Response => "response",
            Kind::Resource => "resource",
            Kind::Revisit => "revisit",
            Kind::Metadata => "metadata",
            Kind::Conversion => "conversion",
            Kind::Continuation => "continuation",
            Kind::ArcHeader => "arc_header",
            Kind::Other(name) => name,
        }
    }
}

/// Place of a record in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// First byte of the record, or of the gzip member in which it begins.
    pub offset: u64,
    /// Decoded bytes of the member before the record; 0 where each record has a member of its own.
    pub inside_bytes: u64,
    /// Bytes in the file with the line ends behind the block; `None` where the record shares a gzip member.
    pub length_bytes: Option<u64>,
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Type.
    pub kind: Kind,
    /// `WARC-Target-URI`, without the angle brackets that some tools write.
    pub uri: Option<String>,
    /// `WARC-Date`.
    pub date: Option<Timestamp>,
    /// All header fields in order, as written.
    pub headers: Vec<(String, String)>,
    /// Place in the file.
    pub place: Place,
    /// The block, at most [`Limits::block_bytes_max`](super::Limits::block_bytes_max) bytes of it.
    pub block: Vec<u8>,
    /// Length of the block in the file, in bytes.
    pub block_bytes: u64,
}

impl Record {
    /// Returns the first header field of this name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        super::http::find(&self.headers, name)
    }

    /// Returns whether the block was cut at the limit of the reader.
    pub fn is_cut(&self) -> bool {
        self.block.len() as u64 != self.block_bytes
    }

    /// Parses the HTTP head at the beginning of the block; `None` where there is none.
    pub fn http(&self) -> Option<HttpHead> {
        match self.kind {
            Kind::Request | Kind::Response | Kind::Revisit => HttpHead::parse(&self.block),
            // Of a page that a browser rendered.
            Kind::Conversion if is_message(self.header("Content-Type")) => {
                HttpHead::parse(&self.block)
            }
            _ => None,
        }
    }

    /// Returns the payload as transferred: the block without its HTTP head.
    pub fn payload(&self) -> &[u8] {
        let begin = self.http().map_or(0, |head| head.body_at);
        &self.block[begin..]
    }

    /// Returns the payload without transfer and content encodings, at most `bytes_max` bytes of it.
    pub fn http_body(&self, bytes_max: usize) -> Body {
        match self.http() {
            Some(head) => decoded_body(&head.headers, &self.block[head.body_at..], bytes_max),
            None => decoded_body(&[], &self.block, bytes_max),
        }
    }

    /// Compares the digest of the block with `WARC-Block-Digest`.
    pub fn block_digest(&self) -> DigestCheck {
        self.compare("WARC-Block-Digest", &self.block)
    }

    /// Compares the digest of the payload with `WARC-Payload-Digest`. Revisit records carry another record's digest
    /// and are not compared.
    pub fn payload_digest(&self) -> DigestCheck {
        if self.kind == Kind::Revisit {
            return DigestCheck::Absent;
        }
        self.compare("WARC-Payload-Digest", self.payload())
    }

    fn compare(&self, name: &str, bytes: &[u8]) -> DigestCheck {
        match self.header(name) {
            None => DigestCheck::Absent,
            Some(_) if self.is_cut() => DigestCheck::Unknown,
            Some(written) => Digest::check(written, bytes),
        }
    }
}

/// Returns whether a block is said to be an HTTP message.
fn is_message(content_type: Option<&str>) -> bool {
    let essence = content_type.and_then(|text| text.split(';').next());
    essence.is_some_and(|text| text.trim().eq_ignore_ascii_case("application/http"))
}
