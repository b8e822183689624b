//! Times and sizes as people write them: a number and its unit.
//!
//! ```text
//! quantity := number unit | "0"
//! number   := digits ["." digits]
//! time     := "ns" | "us" | "µs" | "ms" | "s" | "m" | "min" | "h" | "d"
//! size     := "B" | "K" | "KiB" | "M" | "MiB" | "G" | "GiB" | "T" | "TiB"      powers of 1024
//!           | "kB" | "MB" | "GB" | "TB"                                        powers of 1000
//! ```
//!
//! Times distinguish upper and lower case, sizes do not. A number without a unit is refused unless it is 0 or the reader
//! has a plain unit ([`Times::plain`], [`Sizes::plain`]): options that took plain numbers before still read them.
//!
//! Every option of the program that takes a time or a size is read here, so that all say the same of what they refuse.

mod number;
mod size;
mod time;

pub use size::{Size, SizeUnit, Sizes};
pub use time::{Time, TimeUnit, Times};
