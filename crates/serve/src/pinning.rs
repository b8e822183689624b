//! Puts handlers on the CPUs that placement chose, and says what the kernel made of it.

use crate::ServeError;
use schedule::CpuSet;

/// Pins this thread, where CPUs are given; the CPUs that it may use by the kernel's word.
pub(crate) fn pin(cpus: Option<&CpuSet>) -> Result<String, ServeError> {
    let Some(cpus) = cpus else {
        return Ok("any".into());
    };
    let pinned = vfs::thread::pin_current_thread(cpus.iter());
    let read_back: CpuSet = pinned.map_err(|error| ServeError::System {
        operation: "pin a handler to its CPUs",
        source: std::io::Error::other(error),
    })?;
    Ok(read_back.to_string())
}
