//! What all subcommands of the program `shorttail` share: how they open an index, and how they speak to people.
//!
//! ```text
//!   in    opened, ranking, query_file, kernels      an index, a file of queries, forms of kernels
//!   out   failure, figures, meter, terminal         errors, numbers, progress, safe text
//!         interrupt                                 Ctrl-C and SIGTERM
//! ```

pub mod failure;
pub mod figures;
pub mod interrupt;
pub mod kernels;
pub mod meter;
pub mod opened;
pub mod query_file;
pub mod ranking;
pub mod terminal;
