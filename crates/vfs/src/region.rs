//! The bytes of an opened file.
use std::ops::Deref;
use std::sync::Arc;

/// A whole file, read-only and cheap to clone. Derefs to its bytes.
#[derive(Clone)]
pub struct Region {
    bytes: Arc<dyn AsRef<[u8]> + Send + Sync>,
}

impl Region {
    /// A region over bytes in memory or over a mapping.
    pub fn new(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Region {
        Region {
            bytes: Arc::new(bytes),
        }
    }

    /// Tells the system that `range` will not be needed soon, so that it does not count as ours.
    /// Only mapped regions act on it.
    pub fn release(&self, _range: std::ops::Range<usize>) {}
}

impl Deref for Region {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }
}

impl std::fmt::Debug for Region {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Region({} bytes)", self.len())
    }
}
