//! Survival of reads from mapped files that were truncated: the handler of SIGBUS.
//!
//! A page of a mapping that lies beyond the end of its file, or that the disk cannot give, is answered by the kernel
//! with SIGBUS, which ends the process. Mappings of files are therefore registered here. A fault inside one of them
//! marks it ([`Registered::has_faulted`]) and puts zeros in place of its bytes from that page on, and the read goes on.
//! Whoever reads asks afterwards, and throws away what was read. Any other SIGBUS takes the course that it would have
//! taken without this handler.
//!
//! The handler belongs to the whole process, so a program installs it, and no library: [`survive_lost_pages`].
//!
//! Invariants: registered ranges have no byte in common; a range is taken off the register before it is unmapped, and
//! is unmapped when nobody reads it. The handler takes no lock and allocates nothing.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, OnceLock, PoisonError};

/// Mappings registered at a time: as many as Linux allows a process by default (`vm.max_map_count`). Those beyond are
/// not protected. The table takes memory only as far as it is used.
const SLOTS: usize = 1 << 16;

/// A range of addresses; free where `start` is 0.
struct Slot {
    start: AtomicUsize,
    bytes: AtomicUsize,
    has_faulted: AtomicBool,
}

static REGISTER: [Slot; SLOTS] = [const {
    Slot {
        start: AtomicUsize::new(0),
        bytes: AtomicUsize::new(0),
        has_faulted: AtomicBool::new(false),
    }
}; SLOTS];
/// Slots from this number on were never used.
static SLOTS_USED: AtomicUsize = AtomicUsize::new(0);
/// Slots below it that are free again. The handler does not look here.
static SLOTS_FREE: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// A mapping on the register. To be dropped before the mapping is.
#[derive(Debug)]
pub(crate) struct Registered {
    /// `None` where the register was full.
    slot: Option<usize>,
}

impl Registered {
    /// Registers the mapped range of `bytes` bytes at `start`, a whole mapping that begins with a page.
    pub(crate) fn new(start: *const u8, bytes: usize) -> Registered {
        let mut free = SLOTS_FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = free.pop().or_else(|| {
            // Only changed under the lock.
            let used = SLOTS_USED.load(Ordering::Relaxed);
            (used < SLOTS).then_some(used)
        });
        if let Some(number) = slot {
            let slot = &REGISTER[number];
            slot.bytes.store(bytes, Ordering::Relaxed);
            slot.has_faulted.store(false, Ordering::Relaxed);
            // Last, so that whoever sees the start sees the rest.
            slot.start.store(start as usize, Ordering::Release);
            SLOTS_USED.fetch_max(number + 1, Ordering::Release);
        }
        Registered { slot }
    }

    /// Returns whether a page of it could not be read, so that it holds zeros which its file does not.
    #[inline]
    pub(crate) fn has_faulted(&self) -> bool {
        self.slot
            .is_some_and(|slot| REGISTER[slot].has_faulted.load(Ordering::Acquire))
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            REGISTER[slot].start.store(0, Ordering::Release);
            let mut free = SLOTS_FREE.lock().unwrap_or_else(PoisonError::into_inner);
            free.push(slot);
        }
    }
}

/// Installs the handler of SIGBUS, once: from then on a mapped file that is truncated, or that the disk cannot give, is
/// damaged for whoever reads it, and ends neither the read nor the process. Mappings made before are protected too.
///
/// Does nothing on systems other than Linux.
#[cfg(not(target_os = "linux"))]
pub fn survive_lost_pages() {}

#[cfg(target_os = "linux")]
pub use linux::survive_lost_pages;

#[cfg(target_os = "linux")]
mod linux {
    use super::*;

    /// Action of SIGBUS before ours.
    static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();
    static PAGE_BYTES: AtomicUsize = AtomicUsize::new(4096);

