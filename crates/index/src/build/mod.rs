//! Construction of segments from documents, one segment for each partition.
//!
//! ```text
//! documents ─┬─ documents: rows, details, texts, in order of arrival ──────┐
//!            └─ inverter: words, on any thread ── run ── … ── run          │
//!                                                  └── merge ── encode ────┴── segment
//! ```

pub(crate) mod documents;
pub(crate) mod run;
pub(crate) mod segment;

mod arena;
mod encode;
mod gaps;
mod inverter;
pub(crate) mod merge;
mod pipeline;
mod vocabulary;
mod written_words;
