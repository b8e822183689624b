//! The live writer: what it acknowledges survives, what it answers follows the order of changes, and its history leaves
//! no trace in the index. With `SHORTTAIL_FULL=1` at the sizes of docs/reliability.md, which takes minutes a test.

mod child;
#[cfg(unix)]
mod deciding;
mod failing;
mod following;
mod histories;
mod killed;
mod made;
mod power;
mod racing;
mod resuming;
mod rules;
mod syscalls;
mod unrecovered;
mod writing;
