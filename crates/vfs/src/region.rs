//! The bytes of an opened file.
use crate::fault::Registered;
use crate::fetched::Fetched;
use crate::{ReadFile, SourceFile, StorageError};
use memmap2::Mmap;
use std::ops::{Deref, Range};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

/// A whole file, read-only and cheap to clone. Derefs to its bytes.
#[derive(Clone)]
pub struct Region {
    /// Start and length of the bytes of `bytes`, so that a read takes no look at what holds them.
    start: NonNull<u8>,
    len: usize,
    bytes: Arc<Bytes>,
}

// SAFETY: `start` points into `bytes`, which other threads may read and drop, and nothing writes there.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

enum Bytes {
    Mapped(MappedFile),
    /// A mapping that was loaded to stay: nothing of it is given back. It may be anonymous memory,
    /// whose content would be lost, and longer than the file.
    Loaded {
        mapping: Mmap,
        file_bytes: usize,
    },
    Memory(Arc<Vec<u8>>),
    /// Memory of the length of the file, of which only the blocks that were fetched have its bytes.
    Fetched(Fetched),
}

impl Bytes {
    /// Returns all bytes. They stay where they are as long as `self` lives, wherever it is moved.
    fn all(&self) -> &[u8] {
        match self {
            Bytes::Mapped(file) => &file.mapping,
            Bytes::Loaded {
                mapping,
                file_bytes,
            } => &mapping[..*file_bytes],
            Bytes::Memory(bytes) => bytes,
            Bytes::Fetched(file) => file.memory(),
        }
    }
}

/// Shared read-only mapping of a file, with the means to see changes of the file.
pub(crate) struct MappedFile {
    /// First, so that it is dropped first: a mapping must be off the register before it is unmapped.
    registered: Registered,
    mapping: Mmap,
    source: SourceFile,
    /// Whether its pages are never released, because it was read into memory to stay there.
    stays: bool,
}

impl MappedFile {
    pub(crate) fn new(mapping: Mmap, source: SourceFile) -> MappedFile {
        MappedFile {
            registered: Registered::new(mapping.as_ptr(), mapping.len()),
            mapping,
            source,
            stays: false,
        }
    }

    pub(crate) fn mapping(&self) -> &Mmap {
        &self.mapping
    }
}

impl Region {
    /// Returns a region over bytes in memory.
    pub fn new(bytes: impl Into<Arc<Vec<u8>>>) -> Region {
        Region::of(Arc::new(Bytes::Memory(bytes.into())))
    }

    fn of(bytes: Arc<Bytes>) -> Region {
        let all = bytes.all();
        Region {
            start: NonNull::from(all).cast(),
            len: all.len(),
            bytes,
        }
    }

    /// Returns a region over a shared read-only mapping of a file.
    pub(crate) fn mapped(file: MappedFile) -> Region {
        Region::of(Arc::new(Bytes::Mapped(file)))
    }

    /// Returns a region of a file whose pages are never released: it was read into memory to stay there.
    pub(crate) fn touched(file: MappedFile) -> Region {
        Region::mapped(MappedFile {
            stays: true,
            ..file
        })
    }

    /// Reads a whole file into memory.
    pub(crate) fn read_whole(file: &dyn ReadFile, path: &Path) -> Result<Region, StorageError> {
        crate::read::read_whole(file, path).map(Region::new)
    }

    /// Returns a region that reads from `file` what is fetched ([`Region::fetch`]). Where the system gives no memory for
    /// it, the file is read as a whole.
    pub(crate) fn fetched(file: Arc<dyn ReadFile>, path: &Path) -> Result<Region, StorageError> {
        if file.length() == 0 {
            return Ok(Region::new(Vec::new()));
        }
        match Fetched::new(Arc::clone(&file), path) {
            Ok(fetched) => Ok(Region::of(Arc::new(Bytes::Fetched(fetched)))),
            Err(_) => Region::read_whole(&*file, path),
        }
    }

    /// Makes the bytes of a range readable: of a region of [`Storage::open_lazy`](crate::Storage::open_lazy), those that
    /// no call has fetched are zeros before. Nothing happens where all bytes are readable anyway. Any threads may fetch
    /// and read at the same time.
    ///
    /// # Errors
    /// A failed read. Bytes that were fetched stay readable, and a further call fetches the others.
    pub fn fetch(&self, range: Range<usize>) -> Result<(), StorageError> {
        match &*self.bytes {
            Bytes::Fetched(file) => file.fetch(range),
            Bytes::Mapped(_) | Bytes::Loaded { .. } | Bytes::Memory(_) => Ok(()),
        }
    }

    /// Fetches a range anew, because the bytes that were fetched are not those of the file: a copy that was damaged on
    /// its way. Returns false where bytes are not fetched ([`Region::is_fetched`]), and nothing can be mended. The caller
    /// sees to it that nobody reads the range meanwhile; a read that does sees some of the old bytes and some of the new.
    ///
    /// # Errors
    /// A failed read; the bytes are the old ones.
    pub fn refetch(&self, range: Range<usize>) -> Result<bool, StorageError> {
        match &*self.bytes {
            Bytes::Fetched(file) => file.refetch(range).map(|()| true),
            Bytes::Mapped(_) | Bytes::Loaded { .. } | Bytes::Memory(_) => Ok(false),
        }
    }

    /// Returns whether bytes are there only once they were fetched.
    #[inline]
    pub fn is_fetched(&self) -> bool {
        matches!(&*self.bytes, Bytes::Fetched(_))
    }

