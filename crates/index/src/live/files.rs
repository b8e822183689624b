//! Files of one open index, and the epoch of their states.

use super::file::{LiveFile, Which};
use super::trust::{Alarm, Trust};
use crate::IndexError;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Moment before an answer was begun: the epoch of all files at that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadStart(pub(super) u64);

/// Files of an open index.
#[derive(Debug)]
pub(crate) struct LiveFiles {
    pub(super) all: Vec<Arc<LiveFile>>,
    /// Files that planning may read: statistics, and all segments.
    pub(super) planned_with: Vec<Arc<LiveFile>>,
    pub(super) statistics: Vec<Arc<LiveFile>>,
    pub(super) alarm: Arc<Alarm>,
    /// Offset of the epoch, different for every opened index.
    pub(super) opened: u64,
}

impl LiveFiles {
    /// Collects the files of an index that was just opened; `alarm` is that of an index with shared files. Waits until
    /// every stamp shows every later change; fails where a file changed meanwhile.
    pub(crate) fn settled(
        all: Vec<Arc<LiveFile>>,
        planned_with: Vec<Arc<LiveFile>>,
        statistics: Vec<Arc<LiveFile>>,
        alarm: Arc<Alarm>,
    ) -> Result<LiveFiles, IndexError> {
        // Multiples of 2^32, so that a plan of one index is never taken for one of another index of the same
        // generation.
        static OPENED: AtomicU64 = AtomicU64::new(0);
        for file in &all {
            let _ = file.alarm.set(Arc::clone(&alarm));
            if !file.unsettled_for().is_zero() {
                file.verify_again(Which::Verified, &mut |_| ControlFlow::Continue(()))?;
            }
            file.examine();
            if file.trust() == Trust::Suspect {
                let path = file.path.clone();
                return Err(IndexError::Changed { path });
            }
            file.ensure_trusted()?;
        }
        Ok(LiveFiles {
            all,
            planned_with,
            statistics,
            alarm,
            opened: OPENED.fetch_add(1, Ordering::Relaxed) << 32,
        })
    }

    pub(crate) fn alarm(&self) -> &Arc<Alarm> {
        &self.alarm
    }

    /// Returns the paths of the trusted files.
    pub(crate) fn trusted(&self) -> HashSet<&Path> {
        let trusted = self.all.iter().filter(|file| file.is_trusted());
        trusted.map(|file| file.path.as_path()).collect()
    }

    pub(super) fn epoch(&self) -> u64 {
        self.opened + self.alarm.epoch.load(Ordering::Acquire)
    }
}
