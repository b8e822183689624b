//! The checks of `crates/crawl/examples/frontier.rs` on fjall: is a URL known? If not, it is stored with a record of 20 bytes.
//!
//! `cargo run --release --manifest-path bench/crawl/fjall/Cargo.toml -- URLS [CHECKS_PER_URL] [DIRECTORY]`
//!
//! The same URLs in the same order, keys in the frontier's order (host, then path), a sync after every 100,000 checks.
//! Settings are fjall's, with compression (LZ4) in all levels.
use fjall::{Database, KeyspaceCreateOptions, PersistMode};
use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use urls::{host_and_path, mix, resident_mb};

#[path = "../../urls.rs"]
mod urls;

/// The key of a URL: its host reversed, then its path.
fn key(out: &mut String, number: u64) -> Result<(), std::fmt::Error> {
    let (host, path) = host_and_path(number);
    out.clear();
    write!(out, "example.host-{host}.www:https{path}")
}

fn disk_bytes(path: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += match metadata.is_dir() {
            true => disk_bytes(&entry.path())?,
            // Blocks that are allocated: journals are made at their full length.
            false => std::os::unix::fs::MetadataExt::blocks(&metadata) * 512,
        };
    }
    Ok(bytes)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let urls: u64 = arguments.next().unwrap_or("1000000".into()).parse()?;
    let checks: u64 = urls * arguments.next().unwrap_or("2".into()).parse::<u64>()?;
    let temporary = tempfile::tempdir()?;
    let directory = arguments
        .next()
        .map_or(temporary.path().to_owned(), Into::into);
    let begun = Instant::now();
    let database = Database::builder(&directory).open()?;
    let known = database.keyspace("urls", KeyspaceCreateOptions::default)?;
    let (mut seed, mut text, mut longest) = (1, String::new(), Duration::ZERO);
    let mut new = 0_u64;
    for check in 0..checks {
        key(&mut text, mix(&mut seed) % urls)?;
        let call = Instant::now();
        if !known.contains_key(&text)? {
            let mut record = [0; 20];
            record[..8].copy_from_slice(&seed.to_le_bytes());
            known.insert(text.as_str(), record)?;
            new += 1;
        }
        if check % 100_000 == 0 {
            database.persist(PersistMode::SyncAll)?;
        }
        longest = longest.max(call.elapsed());
    }
    database.persist(PersistMode::SyncAll)?;
    let seconds = begun.elapsed().as_secs_f64();
    println!("{new} URLs known after {checks} checks in {seconds:.1} s");
    println!(
        "{:.0} checks/s, longest call {:.3} s",
        checks as f64 / seconds,
        longest.as_secs_f64()
    );
    println!("{} MB of memory", resident_mb());
    let compacting = Instant::now();
    known.rotate_memtable_and_wait()?;
    known.major_compact()?;
    println!(
        "{:.1} bytes/URL in the tables after merges of {:.1} s; {:.1} on the disk with its journals",
        known.disk_space() as f64 / new as f64,
        compacting.elapsed().as_secs_f64(),
        disk_bytes(&directory)? as f64 / new as f64
    );
    drop((known, database));
    let begun = Instant::now();
    let database = Database::builder(&directory).open()?;
    let known = database.keyspace("urls", KeyspaceCreateOptions::default)?;
    key(&mut text, mix(&mut 1) % urls)?;
    assert!(known.contains_key(&text)?);
    println!("reopened in {:.2} s", begun.elapsed().as_secs_f64());
    Ok(())
}
