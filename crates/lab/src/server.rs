//! Server process of the program under test: start, address, resource usage and end.
use crate::LabError;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Upper limit on the time for a graceful exit.
const END_WITHIN: Duration = Duration::from_secs(10);

/// A running server; it ends when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    url: String,
}

/// Resource usage of the process since its start.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Usage {
    /// Time on cores, in microseconds.
    pub(crate) cpu_us: u64,
    /// Number of context switches, voluntary or not.
    pub(crate) switches: u64,
    /// Resident memory, in bytes.
    pub(crate) memory_bytes: u64,
}

impl Server {
    /// Starts `shorttail serve` on a free port and waits until it listens.
    pub(crate) fn start(
        binary: &Path,
        index: &Path,
        partitions: usize,
        handlers: usize,
    ) -> Result<Server, LabError> {
        Server::start_with(binary, index, (partitions, handlers), &[])
    }

    /// Starts a server with further options: partitions, handlers per partition, and others.
    pub(crate) fn start_with(
        binary: &Path,
        index: &Path,
        (partitions, handlers): (usize, usize),
        options: &[&str],
    ) -> Result<Server, LabError> {
        let mut command = Command::new(binary);
        command
            .arg("serve")
            .arg(index)
            .args(["--listen", "127.0.0.1:0"])
            .args(["--partitions", &partitions.to_string()])
            .args(["--handlers", &handlers.to_string()])
            // Searches are counted by the threads of handlers, and models are of these.
            .arg("--hand-over")
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let failed = |reason: String| LabError::Program {
            command: format!("shorttail serve {}", index.display()),
            reason,
        };
        let child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let mut server = Server {
            child,
            url: String::new(),
        };
        let stdout = server.child.stdout.take();
        let lines = stdout.map(|stdout| BufReader::new(stdout).lines());
        let url = lines.into_iter().flatten().map_while(Result::ok);
        // The line of the admin address comes first and is skipped.
        let url = url.filter_map(|line| Some(line.split_once("listening on ")?.1.to_owned()));
        match url.into_iter().next() {
            Some(url) => {
                server.url = url;
                Ok(server)
            }
            None => {
                let said = server.last_words();
                Err(failed(said.unwrap_or_else(|| "it said nothing".to_owned())))
            }
        }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the process id.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Reads the usage from `/proc`; `None` if it reports none, for example for an ended process.
    pub(crate) fn usage(&self) -> Option<Usage> {
        let directory = format!("/proc/{}", self.child.id());
        let cpu = load::process_cpu_time(self.child.id())?;
        let status = std::fs::read_to_string(format!("{directory}/status")).ok()?;
        let switches = std::fs::read_dir(format!("{directory}/task"))
            .ok()?
            .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("status")).ok())
            .map(|status| {
                field(&status, "voluntary_ctxt_switches:")
                    + field(&status, "nonvoluntary_ctxt_switches:")
            })
            .sum();
        Some(Usage {
            cpu_us: cpu.as_micros() as u64,
            switches,
            memory_bytes: field(&status, "VmRSS:") * 1024,
        })
    }

    fn last_words(&mut self) -> Option<String> {
        use std::io::Read;
        // A process with unexpected output that keeps running is not the expected server.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let mut text = String::new();
        self.child
            .stderr
            .take()?
            .take(4096)
            .read_to_string(&mut text)
            .ok()?;
        let line = text.lines().rfind(|line| !line.trim().is_empty())?;
        Some(line.to_owned())
    }
}

fn field(text: &str, name: &str) -> u64 {
    let line = text.lines().find(|line| line.starts_with(name));
    let value = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    value.unwrap_or_default()
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(pid) = Pid::from_raw(self.child.id() as i32) {
            // The child has not been waited for, so the process id is still its own.
            let _ = kill_process(pid, Signal::TERM);
        }
        let started = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if started.elapsed() > END_WITHIN {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
