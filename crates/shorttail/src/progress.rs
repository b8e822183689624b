//! Progress of what takes long.

use crate::cancel::CancelToken;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Written bytes between two reports.
const REPORT_BYTES: u64 = 256 << 10;

/// Progress of a writer or of an optimization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Documents added so far.
    pub documents: u64,
    /// Bytes written to files so far, temporary ones included.
    pub bytes_written: u64,
    /// Work done on the order of documents, and all of it, in an arbitrary unit; `None` while there is none.
    pub reordering: Option<(u64, u64)>,
}

/// Callback for progress. Threads that write call it.
pub(crate) type OnProgress = Arc<dyn Fn(Progress) + Send + Sync>;

/// State of work that is watched: what it did, the callback for it, and whether it was cancelled.
#[derive(Clone, Default)]
pub(crate) struct Watch {
    pub(crate) token: Option<CancelToken>,
    pub(crate) on_progress: Option<OnProgress>,
    figures: Arc<Figures>,
}

#[derive(Debug, Default)]
struct Figures {
    documents: AtomicU64,
    bytes_written: AtomicU64,
}

impl Watch {
    pub(crate) fn is_cancelled(&self) -> bool {
        self.token.as_ref().is_some_and(CancelToken::is_cancelled)
    }

    pub(crate) fn count_document(&self) {
        self.figures.documents.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts bytes written, and reports each [`REPORT_BYTES`].
    pub(crate) fn count_bytes(&self, bytes: u64) {
        let before = self
            .figures
            .bytes_written
            .fetch_add(bytes, Ordering::Relaxed);
        if before / REPORT_BYTES != (before + bytes) / REPORT_BYTES {
            self.report(None);
        }
    }

    pub(crate) fn report(&self, reordering: Option<(u64, u64)>) {
        if let Some(on_progress) = &self.on_progress {
            on_progress(Progress {
                documents: self.figures.documents.load(Ordering::Relaxed),
                bytes_written: self.figures.bytes_written.load(Ordering::Relaxed),
                reordering,
            });
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("token", &self.token)
            .field("figures", &self.figures)
            .finish_non_exhaustive()
    }
}