    /// Returns the file behind it; `None` for bytes in memory, which no change of a file reaches.
    pub fn source(&self) -> Option<&SourceFile> {
        match &*self.bytes {
            Bytes::Mapped(file) => Some(&file.source),
            Bytes::Loaded { .. } | Bytes::Memory(_) | Bytes::Fetched(_) => None,
        }
    }

    /// Returns the first offset from `at` on where the file has stored bytes; the bytes before it are zeros that take
    /// no room. Returns `at` where this is unknown, and the length where nothing is stored.
    pub fn next_data(&self, at: usize) -> usize {
        match self.source() {
            Some(source) => source.next_data(at as u64, self.len as u64) as usize,
            None => at,
        }
    }

    /// Returns whether some of its bytes could not be read from the file and are zeros instead, for good. To be asked
    /// after reading: a file that is truncated under a mapping ends neither the read nor the process, once
    /// [`survive_lost_pages`](crate::survive_lost_pages) was called.
    #[inline]
    pub fn has_faulted(&self) -> bool {
        match &*self.bytes {
            Bytes::Mapped(file) => file.registered.has_faulted(),
            Bytes::Loaded { .. } | Bytes::Memory(_) | Bytes::Fetched(_) => false,
        }
    }

    /// Returns a region over the first `file_bytes` of a mapping that stays in memory: files loaded ahead.
    pub(crate) fn loaded(mapping: Mmap, file_bytes: usize) -> Region {
        assert!(file_bytes <= mapping.len());
        Region::of(Arc::new(Bytes::Loaded {
            mapping,
            file_bytes,
        }))
    }

    /// Its mapping, or itself where it has none or others hold it too.
    pub(crate) fn into_mapping(self) -> Result<MappedFile, Region> {
        match Arc::try_unwrap(self.bytes) {
            Ok(Bytes::Mapped(file)) => Ok(file),
            Ok(bytes) => Err(Region::of(Arc::new(bytes))),
            Err(bytes) => Err(Region::of(bytes)),
        }
    }

    /// Tells the system that `range` will not be needed soon, so that it does not count as ours.
    /// Only mapped regions act on it, for whole pages. The bytes stay readable, and come back
    /// from the file when touched.
    pub fn release(&self, range: Range<usize>) {
        #[cfg(unix)]
        if let Bytes::Mapped(file) = &*self.bytes
            && !file.stays
            && let Some(pages) = whole_pages(range, file.mapping.len())
        {
            // SAFETY: DONTNEED discards a page's content in this process only. The mapping is
            // made by `RealStorage::open_file`: shared, file-backed and never writable, so there is no
            // content but the file's, and the next access, through a slice borrowed earlier too,
            // reads the same bytes again; zeros that took the place of lost pages are zeros again.
            // The range lies within the mapping.
            let advised = unsafe {
                file.mapping.unchecked_advise_range(
                    memmap2::UncheckedAdvice::DontNeed,
                    pages.start,
                    pages.len(),
                )
            };
            // Advice only: where it fails, memory use is all that differs.
            let _ = advised;
        }
    }

    /// Runs `read` while the system reads no more of the file than is touched, and what [`Region::prefetch`] asks for.
    /// It may read megabytes around each page otherwise.
    pub fn without_read_ahead<T>(&self, read: impl FnOnce() -> T) -> T {
        self.advise(memmap2::Advice::Random);
        let done = read();
        self.advise(memmap2::Advice::Normal);
        done
    }

    fn advise(&self, advice: memmap2::Advice) {
        #[cfg(unix)]
        if let Bytes::Mapped(file) = &*self.bytes {
            // Advice only, as in `release`.
            let _ = file.mapping.advise(advice);
        }
    }

    /// Tells the system that `range` will be needed soon, so that it reads ahead.
    pub fn prefetch(&self, range: Range<usize>) {
        #[cfg(unix)]
        if let Bytes::Mapped(file) = &*self.bytes {
            let end = range.end.min(file.mapping.len());
            if range.start < end {
                let (advice, bytes) = (memmap2::Advice::WillNeed, end - range.start);
                // Advice only, as above.
                let _ = file.mapping.advise_range(advice, range.start, bytes);
            }
        }
    }
}

/// Returns the whole pages inside `range`; the file's last page counts as whole.
#[cfg(unix)]
fn whole_pages(range: Range<usize>, file_bytes: usize) -> Option<Range<usize>> {
    let page_bytes = rustix::param::page_size();
    let start = range.start.checked_next_multiple_of(page_bytes)?;
    let end = match range.end {
        end if end >= file_bytes => file_bytes,
        end => end - end % page_bytes,
    };
    (start < end).then_some(start..end)
}

impl Deref for Region {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: `start` and `len` are of the slice that `Bytes::all` returned for `self.bytes`. It lies in a mapping that
        // is neither moved nor changed (of a fetched file: changed by the kernel alone, see `Fetched::new`), or in a vector
        // to which this region holds an `Arc`, so that none can change it; all last as long as `self.bytes`, and so as
        // `self`, which the slice borrows.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl std::fmt::Debug for Region {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Region({} bytes)", self.len())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_whole_pages_are_released() {
        let page = rustix::param::page_size();
        let file = 10 * page + 7;
        let check = |range: Range<usize>, expected: Option<Range<usize>>| {
            assert_eq!(whole_pages(range.clone(), file), expected, "{range:?}");
        };
        check(0..file, Some(0..file));
        check(0..usize::MAX, Some(0..file));
        check(1..page, None);
        check(1..2 * page, Some(page..2 * page));
        check(1..3 * page - 1, Some(page..2 * page));
        check(10 * page + 1..file, None);
        check(usize::MAX..usize::MAX, None);
        check(file + page..file + 2 * page, None);
        check(5..5, None);
    }
}
