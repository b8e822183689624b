//! Stream of the records of a WARC or ARC file that reads on behind damage.

use super::error::Problem;
use super::head::{Head, begins_warc, parse_arc, parse_warc};
use super::record::{Kind, Place, Record};
use super::stream::{Fault, Filled, Stream};
use std::io::{self, BufRead};

/// Upper limit on the bytes of a record's head.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// Upper limit on the bytes of the head line of an ARC record.
const ARC_LINE_BYTES_MAX: usize = 8 << 10;

/// Number of bytes that tell whether a record begins.
const BEGIN_BYTES: usize = 7;

/// Limits of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Limit on the bytes of a block that are kept. The rest is read, counted and dropped.
    pub block_bytes_max: usize,
    /// Limit on the decoded bytes of a compressed record; a longer one is left out without decoding its rest.
    pub record_bytes_max: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            block_bytes_max: 64 << 20,
            record_bytes_max: 4 << 30,
        }
    }
}

/// Item of a WARC file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A record.
    Record(Record),
    /// Damage; reading goes on behind it.
    Problem(Problem),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Unknown,
    Warc,
    Arc,
}

/// Reason why a record cannot be given.
enum Stop {
    Fault(Fault),
    Problem(Problem),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Fault(fault)
    }
}

/// Reader of the records of a file. It never seeks; memory is bounded by its limits.
pub struct Reader<R> {
    stream: Stream<R>,
    limits: Limits,
    format: Format,
    /// Problem of the record given last.
    pending: Option<Problem>,
    /// Place of the record that is being read.
    offset: u64,
    torn_at: Option<u64>,
    ended: bool,
    closed: bool,
}

impl<R: BufRead> Reader<R> {
    /// Creates a reader. The first byte tells whether the file is compressed.
    pub fn new(source: R) -> Reader<R> {
        Reader::with_limits(source, Limits::default())
    }

    /// Creates a reader with limits.
    pub fn with_limits(source: R, limits: Limits) -> Reader<R> {
        Reader {
            stream: Stream::new(source),
            limits,
            format: Format::Unknown,
            pending: None,
            offset: 0,
            torn_at: None,
            ended: false,
            closed: true,
        }
    }

    /// Returns the next record or problem; `None` at the end. The only errors are those of the source, and end the
    /// reader.
    #[expect(clippy::should_implement_trait, reason = "the source may fail")]
    pub fn next(&mut self) -> io::Result<Option<Item>> {
        if let Some(problem) = self.pending.take() {
            return Ok(Some(Item::Problem(problem)));
        }
        if self.ended {
            return Ok(None);
        }
        let problem = match self.record() {
            Ok(Some(record)) => return Ok(Some(Item::Record(record))),
            Ok(None) => {
                self.ended = true;
                return Ok(None);
            }
            Err(Stop::Problem(problem)) => problem,
            Err(Stop::Fault(Fault::Io(error))) => {
                self.ended = true;
                return Err(error);
            }
            Err(Stop::Fault(Fault::Torn)) => {
                let offset = self.offset;
                // A damaged member may be decoded to the end of the file.
                self.seek_member(offset, true)?;
                match self.ended {
                    true => Problem::Torn { offset },
                    false => Problem::DamagedMember {
                        offset,
                        what: "its end is missing".to_owned(),
                    },
                }
            }
            Err(Stop::Fault(Fault::Damaged { offset, what })) => {
                self.seek_member(offset, true)?;
                Problem::DamagedMember { offset, what }
            }
        };
        Ok(Some(Item::Problem(problem)))
    }

    /// Returns where whole records end, once the reader has come to the end of a file with something else behind
    /// them: a torn record, or bytes that are none.
    pub fn torn_at(&self) -> Option<u64> {
        self.torn_at
    }

    /// Returns the number of bytes taken from the source.
    pub fn source_bytes(&self) -> u64 {
        self.stream.source_position()
    }

    /// Returns the number of decoded bytes read.
    pub fn decoded_bytes(&self) -> u64 {
        self.stream.position()
    }

    /// Returns whether the record given last was followed by its line ends.
    pub(crate) fn closed(&self) -> bool {
        self.closed
    }

