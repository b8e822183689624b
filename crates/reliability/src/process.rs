//! A `shorttail` process: started, observed, signalled, and reliably ended.

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};

/// Line prefix that announces readiness.
const READY: &str = "listening on ";
/// Prefixes of the line printed before that: the admin address of a server with HTTP, the metrics address of another
/// one.
const ADMIN: [&str; 2] = ["admin on http://", "metrics at http://"];
/// Time limit for readiness; a process that is not ready by then never will be.
const START: Duration = Duration::from_secs(30);
/// Lines of the log that are shown where a process ends early.
const LINES_KEPT: usize = 8;

/// Returns the path of the program under test.
pub(crate) fn program() -> anyhow::Result<PathBuf> {
    let path = match std::env::var_os("SHORTTAIL_BINARY") {
        Some(path) => PathBuf::from(path),
        None => PathBuf::from("target/release/shorttail"),
    };
    if !path.is_file() {
        bail!(
            "{}: there is no program; run `cargo build --release` first, or name one in SHORTTAIL_BINARY",
            path.display()
        );
    }
    Ok(path)
}

/// A server process. Dropping it kills it, stopped or not.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    arguments: Vec<String>,
    pub(crate) address: SocketAddr,
    /// Address of its metrics, if any.
    pub(crate) admin: Option<SocketAddr>,
}

impl Process {
    /// Starts a subcommand that serves, on any free port, and waits until it listens.
    pub(crate) async fn start(arguments: &[&str]) -> anyhow::Result<Process> {
        let arguments = arguments.iter().map(|&one| one.to_owned()).collect();
        Process::start_at(arguments, "127.0.0.1:0").await
    }

