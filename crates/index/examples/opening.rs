//! Time and bytes of opening, reloading and committing: `opening build|segments|measure …`
//!
//! ```text
//! opening build DIR COPIES < corpus.jsonl    one segment: the documents, COPIES times, under new URLs
//! opening segments DIR COUNT                 COUNT commits of one document each
//! opening measure DIR                        figures; adds 105 documents, and replaces one
//! ```
//!
//! "cold" is with nothing of the index in the page cache (`POSIX_FADV_DONTNEED` on every file), "warm" with the pages
//! that the run before left there. Bytes read are those that the process caused to be read from the disk (`read_bytes`
//! of `/proc/self/io`), faults of mappings and read-ahead included; verified bytes are those whose checksums were
//! compared. A commit's syncs are timed separately, by a storage that times them.

use document::Document;
use index::{BuildOptions, DocId, Index, Writer};
use std::error::Error;
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use vfs::{RealStorage, SharedStorage, Storage, StorageDelegation, StorageError, WriteFile};

type Outcome<T> = Result<T, Box<dyn Error>>;

const OPENINGS: usize = 5;
const COMMITS: usize = 5;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["build", directory, copies] => build(directory.as_ref(), copies.parse()?),
        ["segments", directory, count] => segments(directory.as_ref(), count.parse()?),
        ["measure", directory] => measure(directory.as_ref()),
        _ => Err("usage: opening build DIR COPIES | segments DIR COUNT | measure DIR".into()),
    }
}

/// Builds an index of copies of the documents on standard input, in one commit.
fn build(directory: &Path, copies: usize) -> Outcome<()> {
    let mut documents = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let fields: serde_json::Value = serde_json::from_str(&line?)?;
        let text = |name: &str| fields[name].as_str().unwrap_or_default().to_owned();
        documents.push((text("url"), text("title"), text("body")));
    }
    let options = BuildOptions {
        threads: std::thread::available_parallelism()?.get(),
        memory_bytes: 2 << 30,
        ..BuildOptions::default()
    };
    let mut writer = Writer::open(Arc::new(RealStorage::create_directory(directory)?), options)?;
    for copy in 0..copies {
        for (url, title, body) in &documents {
            writer.add(Document {
                url: url.replacen("://", &format!("://copy-{copy}."), 1),
                title: title.clone(),
                body: body.clone(),
                ..Document::default()
            })?;
        }
    }
    println!("{:?}", writer.commit()?);
    Ok(())
}

