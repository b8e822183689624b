//! Damage that the reader of WARC files names and reads past.

/// Damage at a place of a file. Reading goes on behind it where there is a next record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file ends inside a record.
    #[error("byte {offset}: the file ends inside this record; cut the file here")]
    Torn {
        /// Place in the file where the torn record, or its gzip member, begins.
        offset: u64,
    },
    /// A gzip member that cannot be decompressed, or whose checksum is wrong.
    #[error("byte {offset}: damaged gzip member ({what}); its record is left out")]
    DamagedMember {
        /// Place of the member in the file.
        offset: u64,
        /// The decoder's finding.
        what: String,
    },
    /// Bytes that belong to no record.
    #[error("byte {offset}: {bytes} bytes that are no record; passed over")]
    NotARecord {
        /// Place in the file, that of the gzip member for compressed files.
        offset: u64,
        /// Number of decoded bytes passed over.
        bytes: u64,
    },
    /// A head that is no head of a record.
    #[error("byte {offset}: {what}; the record is left out")]
    BadHead {
        /// Place of the record.
        offset: u64,
        /// The fault.
        what: &'static str,
    },
    /// A record whose block is shorter than its length says; the record is given with the bytes found.
    #[error("byte {offset}: the record says {declared} bytes and has {found}")]
    ShortBlock {
        /// Place of the record.
        offset: u64,
        /// Length that the head names.
        declared: u64,
        /// Bytes before the next record begins.
        found: u64,
    },
    /// A record too long to be decoded to its end.
    #[error("byte {offset}: the record has more than {max} decoded bytes; it is left out")]
    TooLong {
        /// Place of the record.
        offset: u64,
        /// Limit in bytes.
        max: u64,
    },
}

impl Problem {
    /// Returns the place of the damage in the file, in bytes.
    pub fn offset(&self) -> u64 {
        match self {
            Problem::Torn { offset }
            | Problem::DamagedMember { offset, .. }
            | Problem::NotARecord { offset, .. }
            | Problem::BadHead { offset, .. }
            | Problem::ShortBlock { offset, .. }
            | Problem::TooLong { offset, .. } => *offset,
        }
    }
}
