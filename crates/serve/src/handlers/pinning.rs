//! Pinning of handlers to cores, and the placement that the kernel reports.

use crate::api::error::ServeError;
use crate::handlers::options::Place;
use schedule::CpuSet;

/// Binds the calling thread to `place` and returns the placement that the kernel reports.
pub(crate) fn pin(place: Option<&Place>) -> Result<String, ServeError> {
    let Some(place) = place else {
        return Ok("any CPU".into());
    };
    let mut said = if place.cpus.is_empty() {
        "any CPU".to_owned()
    } else {
        let pinned = vfs::platform::thread::pin_current_thread(place.cpus.iter());
        let read_back: CpuSet = pinned.map_err(|error| ServeError::System {
            operation: "pin a handler to its CPUs",
            source: std::io::Error::other(error),
        })?;
        format!("CPU {read_back}")
    };
    if let Some(node) = place.node {
        // A kernel that cannot bind memory still searches, with remote memory accesses.
        said += &format!(
            ", memory: {}",
            vfs::platform::thread::bind_memory_to_node(node)
        );
    }
    Ok(said)
}
