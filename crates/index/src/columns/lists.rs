//! Lists of the documents that pass a filter, kept beside the columns of a segment.
//!
//! ```text
//! first use            noted
//! second use and on    each scans a further part of the column and keeps the documents that pass
//! whole column         the list stands for the column: a search is led by it, and no column is scanned
//! ```
//!
//! Only filters that few documents pass have a list: others are scanned about as fast as a list is read. No use scans more
//! than a part, so no query waits for a list. Columns never change, and so do lists: deleted documents are in both, and
//! dropped where all candidates are examined. All lists of the process together are bounded; the scan of the column is the
//! slow twin.

use super::{CodeRange, Column};
use crate::live::LiveFile;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, TryLockError};

/// Upper limit on the bytes of all lists of the process.
pub const LIST_BYTES_MAX: usize = 64 << 20;

/// Documents that one use scans: some 6 µs.
const PART: u32 = 1 << 16;
/// Documents of a segment for each of a list, at least.
const DOCUMENTS_A_MATCH: u32 = 16;
/// Filters of one segment that are noted or have a list.
const FILTERS_MAX: usize = 256;
/// Bytes of a document in a list.
const DOCUMENT_BYTES: usize = size_of::<u32>();

static BYTES: AtomicUsize = AtomicUsize::new(0);
static HITS: AtomicU64 = AtomicU64::new(0);
static MISSES: AtomicU64 = AtomicU64::new(0);
static BUILT: AtomicU64 = AtomicU64::new(0);

/// Counters of the lists of all indexes of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListFigures {
    /// Bytes of all lists, unfinished ones included.
    pub bytes: usize,
    /// Uses of a filter that found a list.
    pub hits: u64,
    /// Uses that found none.
    pub misses: u64,
    /// Lists finished.
    pub built: u64,
}

/// Returns the counters of the lists of all indexes of the process.
pub fn list_figures() -> ListFigures {
    ListFigures {
        bytes: BYTES.load(Ordering::Relaxed),
        hits: HITS.load(Ordering::Relaxed),
        misses: MISSES.load(Ordering::Relaxed),
        built: BUILT.load(Ordering::Relaxed),
    }
}

/// Lists of one segment.
#[derive(Debug, Default)]
pub(crate) struct DocumentLists {
    filters: RwLock<Filters>,
    /// Number of uses so far.
    uses: AtomicU64,
}

/// Filters of a field by their least and greatest code.
type FiltersByCodes = HashMap<(u64, u64), Arc<Filter>>;

/// Filters by field and codes.
#[derive(Debug, Default)]
struct Filters {
    by_field: HashMap<Box<str>, FiltersByCodes>,
    count: usize,
}

/// Filter that is noted, its list under way or finished.
#[derive(Debug, Default)]
struct Filter {
    /// Number of the last use.
    used_at: AtomicU64,
    /// The list; `None` where too many documents pass, or the bytes are used up.
    list: OnceLock<Option<Arc<[u32]>>>,
    building: Mutex<Building>,
    /// Bytes counted for this list.
    bytes: AtomicUsize,
}

#[derive(Debug, Default)]
struct Building {
    /// First document that is not scanned yet.
    next: u32,
    docs: Vec<u32>,
}

impl DocumentLists {
    /// Notes a use of a filter, and returns the documents that pass it, in increasing order, where they are listed.
    /// `file` is the file of the column.
    pub(crate) fn find(
        &self,
        (field, codes): (&str, CodeRange),
        column: &Column<'_>,
        file: &LiveFile,
        documents_count: u32,
    ) -> Option<Arc<[u32]>> {
        let now = self.uses.fetch_add(1, Ordering::Relaxed);
        let known = {
            let filters = self.filters.read().unwrap_or_else(PoisonError::into_inner);
            let of_field = filters.by_field.get(field);
            of_field.and_then(|all| all.get(&(codes.low, codes.high)).cloned())
        };
        let found = match known {
            None => {
                let mut filters = self.filters.write().unwrap_or_else(PoisonError::into_inner);
                filters.note(field, codes, now);
                None
            }
            Some(filter) => {
                let before = filter.used_at.swap(now, Ordering::Relaxed);
                match filter.list.get() {
                    Some(list) => list.clone(),
                    // Rare filters get no list.
                    None if now.saturating_sub(before) > FILTERS_MAX as u64 => None,
                    None => filter.advance(column, file, codes, documents_count),
                }
            }
        };
        let counter = if found.is_some() { &HITS } else { &MISSES };
        counter.fetch_add(1, Ordering::Relaxed);
        found
    }

