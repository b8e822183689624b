//! Reading of the log beside its writer, by another process or another storage.
//!
//! ```text
//! open generation ──Index::log_reader──► LogReader ──read──► Records     acknowledged, a group at a time
//!        ▲                                         ├───────► Pending     nothing more for now; read again later
//!        └────────────────── newest ──────────────◄┴──────── Committed   the log is in a generation, and may be gone
//! ```
//!
//! A group counts once a valid head follows it, or the log has ended: then it was durable before that head was written, so
//! it was acknowledged, and no loss of power takes it back. The last group of a log that pauses has its mark after 100 ms.
//! What is unreadable before a valid head is a loss; what is unreadable at the end is being written.
//!
//! Records are whole documents and may be applied any number of times, the last of each document where one commit takes
//! several ([`LogRecord::last_of_each`]), so a follower whose position is too old by some
//! records, or that opens a generation which has them, has the same documents.

use super::group::{ALIGNMENT, GroupKind, HEAD_BYTES, Head, Seed};
use super::loss::LogLoss;
use super::read::{find_head, read_records};
use super::record::LogRecord;
use crate::names::{log_name, log_number};
use crate::{IndexError, manifest};
use std::ops::Range;
use std::path::PathBuf;
use vfs::{OpenFile, Region, SharedStorage, StorageError};

/// Bytes read at a time.
const WINDOW_BYTES: u64 = 256 << 10;

/// Place in the logs of an index, between two groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogPosition {
    /// Number of the log.
    pub log: u64,
    /// Offset of the next group in the log, in bytes.
    pub offset: u64,
    /// Number of the next record in the log, from 0.
    pub record: u64,
}

impl LogPosition {
    /// Returns the start of a log.
    pub fn start_of(log: u64) -> LogPosition {
        LogPosition {
            log,
            offset: 0,
            record: 0,
        }
    }
}

/// What a reader finds next.
#[derive(Debug, Clone, PartialEq)]
pub enum LogRead {
    /// Acknowledged changes, in their order.
    Records(Vec<LogRecord>),
    /// Nothing more for now: the end of the log is being written, or the next log has not begun.
    Pending,
    /// The log is in this generation or an earlier one, and may be gone before all of it was read. The follower opens the
    /// newest generation, and reads on from its position ([`Index::log_reader`](crate::Index::log_reader)).
    Committed {
        /// The newest generation.
        generation: u64,
    },
}

/// Reader of the logs of an index, beside a writer or after it.
#[derive(Debug)]
pub struct LogReader {
    storage: SharedStorage,
    index_id: u128,
    position: LogPosition,
    /// The log at the position, as long as it was when it was opened.
    open: Option<Window>,
    /// Newest generation that was read, and the last log that it contains.
    newest: Option<(u64, u64)>,
}

/// Next group of a log.
enum Group {
    Records(Vec<LogRecord>, LogPosition),
    /// The log has no more.
    End,
    /// Nothing that can be told to be whole and acknowledged.
    Unknown,
}

impl LogReader {
    /// Creates a reader of the changes from a position on, which an earlier reader gave, or
    /// [`Index::log_position`](crate::Index::log_position). `index_id` is [`Index::id`](crate::Index::id).
    pub fn at(storage: SharedStorage, index_id: &str, position: LogPosition) -> LogReader {
        LogReader {
            storage,
            index_id: u128::from_str_radix(index_id, 16).unwrap_or(0),
            position,
            open: None,
            newest: None,
        }
    }

    /// Returns the position after all that was read: of a later reader, the start.
    pub fn position(&self) -> LogPosition {
        self.position
    }

    /// Reads on. After an error the position is the same, and a further call reads there again.
    ///
    /// # Errors
    /// [`IndexError::LogLost`] for acknowledged records that cannot be read, with file and offset;
    /// [`IndexError::Mismatch`] where the directory has another index now; a failure of the storage.
    pub fn read(&mut self) -> Result<LogRead, IndexError> {
        let read = self.read_on();
        if read.is_err() {
            // The next call reads the log as it is then.
            self.open = None;
        }
        read
    }