    async fn start_at(arguments: Vec<String>, listen: &str) -> anyhow::Result<Process> {
        let shown = arguments.join(" ");
        let mut child = Command::new(program()?)
            .args(&arguments)
            .args(["--listen", listen])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            // Most of its errors are provoked by the checks.
            .stderr(log_output())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start shorttail {shown}"))?;
        let stdout = child.stdout.take().context("its output cannot be read")?;
        let last_words = child
            .stderr
            .take()
            .map(|stderr| tokio::spawn(last_lines(stderr)));
        let mut lines = BufReader::new(stdout).lines();
        let (address, admin) = tokio::time::timeout(START, async {
            let mut admin = None;
            while let Some(line) = lines.next_line().await? {
                if let Some(address) = ADMIN.iter().find_map(|told| line.strip_prefix(told)) {
                    admin = Some(address.trim_end_matches("/metrics").parse()?);
                }
                if let Some((_, address)) = line.split_once(READY) {
                    return Ok((address.trim_start_matches("http://").parse()?, admin));
                }
            }
            let told = match last_words {
                Some(told) => told.await.unwrap_or_default(),
                None => String::new(),
            };
            bail!("it ended before it listened. {told}")
        })
        .await
        .map_err(|_| anyhow::anyhow!("it does not listen after {} s", START.as_secs()))
        .and_then(|address| address)
        .with_context(|| format!("shorttail {shown} --listen {listen}"))?;
        // Later output must not fill the pipe.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Process {
            child,
            arguments,
            address,
            admin,
        })
    }

    /// Restarts the process at its previous address; it must have ended.
    pub(crate) async fn restart(&mut self) -> anyhow::Result<()> {
        if self.child.try_wait()?.is_none() {
            bail!("shorttail {} still runs", self.arguments.join(" "));
        }
        let address = self.address.to_string();
        *self = Process::start_at(self.arguments.clone(), &address).await?;
        Ok(())
    }

    /// Returns whether the process has ended, in any way.
    pub(crate) fn has_ended(&mut self) -> anyhow::Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Returns the process id, unless the process is known to have ended.
    pub(crate) fn id(&self) -> anyhow::Result<u32> {
        self.child.id().context("the process has ended")
    }

    /// Sends a signal to the process.
    pub(crate) fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let id = Pid::from_raw(self.id()?.try_into()?).context("no process has this id")?;
        Ok(kill_process(id, signal)?)
    }

    /// Kills the process at once.
    pub(crate) async fn kill(&mut self) -> anyhow::Result<()> {
        Ok(self.child.kill().await?)
    }

    /// Sends SIGTERM and waits for the end.
    pub(crate) async fn terminate(&mut self, limit: Duration) -> anyhow::Result<()> {
        self.signal(Signal::TERM)?;
        let ended = tokio::time::timeout(limit, self.child.wait()).await;
        let status = ended
            .map_err(|_| anyhow::anyhow!("it still runs {} s after SIGTERM", limit.as_secs()))??;
        if !status.success() {
            bail!("it ended with {status} after SIGTERM");
        }
        Ok(())
    }

    /// Returns the arguments of the process.
    pub(crate) fn arguments(&self) -> &[String] {
        &self.arguments
    }

    /// Returns the resident memory of the process, in bytes.
    pub(crate) fn resident_bytes(&self) -> anyhow::Result<u64> {
        self.status_bytes("VmRSS:")
    }

    /// Returns the memory of the process that is no file's, in bytes.
    pub(crate) fn anonymous_bytes(&self) -> anyhow::Result<u64> {
        self.status_bytes("RssAnon:")
    }

    /// Returns the peak of the resident memory since [`Process::forget_peak`], in bytes.
    pub(crate) fn resident_peak_bytes(&self) -> anyhow::Result<u64> {
        self.status_bytes("VmHWM:")
    }

    /// Resets the peak of the resident memory.
    pub(crate) fn forget_peak(&self) -> anyhow::Result<()> {
        // The value that resets it, according to proc(5).
        Ok(std::fs::write(
            format!("/proc/{}/clear_refs", self.id()?),
            "5",
        )?)
    }

    fn status_bytes(&self, name: &str) -> anyhow::Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id()?))?;
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
        let kib: u64 = kib
            .context("/proc lacks a size of memory")?
            .trim()
            .parse()?;
        Ok(kib * 1024)
    }

    /// Returns the processor time of all its threads.
    pub(crate) fn cpu_time(&self) -> anyhow::Result<Duration> {
        let mut ns = 0;
        for thread in std::fs::read_dir(format!("/proc/{}/task", self.id()?))? {
            // A thread may end meanwhile.
            if let Ok(text) = std::fs::read_to_string(thread?.path().join("schedstat"))
                && let Some(first) = text.split(' ').next()
            {
                ns += first.parse::<u64>().unwrap_or(0);
            }
        }
        Ok(Duration::from_nanos(ns))
    }

    /// Returns the number of open sockets.
    pub(crate) fn sockets_count(&self) -> anyhow::Result<usize> {
        self.descriptors_count(|target| target.starts_with("socket:"))
    }

    /// Returns the number of open descriptors whose targets `is_counted` selects.
    pub(crate) fn descriptors_count(
        &self,
        is_counted: impl Fn(&str) -> bool,
    ) -> anyhow::Result<usize> {
        let files = std::fs::read_dir(format!("/proc/{}/fd", self.id()?))?;
        let is_one = |path: PathBuf| {
            let target = std::fs::read_link(path);
            target.is_ok_and(|target| is_counted(&target.to_string_lossy()))
        };
        Ok(files
            .filter_map(Result::ok)
            .filter(|file| is_one(file.path()))
            .count())
    }
}

fn log_output() -> Stdio {
    match std::env::var_os("SHORTTAIL_LOG") {
        Some(_) => Stdio::inherit(),
        None => Stdio::piped(),
    }
}

/// Reads an output to its end, and returns its last lines.
async fn last_lines(output: impl AsyncRead + Unpin) -> String {
    let mut lines = BufReader::new(output).lines();
    let mut last = VecDeque::new();
    while let Ok(Some(line)) = lines.next_line().await {
        last.push_back(line);
        if last.len() > LINES_KEPT {
            last.pop_front();
        }
    }
    Vec::from(last).join("\n")
}
