//! Files of an open index, and whether their bytes are still those that were verified.
//!
//! ```text
//! trusted ──stamp differs──► suspect ──verifies──► trusted
//!    │                          └──does not──┐
//!    └──does not verify, or a page was lost──┴──► damaged: for good, as far as this opened index goes
//! ```
//!
//! Blocks are verified when they are first touched ([`crate::section`]), and which were is kept here. An answer is computed
//! first and examined afterwards ([`crate::Index::verify_search`]): where the stamps of all files that were read are those
//! from before any block was verified, every byte read was a verified one. So kernels verify nothing, and an examination
//! costs one system call a file. What a stamp cannot tell ([`vfs::FileStamp`]) is found
//! by verifying files again in the background ([`crate::Index::verify_again`]).
//!
//! Every change of a state raises the epoch, which all indexes share that have files in common. An answer counts only if the epoch is the one from before it was
//! begun: bytes may go bad, be read, be put right and be verified again, all before the answer is examined.

mod blocks;
mod change;
mod examine;
mod file;
mod files;
#[cfg(test)]
mod tests;
mod trust;

pub use crate::sealed::EachPiece;
pub(crate) use file::LiveFile;
pub(crate) use files::LiveFiles;
pub use files::ReadStart;
pub use trust::Trust;