    /// Installs the handler of SIGBUS, once: from then on a mapped file that is truncated, or that the disk cannot give,
    /// is damaged for whoever reads it, and ends neither the read nor the process. Mappings made before are protected
    /// too.
    ///
    /// Does nothing on systems other than Linux.
    pub fn survive_lost_pages() {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(|| {
            PAGE_BYTES.store(rustix::param::page_size(), Ordering::Relaxed);
            // SAFETY: `sigaction` is plain data for which zeros are a valid value (no handler, no flags, no signal
            // masked). Both calls get pointers to values that live here, or null where the call allows it. The handler
            // has the signature that SA_SIGINFO asks for, and does only what a handler may (see there). SA_ONSTACK runs
            // it on the signal stack that the standard library gives its threads, where there is one.
            unsafe {
                let mut before: libc::sigaction = std::mem::zeroed();
                if libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut before) != 0 {
                    return;
                }
                // Kept before the handler can run.
                let _ = BEFORE.set(before);
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = on_bus_error as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
                // Where it is refused, faults end the process as they did before.
                libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
            }
        });
    }

    extern "C" fn on_bus_error(
        signal: libc::c_int,
        info: *mut libc::siginfo_t,
        _context: *mut libc::c_void,
    ) {
        // SAFETY: the kernel hands a valid `siginfo_t` to a handler that is installed with SA_SIGINFO. `si_addr` is only
        // looked at where the signal comes of a fault (a positive code), for which the kernel fills it in.
        let (is_fault, address) = unsafe {
            let is_fault = (*info).si_code > 0;
            let address = if is_fault {
                (*info).si_addr() as usize
            } else {
                0
            };
            (is_fault, address)
        };
        // SAFETY: `__errno_location` gives the address of this thread's errno, which outlives the handler. The code that
        // was interrupted must find it as it was.
        let errno = unsafe { *libc::__errno_location() };
        if !(is_fault && survive(address)) {
            give_back(signal, is_fault);
        }
        // SAFETY: as above.
        unsafe { *libc::__errno_location() = errno };
    }

    /// Marks the registered range that holds `address` and replaces it by zeros from that page on; `false` where
    /// there is none, or the kernel refuses.
    fn survive(address: usize) -> bool {
        let used = SLOTS_USED.load(Ordering::Acquire).min(SLOTS);
        for slot in &REGISTER[..used] {
            let start = slot.start.load(Ordering::Acquire);
            let bytes = slot.bytes.load(Ordering::Acquire);
            // The range that is being read stays registered meanwhile, and no other has the address: a slot that
            // changes hands between these loads does not match, whichever of its values are seen.
            let is_inside = start != 0 && address.wrapping_sub(start) < whole_pages(bytes);
            if is_inside && slot.start.load(Ordering::Acquire) == start {
                // Before the zeros are there, so that whoever has read one finds the mark.
                slot.has_faulted.store(true, Ordering::SeqCst);
                let page = address & !(PAGE_BYTES.load(Ordering::Relaxed) - 1);
                return replace(page, start + whole_pages(bytes) - page);
            }
        }
        false
    }

    fn whole_pages(bytes: usize) -> usize {
        bytes.next_multiple_of(PAGE_BYTES.load(Ordering::Relaxed))
    }

    /// Maps zeros over the rest of a mapping. All of it at once, since what follows a lost end is lost too: a mapping
    /// for each page would use up the mappings that a process may have.
    fn replace(page: usize, bytes: usize) -> bool {
        // SAFETY: the range lies in a mapping that is registered, from a page of it to its end, so nothing else is
        // mapped there; it is not unmapped meanwhile, because the thread that was interrupted is reading it. The new
        // pages are readable as the old ones were, so slices into them stay valid; their bytes differ, which is why
        // the range was marked. mmap is a plain system call, which a handler may make.
        let mapped = unsafe {
            libc::mmap(
                page as *mut libc::c_void,
                bytes,
                libc::PROT_READ,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        mapped != libc::MAP_FAILED
    }

    /// Puts back what was done about the signal before. A fault comes again as soon as the handler returns, and takes
    /// that course; a signal that was sent is sent again.
    fn give_back(signal: libc::c_int, is_fault: bool) {
        // SAFETY: sigaction and raise are calls that a handler may make; the action is one that the kernel gave, or
        // zeros, which is the default. The signal is masked until the handler returns.
        unsafe {
            let default: libc::sigaction = std::mem::zeroed();
            let before = BEFORE.get().unwrap_or(&default);
            libc::sigaction(signal, before, std::ptr::null_mut());
            if !is_fault {
                libc::raise(signal);
            }
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
