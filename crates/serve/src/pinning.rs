//! Puts handlers on the CPUs that placement chose, and says what the kernel made of it.

use crate::ServeError;
use schedule::CpuSet;

/// Pins this thread, where CPUs are given; the CPUs that it may use by the kernel's word.
pub(crate) fn pin(cpus: Option<&CpuSet>) -> Result<String, ServeError> {
    let Some(cpus) = cpus else {
        return Ok("any".into());
    };
    let read_back = vfs::thread::pin_current_thread(cpus).map_err(|source| ServeError::System {
        operation: "pin a handler to its CPUs",
        source,
    })?;
    Ok(read_back.to_string())
}
