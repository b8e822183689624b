//! Loader of files into memory, one after another, with the reasons of failures.
//!
//! Bytes move in pieces, so progress is reported and the loading can be stopped between any two.
//! A way that cannot be gone at all (no memory, no file system in memory, no huge pages) is found
//! out before the first byte moves, and said once.

use super::measure;
use super::options::{Preload, PreloadOptions};
use crate::Region;
use memmap2::{Mmap, MmapMut};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Bytes loaded between two reports.
const PIECE_BYTES: usize = 8 << 20;
/// Memory that must stay free beside a copy, in bytes: a server without free memory cannot answer.
const RESERVE_BYTES: u64 = 64 << 20;
/// The huge page of x86-64, and of arm64 with pages of 4 KiB.
const HUGE_PAGE_BYTES: usize = 2 << 20;

pub(super) struct Loader<'a> {
    way: Way,
    on_bytes: &'a mut dyn FnMut(usize) -> ControlFlow<()>,
    loaded_bytes: u64,
    shortfalls: Vec<String>,
    stopped: bool,
}

/// Way of loading a file.
enum Way {
    Nothing,
    Touch,
    /// A copy in a memory file of this folder.
    Tmpfs(PathBuf),
    /// A copy in anonymous memory; whether from pages that an administrator has set apart.
    HugePages {
        set_apart: bool,
    },
}

impl<'a> Loader<'a> {
    pub(super) fn new(
        options: &PreloadOptions,
        lengths: &[u64],
        on_bytes: &'a mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Loader<'a> {
        let mut shortfalls = Vec::new();
        let bytes_total = lengths.iter().sum();
        let way = match options.preload {
            Preload::None => Ok(Way::Nothing),
            Preload::Touch => Ok(Way::Touch),
            Preload::Tmpfs => {
                tmpfs_fits(&options.tmpfs, bytes_total).map(|()| Way::Tmpfs(options.tmpfs.clone()))
            }
            Preload::HugePages => huge_pages(lengths),
        };
        let way = way.unwrap_or_else(|why| {
            shortfalls.push(why);
            Way::Nothing
        });
        Loader {
            way,
            on_bytes,
            loaded_bytes: 0,
            shortfalls,
            stopped: false,
        }
    }

    /// Returns the file as it is to be used: loaded, or `region` as it came.
    pub(super) fn load(&mut self, path: &Path, region: Region) -> Region {
        if self.stopped || region.is_empty() {
            return region;
        }
        let bytes = region.len();
        let loaded = match &self.way {
            Way::Nothing => return region,
            Way::Touch => touch(region, self.on_bytes),
            Way::Tmpfs(folder) => {
                with_copy(region, |from| memory_file(folder, from, self.on_bytes))
            }
            Way::HugePages { set_apart } => {
                with_copy(region, |from| huge_copy(*set_apart, from, self.on_bytes))
            }
        };
        match loaded {
            Ok(region) => {
                self.loaded_bytes += bytes as u64;
                region
            }
            Err((region, Failure::Stopped)) => {
                self.stopped = true;
                region
            }
            Err((region, Failure::Io(error))) => {
                self.shortfalls.push(format!("{}: {error}", path.display()));
                region
            }
        }
    }

    /// Bytes that were loaded.
    pub(super) fn loaded_bytes(&self) -> u64 {
        self.loaded_bytes
    }

    /// Returns the reasons for which some files were not loaded as asked.
    pub(super) fn finish(self) -> Vec<String> {
        self.shortfalls
    }
}

enum Failure {
    Stopped,
    Io(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Io(error)
    }
}

type OnBytes<'a> = dyn FnMut(usize) -> ControlFlow<()> + 'a;

fn told(on_bytes: &mut OnBytes, bytes: usize) -> Result<(), Failure> {
    match on_bytes(bytes) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Failure::Stopped),
    }
}

