//! Trust in the files of an open index: whether their bytes are still those that were verified.
//!
//! ```text
//! trusted ──stamp differs──► suspect ──verifies──► trusted
//!    │                          └──does not──┐
//!    └──does not verify, or a page was lost──┴──► damaged, until the index is opened again
//! ```
//!
//! Blocks are verified at their first touch (module `section`); this module records the verified ones. An answer is
//! computed first and examined afterwards ([`crate::Index::verify_search`]). If the stamps of all files that were read
//! are those from before any block was verified, every byte read was a verified one. So kernels verify nothing, and an
//! examination costs one system call per file. Verification in the background ([`crate::Index::verify_again`]) finds
//! changes that a stamp does not show ([`vfs::FileStamp`]).
//!
//! A storage that cannot map has its blocks fetched before they are verified (module `fetching`). A fetch that fails for now
//! changes no state, and raises the epoch.
//!
//! Every change of a state raises the epoch, which all indexes with common files share. An answer counts only if the
//! epoch is the one from before it was begun: bytes may go bad, be read, be restored and be verified again, all before
//! the answer is examined.

mod blocks;
mod change;
mod derived;
mod fetching;
mod file;
mod files;
#[cfg(test)]
mod injuries;
#[cfg(test)]
mod tests;
mod trust;

pub use crate::sealed::EachPiece;
pub(crate) use derived::Derived;
pub(crate) use file::{LiveFile, Which};
pub(crate) use files::LiveFiles;
pub use files::ReadStart;
pub use trust::Trust;
