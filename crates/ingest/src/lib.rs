//! Live writer: documents are put, changed and deleted while the index is searched.
//!
//! ```text
//! apply ──► pending changes ──refresh, once a second──► commit: a new generation, searched from then on
//!    │           ▲   look-ups by URL see them at once
//!    └──► queue ─┴─group commit──► write-ahead log (index::LogWriter): acknowledged, survives a loss of power
//!
//! many segments ──merge thread, at its own pace──► one segment ──► installed by a refresh
//! ```
//!
//! Another process follows a writer by its log: [`LogReader`] gives the acknowledged changes after a generation, and says
//! when a commit has them.
//!
//! Invariants: a change is acknowledged only when a log that will be replayed, or a generation, has it durably; a log is
//! removed only after the commit that contains it; changes of one URL take effect in the order in which they were
//! accepted.

mod change;
mod consider;
mod detecting_writer;
mod error;
mod group_commit;
mod live_writer;
mod merge_state;
mod merging;
mod options;
mod pace;
mod paced_storage;
mod pending;
mod refresh;
mod resuming_writer;
mod shared;
mod version;

pub use change::{Condition, ConditionalChange, Outcome};
pub use detecting_writer::{Chosen, DetectingWriter};
pub use document::Change;
pub use error::LiveError;
pub use index::{LogPosition, LogRead, LogReader, LogRecord};
pub use live_writer::LiveWriter;
pub use options::LiveOptions;
pub use resuming_writer::ResumingWriter;
pub use shared::LiveStatus;
pub use version::Version;
