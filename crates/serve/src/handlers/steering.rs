//! Steering of helpers to another CPU than that of the handler that wakes them.
//!
//! A kernel that wakes a thread from a thread often puts it on the same CPU, where a helper only shares the time of the
//! handler that it should help. So a handler that wakes a helper first bars its own CPU to it; the helper lifts the bar
//! when it runs. Handlers that are pinned are not steered.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Threads of handlers, and the CPUs that they may use.
#[derive(Debug)]
pub(super) struct Steering {
    /// CPUs of the process; fewer than two leave everything to the kernel.
    cpus: Vec<u32>,
    handlers: Vec<Handler>,
}

#[derive(Debug, Default)]
struct Handler {
    thread: OnceLock<u32>,
    is_steered: AtomicBool,
}

impl Steering {
    /// Returns the steering of some handlers; of none where they are pinned.
    pub(super) fn new(handlers: usize, are_pinned: bool) -> Steering {
        #[cfg(target_os = "linux")]
        let cpus = match are_pinned {
            true => Vec::new(),
            false => vfs::platform::affinity(0).unwrap_or_default(),
        };
        #[cfg(not(target_os = "linux"))]
        let cpus = {
            let _ = are_pinned;
            Vec::new()
        };
        Steering {
            cpus,
            handlers: (0..handlers).map(|_| Handler::default()).collect(),
        }
    }

    /// Notes that the calling thread is a handler.
    pub(super) fn run_by_this_thread(&self, handler: usize) {
        #[cfg(target_os = "linux")]
        if self.cpus.len() > 1 {
            let _ = self.handlers[handler]
                .thread
                .set(vfs::platform::thread_id());
        }
        let _ = handler;
    }

    /// Bars the CPU of the calling thread to a handler that sleeps.
    pub(super) fn away_from_here(&self, handler: usize) {
        #[cfg(target_os = "linux")]
        if let Some(&thread) = self.handlers[handler].thread.get() {
            let here = vfs::platform::current_cpu();
            let others = self.cpus.iter().copied().filter(|&cpu| cpu != here);
            // Refused, the helper runs where the kernel puts it.
            if vfs::platform::set_affinity(thread, others).is_ok() {
                self.handlers[handler].is_steered.store(true, Relaxed);
            }
        }
        let _ = handler;
    }

    /// Gives the calling handler all CPUs back, if one was barred to it.
    pub(super) fn arrived(&self, handler: usize) {
        let steered = &self.handlers[handler].is_steered;
        if steered.load(Relaxed) && steered.swap(false, Relaxed) {
            // They were its own before.
            let _ = vfs::platform::set_affinity(0, self.cpus.iter().copied());
        }
    }
}
