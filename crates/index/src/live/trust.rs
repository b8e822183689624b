//! Trust in a file, and the alarm that its changes raise.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::thread::Thread;

/// State of a file of an open index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Trust {
    /// Its bytes are the verified ones.
    Trusted,
    /// It changed after its verification, and is not verified again yet.
    Suspect,
    /// Its bytes differ from the verified ones.
    Damaged,
}

/// Notification that the trust in a file has changed, shared by all indexes that share files.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    pub(crate) epoch: AtomicU64,
    /// Number of times that a suspect file became trusted again.
    pub(crate) trusted_again: AtomicU64,
    /// Thread unparked when a file becomes suspect or damaged.
    pub(crate) woken: OnceLock<Thread>,
}

impl Alarm {
    pub(super) fn wake(&self) {
        if let Some(thread) = self.woken.get() {
            thread.unpark();
        }
    }
}