    fn read_on(&mut self) -> Result<LogRead, IndexError> {
        // Whether the log is open as it is now, and whether its end must be there, because the next one has begun.
        let (mut is_fresh, mut must_end) = (false, false);
        loop {
            if self.open.is_none() {
                let path = self.path();
                match self.storage.open_file(&log_name(self.position.log)) {
                    Ok(file) => self.open = Some(Window::new(file, path)),
                    Err(StorageError::NotFound { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
                is_fresh = true;
            }
            match self.next_group()? {
                Group::Records(records, next) => {
                    self.position = next;
                    if !records.is_empty() {
                        return Ok(LogRead::Records(records));
                    }
                }
                Group::End => {
                    self.position = LogPosition::start_of(self.position.log + 1);
                    self.open = None;
                    (is_fresh, must_end) = (false, false);
                }
                Group::Unknown if !is_fresh => self.open = None,
                Group::Unknown => {
                    self.open = None;
                    if let Some(generation) = self.committed()? {
                        return Ok(LogRead::Committed { generation });
                    }
                    if must_end {
                        return Err(self.lost(None));
                    }
                    if !self.is_followed()? {
                        return Ok(LogRead::Pending);
                    }
                    // It may have ended since it was read.
                    (is_fresh, must_end) = (false, true);
                }
            }
        }
    }

    fn next_group(&mut self) -> Result<Group, IndexError> {
        let (at, seed) = (self.position, self.seed());
        let Some(open) = &mut self.open else {
            return Ok(Group::Unknown);
        };
        let Some(head) = open.head(at.offset, seed)? else {
            let later = open.later_head(at.offset, seed)?;
            return self.after_unreadable(later);
        };
        if head.first_record > at.record {
            return Err(self.lost(Some(head.first_record - at.record)));
        }
        let next = LogPosition {
            log: at.log,
            offset: at.offset + head.group_bytes() as u64,
            record: head.first_record + u64::from(head.records),
        };
        let payload_at = at.offset + HEAD_BYTES as u64;
        let payload = open.get(payload_at..payload_at + u64::from(head.payload_bytes))?;
        let records = payload.and_then(|payload| read_records(payload, &head, seed));
        match (records, head.kind) {
            (Some(_), GroupKind::End) => Ok(Group::End),
            (Some(records), GroupKind::Mark) => Ok(Group::Records(records, next)),
            (Some(records), GroupKind::Records) => {
                match open.later_head(next.offset, seed)?.is_some() {
                    true => Ok(Group::Records(records, next)),
                    false => Ok(Group::Unknown),
                }
            }
            (None, _) => {
                let later = open.later_head(at.offset + ALIGNMENT as u64, seed)?;
                self.after_unreadable(later)
            }
        }
    }

    /// Returns what follows a group that cannot be read, given the next valid head and its offset.
    fn after_unreadable(&self, later: Option<(u64, Head)>) -> Result<Group, IndexError> {
        match later {
            None => Ok(Group::Unknown),
            // It had no records: a mark.
            Some((offset, later)) if later.first_record <= self.position.record => {
                let next = LogPosition {
                    offset,
                    ..self.position
                };
                Ok(Group::Records(Vec::new(), next))
            }
            Some((_, later)) => Err(self.lost(Some(later.first_record - self.position.record))),
        }
    }

    /// Returns the newest generation where that contains the log of the position.
    fn committed(&mut self) -> Result<Option<u64>, IndexError> {
        let newest = manifest::newest(&self.storage)?;
        if newest != self.newest.map(|(generation, _)| generation) {
            let manifest = match manifest::read_newest(&self.storage) {
                Ok(Some(manifest)) => manifest,
                Ok(None) => return Ok(None),
                // Two commits since it was listed.
                Err(IndexError::Storage(StorageError::NotFound { path })) => {
                    return Err(IndexError::Changed { path });
                }
                Err(error) => return Err(error),
            };
            if manifest.index_id() != self.index_id {
                return Err(IndexError::Mismatch {
                    path: self.storage.location(),
                    reason: "another index is here than the one whose log was read; open it anew"
                        .into(),
                });
            }
            self.newest = Some((manifest.generation, manifest.logged));
        }
        let newest = self
            .newest
            .filter(|&(_, logged)| logged >= self.position.log);
        Ok(newest.map(|(generation, _)| generation))
    }

    /// Returns whether a later log has begun, which proves that the log of the position has ended.
    fn is_followed(&self) -> Result<bool, IndexError> {
        let names = self.storage.list()?;
        let later = names.iter().filter_map(|name| log_number(name));
        for number in later.filter(|&number| number > self.position.log) {
            let name = log_name(number);
            let seed = Seed::new(self.index_id, number);
            match self.storage.open_file(&name) {
                Ok(file) => {
                    let path = self.storage.location().join(name);
                    if Window::new(file, path).head(0, seed)?.is_some() {
                        return Ok(true);
                    }
                }
                Err(StorageError::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(false)
    }

    fn lost(&self, records: Option<u64>) -> IndexError {
        IndexError::LogLost {
            loss: Box::new(LogLoss {
                path: self.path(),
                offset: self.position.offset,
                first_record: self.position.record,
                records,
            }),
        }
    }

    fn path(&self) -> PathBuf {
        self.storage.location().join(log_name(self.position.log))
    }

    fn seed(&self) -> Seed {
        Seed::new(self.index_id, self.position.log)
    }
}

/// Open log, and some of its bytes.
#[derive(Debug)]
struct Window {
    file: OpenFile,
    path: PathBuf,
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    fn new(file: OpenFile, path: PathBuf) -> Window {
        Window {
            file,
            path,
            start: 0,
            bytes: Vec::new(),
        }
    }

    /// Returns bytes of the log; `None` where it is shorter.
    fn get(&mut self, range: Range<u64>) -> Result<Option<&[u8]>, StorageError> {
        let length = self.file.length();
        if range.end > length {
            return Ok(None);
        }
        let end = self.start + self.bytes.len() as u64;
        if range.start < self.start || range.end > end {
            let wanted = range.start..length.min(range.end.max(range.start + WINDOW_BYTES));
            self.bytes = self.file.read(&self.path, wanted)?;
            self.start = range.start;
        }
        let from = (range.start - self.start) as usize;
        Ok(self
            .bytes
            .get(from..from + (range.end - range.start) as usize))
    }

    /// Returns the head at an offset; `None` where there is no valid one.
    fn head(&mut self, offset: u64, seed: Seed) -> Result<Option<Head>, StorageError> {
        let bytes = self.get(offset..offset + HEAD_BYTES as u64)?;
        Ok(bytes.and_then(|bytes| Head::read(bytes, seed)))
    }
    /// Returns the first valid head at or after the offset of a sector, and its offset; `None` where there is none. Asks
    /// no newer state of the log: what was torn when it was opened may be whole by now.
    fn later_head(&mut self, offset: u64, seed: Seed) -> Result<Option<(u64, Head)>, StorageError> {
        if let Some(head) = self.head(offset, seed)? {
            return Ok(Some((offset, head)));
        }
        let length = self.file.length();
        if offset >= length {
            return Ok(None);
        }
        let (bytes, start) = match &self.file {
            OpenFile::Region(region) => (region.clone(), 0),
            OpenFile::Handle(_) => {
                let rest = self.file.read(&self.path, offset..length)?;
                (Region::new(rest), offset)
            }
        };
        let from = usize::try_from(offset - start).unwrap_or(usize::MAX);
        Ok(find_head(&bytes, from, seed).map(|(at, head)| (start + at as u64, head)))
    }
}
