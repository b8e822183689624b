//! Trust in a file, and the alarm that its changes raise.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::thread::Thread;

/// What is known of a file of an open index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Trust {
    /// Its bytes are those that were verified.
    Trusted,
    /// It was changed since; whether its bytes were is not known yet.
    Suspect,
    /// Its bytes are not the verified ones.
    Damaged,
}

/// Notification that the trust in a file has changed, shared by all indexes that share files.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    pub(super) epoch: AtomicU64,
    /// Woken when a file becomes suspect or damaged.
    pub(super) woken: OnceLock<Thread>,
}

impl Alarm {
    pub(super) fn wake(&self) {
        if let Some(thread) = self.woken.get() {
            thread.unpark();
        }
    }
}