/// Makes commits of one document each.
fn segments(directory: &Path, count: usize) -> Outcome<()> {
    let storage: SharedStorage = Arc::new(RealStorage::create_directory(directory)?);
    let begun = Instant::now();
    for number in 0..count {
        commit(&storage, "segment", number..number + 1)?;
    }
    println!("{count} commits in {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// Commits some small documents.
fn commit(storage: &SharedStorage, host: &str, numbers: std::ops::Range<usize>) -> Outcome<()> {
    let mut writer = Writer::open(storage.clone(), BuildOptions::default())?;
    for number in numbers {
        let words: String = (0..100)
            .map(|word| format!("w{} ", number * 7919 % 1000 + word * word % 613))
            .collect();
        writer.add(Document {
            url: format!("http://{host}.test/{number}"),
            title: format!("document {number}"),
            body: words,
            ..Document::default()
        })?;
    }
    writer.commit()?;
    Ok(())
}

fn measure(directory: &Path) -> Outcome<()> {
    let real: SharedStorage = Arc::new(RealStorage::open(directory)?);
    let mut lines = Vec::new();
    let index = Index::open(real.clone())?;
    println!(
        "{} documents in {} segments, {} files, {:.2} GB of index, {:.2} GB of texts",
        index.statistics().documents_count(),
        index.segments(..).count(),
        index.files_count(),
        index.index_bytes() as f64 / 1e9,
        index.store_bytes() as f64 / 1e9,
    );
    drop(index);
    for run in 0..2 * OPENINGS {
        let is_cold = run >= OPENINGS;
        if is_cold {
            forget(directory)?;
        }
        let what = if is_cold { "open, cold" } else { "open, warm" };
        let (index, line) = timed(|| Ok(Index::open(real.clone())?))?;
        lines.push((
            what,
            line,
            format!("{:.2} MB verified", verified_mb(&index)),
        ));
    }
    let mut open = Index::open(real.clone())?;
    let stamp = std::time::UNIX_EPOCH.elapsed()?.as_nanos();
    commit(&real, &format!("reload-{stamp}"), 0..100)?;
    // Files of a commit are too young to distinguish changes for 20 ms, which opening waits for.
    std::thread::sleep(Duration::from_millis(50));
    let before = verified_mb(&open);
    let (reloaded, line) = timed(|| {
        let index = Index::open_after(real.clone(), &open)?;
        index.verify_new(&open, 4 << 20)?;
        Ok(index)
    })?;
    let verified = format!("{:.2} MB verified", verified_mb(&reloaded) - before);
    lines.push(("reload after 100 documents", line, verified));
    open = reloaded;
    let timing = Arc::new(Timing::new(real.clone()));
    let storage: SharedStorage = timing.clone();
    for number in 0..COMMITS {
        let syncs_before = timing.synced();
        let host = format!("commit-{stamp}-{number}");
        let ((), line) = timed(|| commit(&storage, &host, 0..1))?;
        let synced = timing.synced() - syncs_before;
        lines.push((
            "commit of 1 document",
            line,
            format!("{synced:.1} ms of it syncs"),
        ));
    }
    let url = oldest_url(&open)?;
    let syncs_before = timing.synced();
    let ((), line) = timed(|| replace(&storage, url))?;
    let synced = timing.synced() - syncs_before;
    let syncs = format!("{synced:.1} ms of it syncs");
    lines.push(("commit that replaces 1", line, syncs));
    drop(open);
    for (what, (ms, read_mb), more) in lines {
        println!("{what:<28} {ms:9.1} ms {read_mb:9.2} MB read, {more}");
    }
    Ok(())
}

/// Returns the URL of the last live document of the first segment that has one.
fn oldest_url(index: &Index) -> Outcome<String> {
    for segment in index.segments(..) {
        let docs = (0..segment.documents_count()).map(DocId);
        if let Some(live) = docs.rev().find(|&doc| !segment.is_deleted(doc)) {
            return Ok(segment.details(live)?.url);
        }
    }
    Err("an index without documents".into())
}

fn replace(storage: &SharedStorage, url: String) -> Outcome<()> {
    let mut writer = Writer::open(storage.clone(), BuildOptions::default())?;
    writer.add(Document {
        url,
        body: "in the place of another".into(),
        ..Document::default()
    })?;
    writer.commit()?;
    Ok(())
}

/// Returns the milliseconds and the megabytes read from the disk.
fn timed<T>(run: impl FnOnce() -> Outcome<T>) -> Outcome<(T, (f64, f64))> {
    let (begun, read_before) = (Instant::now(), disk_bytes_read()?);
    let done = run()?;
    let ms = begun.elapsed().as_secs_f64() * 1e3;
    Ok((done, (ms, (disk_bytes_read()? - read_before) as f64 / 1e6)))
}

fn disk_bytes_read() -> Outcome<u64> {
    let io = std::fs::read_to_string("/proc/self/io")?;
    let line = io
        .lines()
        .find_map(|line| line.strip_prefix("read_bytes: "));
    Ok(line.ok_or("no read_bytes in /proc/self/io")?.parse()?)
}

fn verified_mb(index: &Index) -> f64 {
    index.verified_bytes() as f64 / 1e6
}

/// Drops the files of a directory from the page cache.
fn forget(directory: &Path) -> Outcome<()> {
    for entry in std::fs::read_dir(directory)? {
        let file = std::fs::File::open(entry?.path())?;
        file.sync_all()?;
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
    }
    Ok(())
}

/// Storage that times its syncs.
#[derive(Debug)]
struct Timing {
    inner: SharedStorage,
    synced_ns: Arc<AtomicU64>,
}

struct TimedFile {
    inner: Box<dyn WriteFile>,
    synced_ns: Arc<AtomicU64>,
}

impl Timing {
    fn new(inner: SharedStorage) -> Timing {
        Timing {
            inner,
            synced_ns: Arc::default(),
        }
    }

    /// Returns the milliseconds in syncs so far.
    fn synced(&self) -> f64 {
        self.synced_ns.load(Ordering::Relaxed) as f64 / 1e6
    }
}

fn add<T>(sum_ns: &AtomicU64, sync: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let done = sync();
    sum_ns.fetch_add(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
    done
}

impl Write for TimedFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

impl WriteFile for TimedFile {
    fn sync(&mut self) -> Result<(), StorageError> {
        add(&self.synced_ns, || self.inner.sync())
    }

    fn finish(self: Box<Self>) -> Result<(), StorageError> {
        let TimedFile { inner, synced_ns } = *self;
        add(&synced_ns, || inner.finish())
    }
}

impl StorageDelegation for Timing {
    fn inner(&self) -> &dyn Storage {
        &*self.inner
    }

    fn create(&self, name: &str) -> Result<Box<dyn WriteFile>, StorageError> {
        Ok(Box::new(TimedFile {
            inner: self.inner.create(name)?,
            synced_ns: Arc::clone(&self.synced_ns),
        }))
    }

    fn sync_directory(&self) -> Result<(), StorageError> {
        add(&self.synced_ns, || self.inner.sync_directory())
    }
}
