//! CPU time of a process, such as that which listens at a local address.
//!
//! A run against this machine can tell what an answer costs its server, whatever serves it: the kernel
//! counts the time of every process. Found by `/proc`: the socket that listens at the port, then the
//! processes that hold it. Only processes of the same user can be seen; for others, and for other
//! machines, there is no figure.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// State of a listening socket in `/proc/net/tcp`.
const LISTENING: &str = "0A";

/// Processes that listen at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerProcess {
    proc: PathBuf,
    ids: Vec<u32>,
}

impl ServerProcess {
    /// Returns the processes that listen at a loopback address; `None` for other addresses, and where
    /// none is found.
    pub fn listening_at(address: SocketAddr) -> Option<ServerProcess> {
        let is_here = address.ip().to_canonical().is_loopback();
        is_here.then(|| ServerProcess::of(Path::new("/proc"), address.port()))?
    }

    /// Does the same with a directory tree like `/proc`.
    fn of(proc: &Path, port: u16) -> Option<ServerProcess> {
        let mut sockets = Vec::new();
        for table in ["net/tcp", "net/tcp6"] {
            let text = std::fs::read_to_string(proc.join(table)).unwrap_or_default();
            sockets.extend(
                text.lines()
                    .skip(1)
                    .filter_map(|line| listening(line, port)),
            );
        }
        let ids: Vec<u32> = std::fs::read_dir(proc)
            .ok()?
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter(|&id| holds(proc, id, &sockets))
            .collect();
        // The searches and summaries of a front-end are made by other processes, whose time is not here.
        let is_whole = !ids.iter().any(|&id| is_front_end(proc, id));
        (!ids.is_empty() && is_whole).then(|| ServerProcess {
            proc: proc.to_owned(),
            ids,
        })
    }

    /// Returns the CPU time of the processes since their start, with a resolution of about 10 ms; `None`
    /// once one of them has ended.
    pub fn cpu_time(&self) -> Option<Duration> {
        let times = self.ids.iter().map(|&id| cpu_time_in(&self.proc, id));
        times.sum()
    }
}

/// Returns the inode of the socket of a line of `/proc/net/tcp` that listens at `port`.
fn listening(line: &str, port: u16) -> Option<String> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let (_, local_port) = fields.get(1)?.rsplit_once(':')?;
    let is_it = u16::from_str_radix(local_port, 16) == Ok(port) && *fields.get(3)? == LISTENING;
    is_it.then(|| fields.get(9).map(|inode| format!("socket:[{inode}]")))?
}

fn holds(proc: &Path, id: u32, sockets: &[String]) -> bool {
    let open = std::fs::read_dir(proc.join(format!("{id}/fd")));
    let targets = open
        .into_iter()
        .flatten()
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    targets.into_iter().any(|target| {
        sockets
            .iter()
            .any(|socket| target.as_os_str() == socket.as_str())
    })
}

fn is_front_end(proc: &Path, id: u32) -> bool {
    let line = std::fs::read(proc.join(format!("{id}/cmdline"))).unwrap_or_default();
    line.split(|&byte| byte == 0).nth(1) == Some(b"front-end")
}

/// Returns the CPU time of a process since its start, with a resolution of about 10 ms; `None` for one that has ended.
pub fn process_cpu_time(id: u32) -> Option<Duration> {
    cpu_time_in(Path::new("/proc"), id)
}

fn cpu_time_in(proc: &Path, id: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(proc.join(format!("{id}/stat"))).ok()?;
    // The name in brackets may contain any character, so fields are counted after it.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let ticks = ticks(11)?.saturating_add(ticks(12)?);
    let per_s = rustix::param::clock_ticks_per_second();
    Some(Duration::from_secs_f64(ticks as f64 / per_s as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_listener_of_this_process_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = ServerProcess::listening_at(address).unwrap();
        assert_eq!(server.ids, [std::process::id()]);
        let before = server.cpu_time().unwrap();
        let mut sum = 0u64;
        while server.cpu_time().unwrap() < before + Duration::from_millis(20) {
            sum = sum.wrapping_mul(31).wrapping_add(std::process::id().into());
        }
        drop(listener);
        assert_eq!(ServerProcess::listening_at(address), None, "{sum}");
    }

    #[test]
    fn other_machines_and_ended_processes_have_no_figure() {
        let elsewhere = "192.0.2.1:80".parse().unwrap();
        assert_eq!(ServerProcess::listening_at(elsewhere), None);
        let proc = tempfile::tempdir().unwrap();
        assert_eq!(ServerProcess::of(proc.path(), 80), None);
        let ended = ServerProcess {
            proc: proc.path().to_owned(),
            ids: vec![1],
        };
        assert_eq!(ended.cpu_time(), None);
    }
}
