//! Writing over HTTP, at the admin address: documents are put, patched, deleted and read, and refreshes asked for.
//!
//! ```text
//! request ──► body: decompressed, split into objects ──► changes ──► ingest::LiveWriter ──► durable ──► outcome
//! ```
//!
//! Each request works on a thread of its own: it waits for a sync of the disk.

mod body;
mod outcome;
mod parameters;
mod routes;

pub(crate) use routes::with_routes;