    fn record(&mut self) -> Result<Option<Record>, Stop> {
        self.offset = self.stream.place().0;
        loop {
            let ends = line_ends(self.stream.available());
            self.stream.take(ends);
            if !self.stream.available().is_empty() {
                break;
            }
            let filled = self.stream.fill(true);
            self.offset = self.stream.place().0;
            if filled? == Filled::End {
                return Ok(None);
            }
        }
        let (offset, inside_bytes) = self.stream.place();
        self.offset = offset;
        let head = self.head()?;
        let declared = match head.block_bytes {
            Some(bytes) => bytes,
            None if self.format == Format::Arc => {
                self.pending = Some(Problem::BadHead {
                    offset,
                    what: "the length of the record is no number",
                });
                match head.kind {
                    Kind::ArcHeader => self.bytes_to_empty_line()?,
                    _ => 0,
                }
            }
            None => {
                self.pass_lines()?;
                return Err(Stop::Problem(Problem::BadHead {
                    offset,
                    what: "Content-Length is missing or no number",
                }));
            }
        };
        let (block, block_bytes, end) = self.block(declared)?;
        let mut length_bytes = None;
        if let Some(end) = end {
            self.closed = false;
            self.pending = Some(Problem::ShortBlock {
                offset,
                declared,
                found: block_bytes,
            });
            if inside_bytes == 0 {
                length_bytes = end.checked_sub(offset);
            }
        } else {
            let end = self.trailer()?;
            if inside_bytes == 0 {
                length_bytes = end.and_then(|end| end.checked_sub(offset));
            }
        }
        Ok(Some(Record {
            kind: head.kind,
            uri: head.uri,
            date: head.date,
            headers: head.headers,
            place: Place {
                offset,
                inside_bytes,
                length_bytes,
            },
            block,
            block_bytes,
        }))
    }

    /// Makes `bytes` available where the file, or the gzip member without `cross`, has them.
    fn ensure(&mut self, bytes: usize, cross: bool) -> Result<(), Fault> {
        while self.stream.available().len() < bytes {
            if self.stream.fill(cross)? != Filled::Bytes {
                break;
            }
        }
        Ok(())
    }

    fn head(&mut self) -> Result<Head, Stop> {
        self.ensure(BEGIN_BYTES, true)?;
        if begins_warc(self.stream.available()) {
            self.format = Format::Warc;
            return self.warc_head();
        }
        if self.stream.available().len() < BEGIN_BYTES
            && b"WARC/"
                .starts_with(&self.stream.available()[..self.stream.available().len().min(5)])
        {
            return Err(Fault::Torn.into());
        }
        if self.format != Format::Warc
            && let Some(head) = self.arc_head()?
        {
            self.format = Format::Arc;
            return Ok(head);
        }
        let (offset, begin) = (self.offset, self.stream.position());
        self.pass_lines()?;
        Err(Stop::Problem(Problem::NotARecord {
            offset,
            bytes: self.stream.position() - begin,
        }))
    }

    fn warc_head(&mut self) -> Result<Head, Stop> {
        let mut searched = 0;
        loop {
            let bytes = self.stream.available();
            if let Some(end) = end_of_head(bytes, searched) {
                let head = parse_warc(&bytes[..end]);
                self.stream.take(end);
                return Ok(head);
            }
            searched = bytes.len().saturating_sub(2);
            if bytes.len() > HEAD_BYTES_MAX {
                let offset = self.offset;
                self.pass_lines()?;
                return Err(Stop::Problem(Problem::BadHead {
                    offset,
                    what: "the head is longer than 64 KiB",
                }));
            }
            if self.stream.fill(true)? == Filled::End {
                return Err(Fault::Torn.into());
            }
        }
    }

    /// Takes the head line of an ARC record; `None`, and nothing taken, where there is none.
    fn arc_head(&mut self) -> Result<Option<Head>, Stop> {
        loop {
            let bytes = self.stream.available();
            let bounded = &bytes[..bytes.len().min(ARC_LINE_BYTES_MAX)];
            if let Some(end) = memchr::memchr(b'\n', bounded) {
                let head = parse_arc(&bounded[..end]);
                if head.is_some() {
                    self.stream.take(end + 1);
                }
                return Ok(head);
            }
            if bytes.len() >= ARC_LINE_BYTES_MAX {
                return Ok(None);
            }
            if self.stream.fill(true)? == Filled::End {
                return match self.format {
                    Format::Arc => Err(Fault::Torn.into()),
                    _ => Ok(None),
                };
            }
        }
    }

    /// Returns the bytes before the next empty line, at most those of the head of an ARC file.
    fn bytes_to_empty_line(&mut self) -> Result<u64, Fault> {
        self.ensure(ARC_LINE_BYTES_MAX, false)?;
        let bytes = self.stream.available();
        let bounded = &bytes[..bytes.len().min(ARC_LINE_BYTES_MAX)];
        Ok(end_of_head(bounded, 0).map_or(0, |end| end as u64 - 1))
    }

