//! Embeddable document search: create an index, add and delete documents, search them.
//!
//! ```
//! use shorttail::{Document, Index};
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path();
//!
//! let index = Index::create(path)?;
//! let mut writer = index.writer()?;
//! writer.add(Document::new("https://a.example/").title("A short tail").body("Short is the wait."))?;
//! writer.commit()?;
//! for hit in index.search("short wait")?.hits {
//!     println!("{:.2} {} {}\n{}", hit.score, hit.title, hit.url, hit.summary);
//! }
//! # assert_eq!(index.search("short wait")?.hits[0].summary, "<mark>Short</mark> is the <mark>wait</mark>.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Index`] creates, opens, searches; any number of threads may share it.
//! - [`Writer`] adds and deletes; a commit makes all of it durable and searchable, or nothing.
//! - [`Query`] is a text as users type it, or clauses that a program makes.
//! - [`SearchRequest`] says what the [`Answer`] has: page, [contents of hits](HitContents), filters, order, [`Facet`]s, explanations, limits of time.
//! - [`CancelToken`] ends what takes long from another thread; [`Progress`] tells how far it is.
//!
//! All work is done on the calling thread and on threads that it waits for. Nothing here reads files of other formats,
//! opens a network connection, or changes the process: signal handlers are installed by [`survive_lost_pages`] alone.

mod answer;
mod cancel;
mod document;
mod error;
mod facet;
mod index;
mod optimize;
mod progress;
mod query;
mod request;
mod request_form;
mod searching;
mod suggested;
mod watched_storage;
mod writer;

pub use crate::answer::{Answer, Hit, HitNumbers, Times, Total};
pub use crate::cancel::CancelToken;
pub use crate::document::{Document, FieldKind};
pub use crate::error::{Error, Result};
pub use crate::facet::{Bucket, Facet, FacetCounts, Period, Stats};
pub use crate::index::{Index, IndexBuilder};
pub use crate::optimize::{DocumentOrder, Optimizer};
pub use crate::progress::Progress;
pub use crate::query::{FieldValue, Query};
pub use crate::request::{HitContents, Ranking, SearchRequest, Words};
pub use crate::suggested::SuggestedTitle;
pub use crate::writer::{Commit, Writer, WriterBuilder};
/// Further fields of a document, by name.
pub use json::Map as Fields;
/// Number as JSON writes it.
pub use json::Number;
/// Value of a field as JSON, whose numbers are kept as they were written.
pub use json::Value;

/// Installs a handler of the signal SIGBUS for the whole process, once: a file of an open index that is truncated, or that
/// the disk cannot give, is an error of the search that reads it. Without the handler the system ends the process.
///
/// A library does not decide that for its host, so the host calls it. Other faults take the course that they took before.
/// Does nothing on systems other than Linux.
///
/// ```
/// shorttail::survive_lost_pages();
/// ```
pub fn survive_lost_pages() {
    vfs::survive_lost_pages();
}