/// Reads every page into the page cache and maps it.
fn touch(region: Region, on_bytes: &mut OnBytes) -> Result<Region, (Region, Failure)> {
    let file = match region.into_mapping() {
        Ok(file) => file,
        // In memory already, as far as anybody can tell; reading it does no harm.
        Err(region) => {
            return match read_pages(&region, on_bytes) {
                Ok(()) => Ok(region),
                Err(failure) => Err((region, failure)),
            };
        }
    };
    match populate(file.mapping(), on_bytes) {
        Ok(()) => Ok(Region::touched(file)),
        Err(failure) => Err((Region::mapped(file), failure)),
    }
}

fn populate(mapping: &Mmap, on_bytes: &mut OnBytes) -> Result<(), Failure> {
    let mut at = 0;
    while at < mapping.len() {
        let bytes = PIECE_BYTES.min(mapping.len() - at);
        if !populate_range(mapping, at, bytes)? {
            return read_pages(&mapping[at..], on_bytes);
        }
        at += bytes;
        told(on_bytes, bytes)?;
    }
    Ok(())
}

/// Returns whether the kernel (5.14 and later) did it. A page that cannot be read is an error here, and
/// not a signal that ends the process.
#[cfg(target_os = "linux")]
fn populate_range(mapping: &Mmap, at: usize, bytes: usize) -> io::Result<bool> {
    match mapping.advise_range(memmap2::Advice::PopulateRead, at, bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(target_os = "linux"))]
fn populate_range(_mapping: &Mmap, _at: usize, _bytes: usize) -> io::Result<bool> {
    Ok(false)
}

/// Reads one byte of every page.
fn read_pages(bytes: &[u8], on_bytes: &mut OnBytes) -> Result<(), Failure> {
    for piece in bytes.chunks(PIECE_BYTES) {
        for page in piece.chunks(measure::page_bytes()) {
            std::hint::black_box(page[0]);
        }
        told(on_bytes, piece.len())?;
    }
    Ok(())
}

/// Returns the copy of `region`, or itself where that fails.
fn with_copy(
    region: Region,
    copy: impl FnOnce(&[u8]) -> Result<Region, Failure>,
) -> Result<Region, (Region, Failure)> {
    copy(&region).map_err(|failure| (region, failure))
}

fn memory_fits(bytes: u64) -> Result<(), String> {
    let available = measure::available_bytes();
    match available {
        Some(available) if available < bytes.saturating_add(RESERVE_BYTES) => Err(format!(
            "a copy of {bytes} bytes does not fit into {available} bytes of free memory; \
             give the machine more, or use --preload touch"
        )),
        _ => Ok(()),
    }
}

#[cfg(target_os = "linux")]
fn tmpfs_fits(folder: &Path, bytes: u64) -> Result<(), String> {
    const TMPFS_MAGIC: u64 = 0x0102_1994;
    let why = |error: rustix::io::Errno| format!("{}: {error}", folder.display());
    if rustix::fs::statfs(folder).map_err(why)?.f_type as u64 != TMPFS_MAGIC {
        return Err(format!("{} is not in memory (no tmpfs)", folder.display()));
    }
    let room = rustix::fs::statvfs(folder).map_err(why)?;
    let room_bytes = room.f_bavail.saturating_mul(room.f_frsize);
    if room_bytes < bytes {
        return Err(format!(
            "{} has room for {room_bytes} bytes and {bytes} are needed; mount it larger, \
             or use --preload touch",
            folder.display()
        ));
    }
    memory_fits(bytes)
}

/// Copies a file into an anonymous one of an in-memory file system.
#[cfg(target_os = "linux")]
fn memory_file(folder: &Path, from: &[u8], on_bytes: &mut OnBytes) -> Result<Region, Failure> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let mut file = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .mode(0o600)
        .custom_flags(rustix::fs::OFlags::TMPFILE.bits() as i32)
        .open(folder)?;
    // Written, not mapped and filled: a full file system is then an error, and not a signal.
    for piece in from.chunks(PIECE_BYTES) {
        file.write_all(piece)?;
        told(on_bytes, piece.len())?;
    }
    // SAFETY: the mapping is read-only. The file has no name and its one descriptor ends here, so
    // nobody can write to it or make it shorter.
    let mapping = unsafe { Mmap::map(&file) }?;
    // Pages are there; without their entries in the page table every first touch is a fault. Only
    // advice: nothing else differs.
    let _ = populate_range(&mapping, 0, mapping.len());
    Ok(Region::loaded(mapping, from.len()))
}

