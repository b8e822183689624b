//! A real tree of pages at size: crawled from loopback, and compared with the walk of an oracle.
//!
//! `cargo run --release -p shorttail-crawl --example tree -- FOLDER`
//!
//! FOLDER has an `index.html`: of the documentation of the Rust toolchain, or of a manual as its package installs it.
//! Prints what is missing, and pages a second of wall-clock time, in which the server of the tree has its part.

#[path = "../tests/tree/mod.rs"]
mod tree;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use vfs::{RealStorage, SharedStorage};

fn main() {
    let folder = std::env::args().nth(1).map(PathBuf::from);
    let Some(root) = folder.or_else(|| tree::installed("")) else {
        eprintln!("give a folder with an index.html");
        return;
    };
    let begun = Instant::now();
    let expected = tree::walk(&root);
    println!(
        "{} pages reached by the oracle in {:.1} s",
        expected.len(),
        begun.elapsed().as_secs_f64()
    );
    let work = tempfile::tempdir().unwrap();
    let storage = |name| -> SharedStorage {
        Arc::new(RealStorage::create_directory(work.path().join(name)).unwrap())
    };
    let begun = Instant::now();
    let crawled = tree::crawled(&root, &storage("crawl"), &storage("index"));
    let seconds = begun.elapsed().as_secs_f64();
    let progress = &crawled.progress;
    println!(
        "{} pages in {seconds:.1} s, {:.0} pages/s, {} documents, {} with the text of another",
        progress.fetched,
        progress.fetched as f64 / seconds,
        crawled.documents,
        progress.duplicates,
    );
    let missing = crawled.missing(&expected);
    println!(
        "{} missing, of these: {:?}",
        missing.len(),
        &missing[..missing.len().min(20)]
    );
    let others = crawled.others(&expected);
    println!("{others} documents that the oracle did not reach");
}
