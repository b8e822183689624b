//! WARC files: a reader of WARC 1.0, 1.1 and ARC 1, and a writer of WARC 1.1.
//!
//! ```text
//! file    := member{record}*                one gzip member a record; records of a member also without gzip
//! record  := "WARC/1.1" CRLF {name ": " value CRLF}* CRLF block[Content-Length] CRLF CRLF
//! arc     := {uri SP ip SP date14 SP type SP length LF block[length] LF}*
//! block   := http head, CRLF CRLF, body     of request, response, and most revisit records
//! ```
//!
//! The reader is a stream: it never seeks, holds one record up to a limit, and reads on behind damage, at the next
//! gzip member or the next line that begins a record. Records that share a member, or that are split over several,
//! are read all the same; such files exist.
//!
//! The writer keeps no clock and no randomness: dates and the seed of record ids are arguments, so that the same
//! calls give the same bytes. A file cut anywhere is brought back to its last whole record by [`recover`].

mod body;
mod digest;
mod error;
mod head;
mod http;
mod reader;
mod record;
mod recover;
mod source;
mod stream;
mod writer;

pub use body::{Body, BodyNote, decoded_body};
pub use digest::{Digest, DigestCheck};
pub use error::Problem;
pub use http::HttpHead;
pub use reader::{Item, Limits, Reader};
pub use record::{Kind, Place, Record};
pub use recover::recover;
pub use writer::{About, Profile, RecordId, Writer, Written};

#[cfg(test)]
mod tests;
