//! One `shorttail` process: started, watched, signalled, and surely ended.

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// What a process says when it can be asked.
const READY: &str = "listening on ";
/// What it says before: where one with HTTP is administered, and where another one tells its figures.
const ADMIN: [&str; 2] = ["admin on http://", "metrics at http://"];
/// A process that has not said so after this time never will.
const START: Duration = Duration::from_secs(30);

/// The program under test.
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

/// A server. Dropping it kills it, stopped or not.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    arguments: Vec<String>,
    pub(crate) address: SocketAddr,
    /// Where its metrics are, if anywhere.
    pub(crate) admin: Option<SocketAddr>,
}

impl Process {
    /// Starts a subcommand that serves, at any free port, and waits until it listens.
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
            // What goes wrong there is provoked here, mostly.
            .stderr(log_output())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start shorttail {shown}"))?;
        let stdout = child.stdout.take().context("its output cannot be read")?;
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
            bail!("it ended before it listened; run it by hand to see why")
        })
        .await
        .map_err(|_| anyhow::anyhow!("it does not listen after {} s", START.as_secs()))
        .and_then(|address| address)
        .with_context(|| format!("shorttail {shown} --listen {listen}"))?;
        // What it writes later must not fill the pipe.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Process {
            child,
            arguments,
            address,
            admin,
        })
    }

    /// Starts it again at the address that it had; it must have ended.
    pub(crate) async fn restart(&mut self) -> anyhow::Result<()> {
        if self.child.try_wait()?.is_none() {
            bail!("shorttail {} still runs", self.arguments.join(" "));
        }
        let address = self.address.to_string();
        *self = Process::start_at(self.arguments.clone(), &address).await?;
        Ok(())
    }

    /// Whether it has ended, however.
    pub(crate) fn has_ended(&mut self) -> anyhow::Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Its process id, as long as it has not been seen to end.
    pub(crate) fn id(&self) -> anyhow::Result<u32> {
        self.child.id().context("the process has ended")
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let id = Pid::from_raw(self.id()?.try_into()?).context("no process has this id")?;
        Ok(kill_process(id, signal)?)
    }

    /// Ends it without a word.
    pub(crate) async fn kill(&mut self) -> anyhow::Result<()> {
        Ok(self.child.kill().await?)
    }

    /// Asks it to end, and waits for that.
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

    /// What it was started with.
    pub(crate) fn arguments(&self) -> &[String] {
        &self.arguments
    }

    /// Memory that it has in use, in bytes.
    pub(crate) fn resident_bytes(&self) -> anyhow::Result<u64> {
        self.status_bytes("VmRSS:")
    }

    /// The most memory that it had in use since [`Process::forget_peak`], in bytes.
    pub(crate) fn resident_peak_bytes(&self) -> anyhow::Result<u64> {
        self.status_bytes("VmHWM:")
    }

    /// Begins a new peak of memory in use.
    pub(crate) fn forget_peak(&self) -> anyhow::Result<()> {
        // What resets it, by proc(5).
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

    /// Processor time that all its threads have taken.
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

    /// Sockets that it has open.
    pub(crate) fn sockets_count(&self) -> anyhow::Result<usize> {
        let files = std::fs::read_dir(format!("/proc/{}/fd", self.id()?))?;
        let is_socket = |path: PathBuf| {
            let target = std::fs::read_link(path);
            target.is_ok_and(|target| target.to_string_lossy().starts_with("socket:"))
        };
        Ok(files
            .filter_map(Result::ok)
            .filter(|file| is_socket(file.path()))
            .count())
    }
}

fn log_output() -> Stdio {
    match std::env::var_os("SHORTTAIL_LOG") {
        Some(_) => Stdio::inherit(),
        None => Stdio::null(),
    }
}
