//! The index: building, commits, opening and checks of segments, and the document store beside them.
//!
//! ```text
//! documents ──Writer──► new segments ──commit──► MANIFEST-<n>
//!                                                              │
//!            Index (a snapshot) ◄──open: headers, footers──────┘
//!              ├─ Segment: terms, postings, positions, lengths, details
//!              ├─ Statistics: of the whole index, so that scores do not depend on chunks
//!              └─ DocumentStore: the text, found by the URL's hash
//! ```
//!
//! The first read of a block verifies its checksum. The crate knows nothing of queries. All disk access goes through
//! `vfs`.

mod backup;
mod build;
pub mod check;
mod chunks;
pub mod columns;
mod decode_replay;
mod deletions;
mod derive;
pub mod error;
mod examine;
pub mod ids;
pub mod layout;
pub mod leftovers;
pub mod length;
pub mod live;
mod log;
mod lookup;
mod manifest;
mod merging;
mod names;
mod opener;
pub mod optimize;
mod order;
mod pairing;
pub mod postings;
pub mod preload;
mod reservation;
mod row_text;
mod sealed;
mod section;
pub mod segment;
pub mod snapshot;
mod sources;
mod spill;
pub mod statistics;
pub mod store;
mod terms;
mod uint;
pub mod writer;
mod written;

pub use backup::{BackupProgress, BackupSummary, back_up, restore};
pub use check::{CheckReport, check};
pub use columns::{BLOCK_DOCUMENTS, CodeRange, Column, LIST_BYTES_MAX, ListFigures, list_figures};
pub use derive::FieldSummary;
pub use error::IndexError;
pub use ids::{DocId, Field};
pub use layout::Layout;
pub use leftovers::{Stray, StrayKind, Unfinished, entries_beside, find_foreign, find_unfinished};
pub use live::{ReadStart, Trust};
pub use log::{
    LogBatch, LogLoss, LogPosition, LogRead, LogReader, LogRecord, LogWriter, has_changes_beyond,
};
pub use merging::{MergeJob, MergePolicy, MergedSegments};
pub use optimize::{OptimizeOptions, OptimizeProgress, OptimizeSummary, optimize};
pub use order::Order;
pub use postings::{
    Blocks, BlocksWork, Bounds, Impact, ListWork, Place, Postings, PostingsCodec, Replay, Span,
    count_followed, watch_blocks, watch_lists,
};
pub use preload::{PreloadParts, preload, preload_after};
pub use reservation::MergeReservation;
pub use segment::pairs::{PairRecord, Pairs};
pub use segment::{Details, DetailsReader, Segment, SiteNames, TITLES_MAX, TermRecord, TitleFound};
pub use snapshot::Index;
pub use statistics::{
    NearTerm, NearWord, PatternTerm, Statistics, TermPlace, TermPlaces, TermStatistics, WrittenTerm,
};
pub use store::{DocumentStore, StoredDocument, TextKey, Texts};
pub use terms::{LookUpStep, TermHash};
pub use writer::{BuildOptions, CommitSummary, Merging, Recovery, WriteLock, Writer};
pub use writer::{recover, recover_locked};
