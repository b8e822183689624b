//! Listening sockets, and the I/O runtime that serves them.

use crate::api::error::ServeError;
use crate::net::blocking::has_read_all;
use schedule::CpuSet;
use std::net::{SocketAddr, TcpListener};
use tokio::runtime::{Builder, Runtime};

/// Length of the accept queue, in connections; the system may allow fewer. The standard library asks
/// for 128. A client that meets a full queue retries after a whole second, so a burst of clients would
/// see a slow server.
const CONNECTIONS_WAITING_MAX: i32 = 4096;

/// Starts the threads that read requests and write answers.
pub fn io_runtime() -> Result<Runtime, ServeError> {
    io_runtime_on(&CpuSet::default())
}

/// Starts these threads on given CPUs, one a CPU; on all where none are given.
pub fn io_runtime_on(cpus: &CpuSet) -> Result<Runtime, ServeError> {
    let mut builder = Builder::new_multi_thread();
    builder.on_thread_park(has_read_all);
    if !cpus.is_empty() {
        let cpus = cpus.clone();
        builder.worker_threads(cpus.len()).on_thread_start(move || {
            // Refused, the thread runs anywhere: slower, not wrong.
            let _ = vfs::platform::set_affinity(0, cpus.iter());
        });
    }
    builder
        .thread_name("io")
        .enable_io()
        .enable_time()
        .build()
        .map_err(|source| ServeError::System {
            operation: "start the threads of the server",
            source,
        })
}

/// Raises the limit on open files to what the system allows: each connection takes one, and the usual limit is a
/// quarter of that on connections. If it cannot be raised, `accept` waits for closed connections.
fn raise_open_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        limit.current = limit.maximum;
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

/// Binds `address` and listens on it; returns the socket and its address.
pub(crate) fn listen_on(address: &str) -> Result<(TcpListener, SocketAddr), ServeError> {
    raise_open_files();
    let refused = |source| ServeError::Listen {
        address: address.to_owned(),
        source,
    };
    let listener = TcpListener::bind(address).map_err(refused)?;
    // A second call of `listen` only changes the length of the queue.
    rustix::net::listen(&listener, CONNECTIONS_WAITING_MAX)
        .map_err(|errno| refused(errno.into()))?;
    listener.set_nonblocking(true).map_err(refused)?;
    let taken = listener.local_addr().map_err(refused)?;
    Ok((listener, taken))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;
    use std::time::Duration;

    #[cfg(target_os = "linux")]
    #[test]
    fn io_threads_stay_on_their_cpus() {
        let here = vfs::platform::current_cpu();
        let runtime = io_runtime_on(&CpuSet::from_iter([here])).unwrap();
        let of_worker = runtime.spawn(async { vfs::platform::affinity(0).unwrap() });
        assert_eq!(runtime.block_on(of_worker).unwrap(), [here]);
        let of_blocking = runtime.spawn_blocking(|| vfs::platform::affinity(0).unwrap());
        assert_eq!(runtime.block_on(of_blocking).unwrap(), [here]);
    }

    #[test]
    fn a_burst_of_clients_finds_room_to_wait() {
        let (_listener, address) = listen_on("127.0.0.1:0").unwrap();
        // No task accepts these connections; a client without room in the queue waits for a second.
        let soon = Duration::from_millis(700);
        let connect = |_| TcpStream::connect_timeout(&address, soon).unwrap();
        let waiting: Vec<TcpStream> = (0..300).map(connect).collect();
        assert_eq!(waiting.len(), 300);
    }
}
