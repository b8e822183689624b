//! Shorttail behind the protocol of the comparison of filters, facets and sorting.
//!
//! ```text
//! index CORPUS DIR --ram-mb M           one line of JSON
//! serve DIR MODE QUERIES FILTERS        "READY n", then line by line:
//!     pass     →  P ns ns …                                        every query once; a number a query
//!     results  →  R \t count \t score \t url \t check (a query each), END      of the latest pass
//!     quit
//! nrt CORPUS DIR QUERIES --secs S --base S --durable S [--rate R]      one line of JSON
//! ```
//!
//! Modes are described in `mode`. The time of a query runs from its text to its answer: analysis, query, plan, search,
//! facets. The URL of the best hit and the text of `check` are made outside.

mod build;
mod check;
mod engine;
mod mode;
mod nrt;
mod serve;
#[path = "../../words.rs"]
mod words;

use std::error::Error;
use std::path::Path;

/// Result of anything here.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["index", corpus, directory, "--ram-mb", ram_mb] => {
            build::index(Path::new(corpus), Path::new(directory), ram_mb.parse()?)
        }
        ["serve", directory, mode, queries, filters] => {
            // As servers do at start.
            codec::calibrate();
            let engine = engine::Engine::open(Path::new(directory), mode, Path::new(filters))?;
            serve::serve(&engine, Path::new(queries))
        }
        ["nrt", corpus, directory, queries, ref options @ ..] => {
            codec::calibrate();
            let [corpus, directory, queries] = [corpus, directory, queries].map(Path::new);
            nrt::run(corpus, directory, queries, &nrt::Sizes::parse(options)?)
        }
        _ => Err(
            "usage: index CORPUS DIR --ram-mb M | serve DIR MODE QUERIES FILTERS | \
                  nrt CORPUS DIR QUERIES --secs S --base S --durable S [--rate R]"
                .into(),
        ),
    }
}
