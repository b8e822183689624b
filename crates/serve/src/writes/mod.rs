//! Writing over HTTP, at the admin address: documents are put, patched, deleted and read, refreshes asked for, and
//! rules of relevance replaced.
//!
//! ```text
//! request ──► receive: as it comes ──► apply: decompressed, read in batches ──► ingest::LiveWriter ──► durable ──► outcome
//! ```
//!
//! Each request works on a thread of its own: it waits for a sync of the disk. Its memory does not depend on the length
//! of its body, only on that of its largest document.

mod routes;

mod apply;
mod body;
mod decoded;
mod opened;
mod outcome;
mod parameters;
mod rules;

pub(crate) use routes::with_routes;