    /// Returns the list of a filter, where it is finished, without noting a use.
    pub(crate) fn get(&self, field: &str, codes: CodeRange) -> Option<Arc<[u32]>> {
        let filters = self.filters.read().unwrap_or_else(PoisonError::into_inner);
        let filter = filters.by_field.get(field)?.get(&(codes.low, codes.high))?;
        filter.list.get().cloned().flatten()
    }
}

impl Filters {
    /// Notes a filter; the one not used for longest gives way.
    fn note(&mut self, field: &str, codes: CodeRange, now: u64) {
        if self.count >= FILTERS_MAX {
            let used_at = |filter: &Arc<Filter>| filter.used_at.load(Ordering::Relaxed);
            let all = self.by_field.values().flat_map(HashMap::values);
            if let Some(oldest) = all.map(used_at).min() {
                for of_field in self.by_field.values_mut() {
                    of_field.retain(|_, filter| used_at(filter) != oldest);
                }
                self.count = self.by_field.values().map(HashMap::len).sum();
            }
        }
        let filter = Filter::default();
        filter.used_at.store(now, Ordering::Relaxed);
        let of_field = self.by_field.entry(field.into()).or_default();
        if of_field
            .insert((codes.low, codes.high), Arc::new(filter))
            .is_none()
        {
            self.count += 1;
        }
    }
}

impl Filter {
    /// Scans a further part of the column. Returns the list where that finishes it; nothing while another thread scans.
    fn advance(
        &self,
        column: &Column<'_>,
        file: &LiveFile,
        codes: CodeRange,
        documents_count: u32,
    ) -> Option<Arc<[u32]>> {
        let mut building = match self.building.try_lock() {
            Ok(building) => building,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        if let Some(list) = self.list.get() {
            return list.clone();
        }
        let begun = file.reading();
        let end = documents_count.min(building.next.saturating_add(PART));
        let mut words = [0; 64];
        while building.next < end {
            let base = building.next;
            let count = (end - base).div_ceil(64).min(words.len() as u32);
            let words = &mut words[..count as usize];
            column.mark(base, words, codes);
            for (number, word) in (0..).zip(words.iter()) {
                let mut rest = *word;
                while rest != 0 {
                    building
                        .docs
                        .push(base + number * 64 + rest.trailing_zeros());
                    rest &= rest - 1;
                }
            }
            building.next = base.saturating_add(count * 64);
        }
        // A list outlives its column: nothing is kept of bytes that changed.
        if file.confirm(begun).is_err() {
            *building = Building::default();
            self.counts_up_to(0);
            return None;
        }
        let bytes = building.docs.len() * DOCUMENT_BYTES;
        let is_too_long =
            building.docs.len() as u64 > u64::from(documents_count / DOCUMENTS_A_MATCH);
        if is_too_long || !self.counts_up_to(bytes) {
            *building = Building::default();
            self.counts_up_to(0);
            return self.list.get_or_init(|| None).clone();
        }
        if building.next < documents_count {
            return None;
        }
        BUILT.fetch_add(1, Ordering::Relaxed);
        let docs = std::mem::take(&mut building.docs);
        self.list.get_or_init(|| Some(docs.into())).clone()
    }

    /// Sets the bytes that are counted for this list; false, and nothing set, where all lists would have too many.
    fn counts_up_to(&self, bytes: usize) -> bool {
        let own = self.bytes.load(Ordering::Relaxed);
        if bytes < own {
            BYTES.fetch_sub(own - bytes, Ordering::Relaxed);
        } else if BYTES.fetch_add(bytes - own, Ordering::Relaxed) + (bytes - own) > LIST_BYTES_MAX {
            BYTES.fetch_sub(bytes - own, Ordering::Relaxed);
            return false;
        }
        self.bytes.store(bytes, Ordering::Relaxed);
        true
    }
}

impl Drop for Filter {
    fn drop(&mut self) {
        BYTES.fetch_sub(*self.bytes.get_mut(), Ordering::Relaxed);
    }
}
