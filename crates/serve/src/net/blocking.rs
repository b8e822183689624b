//! Blocking work, kept off the I/O threads.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Runs blocking work. On an I/O thread, another thread takes over its other tasks meanwhile: handing
/// the work to a pool and back would cost two wake-ups for each query.
pub(crate) fn beside_io<T>(work: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    match flavor {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}
