//! Merges beside commits: small segments become one on a thread of the caller, while commits go on.
//!
//! ```text
//! plan: sources, numbers and files are reserved ──► run: segments and statistics, beside commits ──► install: a commit
//!                                                                                                   puts them in place
//! ```
//!
//! The caller has the writer lock, plans with the snapshot of its last commit, and gives the reservation to every commit
//! until the merge is installed or given up. Meanwhile commits use other numbers, keep the files that the merge reads,
//! and do not remove those that it writes. Documents that they delete from the sources are found in the merged segments
//! by their numbers: a document keeps its place among the live documents of its sources.
//!
//! Nothing of a merge is visible before it is installed. After an end of the process its files are those of an
//! unfinished generation, which the next writer removes.

mod install;
mod plan;
mod run;

pub use install::MergedSegments;
pub use plan::{MergeJob, MergePolicy};
