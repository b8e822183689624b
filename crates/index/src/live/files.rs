//! Files of one open index, and the epoch of their states.

use super::file::{LiveFile, Which};
use super::trust::{Alarm, Trust};
use crate::IndexError;
use crate::sealed::Kind;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Moment before an answer was begun: the epoch of all files at that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadStart(pub(crate) u64);

impl ReadStart {
    /// Returns the epoch: it rises with each change of the trust in a file, and no two open indexes of a process have the
    /// same.
    pub fn epoch(self) -> u64 {
        self.0
    }
}

/// Answers that read a file after its opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readers {
    /// None: its contents are in memory, and were examined after they were read.
    None,
    /// Every plan, and so every search of any part of the index.
    Plans,
    /// Searches of the part of the index that has its segment.
    Searches,
    /// Look-ups of documents.
    LookUps,
}

impl Kind {
    /// Returns the answers that read files of this kind. Their examinations cover the file
    /// ([`crate::Index::verify_search`], [`crate::Index::verify_texts`]).
    pub(crate) fn readers(self) -> Readers {
        match self {
            Kind::Manifest | Kind::Deletions => Readers::None,
            Kind::Segment | Kind::Statistics => Readers::Plans,
            Kind::Pairs | Kind::Columns => Readers::Searches,
            Kind::Documents => Readers::LookUps,
        }
    }
}

/// Files of an open index.
#[derive(Debug)]
pub(crate) struct LiveFiles {
    pub(crate) all: Vec<Arc<LiveFile>>,
    /// Files that planning may read: statistics, and all segments.
    pub(crate) planned_with: Vec<Arc<LiveFile>>,
    pub(crate) statistics: Vec<Arc<LiveFile>>,
    pub(crate) alarm: Arc<Alarm>,
    /// Offset of the epoch, different for every opened index.
    pub(crate) opened: u64,
}

impl LiveFiles {
    /// Collects the files of an index that was just opened, which are the `named_count` ones of its manifest; `alarm` is that of an
    /// index with shared files. Waits until every stamp shows every later change; fails where a file changed meanwhile.
    pub(crate) fn settled(
        all: Vec<Arc<LiveFile>>,
        named_count: usize,
        alarm: Arc<Alarm>,
    ) -> Result<LiveFiles, IndexError> {
        let opened_count = all.len();
        assert_eq!(
            named_count, opened_count,
            "no file of an open index is left out of examinations"
        );
        // Multiples of 2^32, so that a plan of one index is never taken for one of another index of the same
        // generation.
        static OPENED: AtomicU64 = AtomicU64::new(0);
        for file in &all {
            if file.alarm.get().is_none()
                && let Some(missed) = file.last_missed()
            {
                // What was read at opening is kept, so no failed fetch may be in it.
                return Err(missed);
            }
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
        let selected = |is_it: &dyn Fn(Kind) -> bool| {
            let files = all.iter().filter(|file| is_it(file.kind));
            files.cloned().collect::<Vec<_>>()
        };
        Ok(LiveFiles {
            planned_with: selected(&|kind| kind.readers() == Readers::Plans),
            statistics: selected(&|kind| kind == Kind::Statistics),
            all,
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

    pub(crate) fn epoch(&self) -> u64 {
        self.opened + self.alarm.epoch.load(Ordering::Acquire)
    }
}