/// Returns the way to use huge pages: those that an administrator set apart, or those made on request.
#[cfg(target_os = "linux")]
fn huge_pages(lengths: &[u64]) -> Result<Way, String> {
    // Pages set apart come whole, and a file has its own.
    let whole = |bytes: &u64| bytes.next_multiple_of(HUGE_PAGE_BYTES as u64);
    let set_apart_bytes: u64 = lengths.iter().map(whole).sum();
    if measure::huge_pages_set_apart_bytes(HUGE_PAGE_BYTES) >= set_apart_bytes {
        return Ok(Way::HugePages { set_apart: true });
    }
    let path = "sys/kernel/mm/transparent_hugepage/enabled";
    let enabled = crate::platform::SystemTree::default()
        .read(path)
        .map_err(|error| format!("the kernel makes no huge pages: {error}"))?;
    if enabled.contains("[never]") {
        return Err(format!(
            "the kernel makes no huge pages (/{path} is never); write madvise to it, or set \
             pages apart with vm.nr_hugepages"
        ));
    }
    memory_fits(lengths.iter().sum())?;
    Ok(Way::HugePages { set_apart: false })
}

/// Returns a copy in anonymous memory that asks for huge pages.
#[cfg(target_os = "linux")]
fn huge_copy(set_apart: bool, from: &[u8], on_bytes: &mut OnBytes) -> Result<Region, Failure> {
    let mut memory = huge_memory(set_apart, from.len())?;
    let pieces = memory.chunks_mut(PIECE_BYTES).zip(from.chunks(PIECE_BYTES));
    for (to, piece) in pieces {
        to[..piece.len()].copy_from_slice(piece);
        told(on_bytes, piece.len())?;
    }
    Ok(Region::loaded(memory.make_read_only()?, from.len()))
}

#[cfg(target_os = "linux")]
fn huge_memory(set_apart: bool, bytes: usize) -> io::Result<MmapMut> {
    if set_apart {
        let bytes = bytes.next_multiple_of(HUGE_PAGE_BYTES);
        let mut options = memmap2::MmapOptions::new();
        // 21: pages of 2 to the 21.
        if let Ok(memory) = options.len(bytes).huge(Some(21)).map_anon() {
            return Ok(memory);
        }
    }
    // Linux 6.7 and later begins a mapping of this size at a huge page's border; earlier ones may
    // begin elsewhere, and then the first and last part have small pages.
    let memory = MmapMut::map_anon(bytes)?;
    memory.advise(memmap2::Advice::HugePage)?;
    Ok(memory)
}

#[cfg(not(target_os = "linux"))]
fn tmpfs_fits(_folder: &Path, _bytes: u64) -> Result<(), String> {
    Err("this system has no file system in memory that is known here".into())
}

#[cfg(not(target_os = "linux"))]
fn memory_file(_folder: &Path, _from: &[u8], _on_bytes: &mut OnBytes) -> Result<Region, Failure> {
    Err(io::Error::from(io::ErrorKind::Unsupported).into())
}

#[cfg(not(target_os = "linux"))]
fn huge_pages(_lengths: &[u64]) -> Result<Way, String> {
    Err("this system has no huge pages that can be asked for".into())
}

#[cfg(not(target_os = "linux"))]
fn huge_copy(_set_apart: bool, _from: &[u8], _on_bytes: &mut OnBytes) -> Result<Region, Failure> {
    Err(io::Error::from(io::ErrorKind::Unsupported).into())
}