    /// Reads a block: its beginning, its length, and the place where it ends early, if it does.
    fn block(&mut self, declared: u64) -> Result<(Vec<u8>, u64, Option<u64>), Stop> {
        let mut block = Vec::new();
        let mut left = declared;
        while left > 0 {
            if self.stream.available().is_empty() {
                match self.stream.fill(false)? {
                    Filled::Bytes => {}
                    Filled::End => return Err(Fault::Torn.into()),
                    Filled::MemberEnd => {
                        let end = self.stream.source_position();
                        if self.stream.fill(true)? == Filled::End {
                            return Err(Fault::Torn.into());
                        }
                        self.ensure(BEGIN_BYTES, false)?;
                        // A block that is split over members has no head of a record in its middle.
                        if begins_warc(self.stream.available()) {
                            return Ok((block, declared - left, Some(end)));
                        }
                    }
                }
            }
            let available = self.stream.available();
            let taken = left.min(available.len() as u64) as usize;
            let kept = taken.min(self.limits.block_bytes_max - block.len());
            block.extend_from_slice(&available[..kept]);
            self.stream.take(taken);
            left -= taken as u64;
            let max = self.limits.record_bytes_max;
            if declared - left > max && left > 0 && self.stream.is_compressed() {
                let offset = self.offset;
                self.seek_member(offset, false).map_err(Fault::Io)?;
                return Err(Stop::Problem(Problem::TooLong { offset, max }));
            }
        }
        Ok((block, declared, None))
    }

    /// Takes the line ends behind a block. Returns the place in the file where the record ends; `None` where its gzip
    /// member goes on.
    fn trailer(&mut self) -> Result<Option<u64>, Fault> {
        let lines = if self.format == Format::Arc { 1 } else { 2 };
        let mut found = 0;
        self.closed = false;
        loop {
            if found == lines {
                self.closed = true;
                if !self.stream.is_compressed() {
                    return Ok(Some(self.stream.position()));
                }
            }
            self.ensure(1, false)?;
            match self.stream.available().first() {
                Some(b'\n') => found += 1,
                Some(b'\r') => {}
                None => return Ok(Some(self.stream.source_position())),
                Some(_) if self.stream.is_compressed() => return Ok(None),
                Some(_) => return Ok(Some(self.stream.position())),
            }
            self.stream.take(1);
        }
    }

    /// Goes to the next line, or beginning of a gzip member, at which a record begins.
    fn pass_lines(&mut self) -> Result<(), Fault> {
        let begin = self.offset;
        loop {
            let available = self.stream.available();
            let mut is_line = false;
            match memchr::memchr(b'\n', available) {
                Some(end) => {
                    self.stream.take(end + 1);
                    is_line = true;
                }
                None => self.stream.take(available.len()),
            }
            if self.stream.available().is_empty() {
                match self.stream.fill(false)? {
                    Filled::Bytes => {}
                    Filled::MemberEnd => {
                        self.stream.fill(true)?;
                        is_line = true;
                    }
                    Filled::End => {
                        self.ended = true;
                        self.torn_at = Some(begin);
                        return Ok(());
                    }
                }
            }
            if is_line && self.begins_record()? {
                return Ok(());
            }
        }
    }

    /// Returns whether a record begins at the next byte.
    fn begins_record(&mut self) -> Result<bool, Fault> {
        self.ensure(BEGIN_BYTES, false)?;
        if begins_warc(self.stream.available()) {
            return Ok(true);
        }
        if self.format == Format::Warc {
            return Ok(false);
        }
        self.ensure(ARC_LINE_BYTES_MAX, false)?;
        let bytes = self.stream.available();
        let bounded = &bytes[..bytes.len().min(ARC_LINE_BYTES_MAX)];
        let line = memchr::memchr(b'\n', bounded).map(|end| &bounded[..end]);
        Ok(line.and_then(parse_arc).is_some())
    }

    /// Goes to the next gzip member in which a record begins.
    fn seek_member(&mut self, damaged: u64, back: bool) -> io::Result<()> {
        let mut back = back;
        loop {
            if !self.stream.next_member(back)? {
                self.ended = true;
                self.torn_at = Some(damaged);
                return Ok(());
            }
            back = true;
            // What only looks like a member fails at once, and the search goes on behind it.
            let begins = match self.stream.fill(true) {
                Ok(_) => self.begins_record(),
                Err(fault) => Err(fault),
            };
            match begins {
                Ok(true) => return Ok(()),
                Ok(false) | Err(Fault::Torn | Fault::Damaged { .. }) => {}
                Err(Fault::Io(error)) => return Err(error),
            }
        }
    }
}

/// Returns the number of line ends at the beginning.
fn line_ends(bytes: &[u8]) -> usize {
    let other = bytes.iter().position(|byte| !matches!(byte, b'\r' | b'\n'));
    other.unwrap_or(bytes.len())
}

/// Returns the place behind the first empty line that ends at or after `from`.
fn end_of_head(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(end) = memchr::memchr(b'\n', bytes.get(at..)?) {
        let next = at + end + 1;
        match bytes.get(next..)? {
            [b'\n', ..] => return Some(next + 1),
            [b'\r', b'\n', ..] => return Some(next + 2),
            _ => at = next,
        }
    }
    None
}
