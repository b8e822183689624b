//! One child process, seen from the parent: its pipes, and the reason of its death.

use crate::confinement::Limits;
use crate::launch::Launch;
use crate::protocol::{LINE_BYTES_MAX, Reply};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

/// Upper limit on the time until a new child is ready.
const START_MAX: Duration = Duration::from_secs(10);

/// Upper limit on the kept bytes of a child's standard error.
const SAID_BYTES_MAX: u64 = 4 << 10;

/// Bytes of one read.
const READ_BYTES: usize = 64 << 10;

/// A running child. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Worker {
    process: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: ChildStderr,
    /// Bytes read that are not yet a line, and how many of them hold no end of a line.
    line: Vec<u8>,
    searched: usize,
    /// Number of files sent.
    pub(crate) files: u32,
    limits: Limits,
}

/// Event of a child.
pub(crate) enum Event {
    /// A line.
    Reply(Reply),
    /// Bytes of the message were taken.
    Sent(usize),
    /// The time limit has passed.
    Nothing,
    /// The child has closed its output, or sent a message that the protocol does not have.
    Ended(Option<&'static str>),
}

impl Worker {
    /// Starts a child and waits until it is confined.
    pub(crate) fn start(launch: &Launch, limits: Limits) -> Result<Worker, String> {
        let cannot = |error: io::Error| format!("cannot start the process that reads it: {error}");
        let mut process = Command::new(&launch.program)
            .args(&launch.arguments)
            .arg(limits.memory_bytes.to_string())
            .arg(limits.document_s.to_string())
            .env_clear()
            // The allocator of `shorttail` reserves a GiB of address space at its start, which would count against the limit.
            .env("MIMALLOC_ARENA_RESERVE", "0")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(cannot)?;
        let pipes = (
            process.stdin.take(),
            process.stdout.take(),
            process.stderr.take(),
        );
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err("cannot start the process that reads it: no pipes".to_owned());
        };
        rustix::io::ioctl_fionbio(&stdin, true).map_err(|error| cannot(error.into()))?;
        let mut worker = Worker {
            process,
            stdin,
            stdout,
            stderr,
            line: Vec::new(),
            searched: 0,
            files: 0,
            limits,
        };
        match worker.wait(&[], START_MAX).map_err(cannot)? {
            Event::Reply(Reply::Ready) => Ok(worker),
            Event::Reply(Reply::Refused { reason }) => Err(format!(
                "the process that reads it cannot confine itself: {reason}"
            )),
            _ => Err(format!(
                "cannot start the process that reads it: {}",
                worker.end()
            )),
        }
    }

    /// Waits for a line, or until a byte of `message` is taken, at most `time`.
    pub(crate) fn wait(&mut self, message: &[u8], time: Duration) -> io::Result<Event> {
        loop {
            if let Some(event) = self.take_line() {
                return Ok(event);
            }
            let mut waiting = vec![PollFd::new(&self.stdout, PollFlags::IN)];
            if !message.is_empty() {
                waiting.push(PollFd::new(&self.stdin, PollFlags::OUT));
            }
            let timeout = Timespec {
                tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: time.subsec_nanos().into(),
            };
            match poll(&mut waiting, Some(&timeout)) {
                Ok(0) => return Ok(Event::Nothing),
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            let is_ready = |one: Option<&PollFd>| one.is_some_and(|one| !one.revents().is_empty());
            let (readable, writable) = (is_ready(waiting.first()), is_ready(waiting.get(1)));
            if readable && !self.read_more()? {
                return Ok(Event::Ended(None));
            }
            if !readable && writable {
                match self.stdin.write(message) {
                    Ok(sent) => return Ok(Event::Sent(sent)),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    // The child has closed its input: its output tells why.
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                        return Ok(Event::Ended(None));
                    }
                    Err(error) => return Err(error),
                }
            }
        }
    }

    /// Reads the output of the child. Returns whether more may come.
    fn read_more(&mut self) -> io::Result<bool> {
        let mut buffer = [0; READ_BYTES];
        let read = self.stdout.read(&mut buffer)?;
        self.line.extend_from_slice(&buffer[..read]);
        Ok(read > 0)
    }

    fn take_line(&mut self) -> Option<Event> {
        let Some(end) = self.line[self.searched..]
            .iter()
            .position(|&byte| byte == b'\n')
        else {
            self.searched = self.line.len();
            let is_long = self.line.len() > LINE_BYTES_MAX;
            return is_long.then_some(Event::Ended(Some("its text is too long")));
        };
        let end = self.searched + end;
        let reply = serde_json::from_slice(&self.line[..end]);
        self.line.drain(..=end);
        self.searched = 0;
        Some(match reply {
            Ok(reply) => Event::Reply(reply),
            Err(_) => Event::Ended(Some("the process that read it answered nonsense")),
        })
    }

    /// Ends the child and returns the cause of its death.
    pub(crate) fn end(mut self) -> String {
        // A child that has closed its output is about to end by itself; one that has not is stopped.
        let status = self.ended().or_else(|| {
            let _ = self.process.kill();
            self.process.wait().ok()
        });
        let mut said = Vec::new();
        let _ = (&mut self.stderr)
            .take(SAID_BYTES_MAX)
            .read_to_end(&mut said);
        cause(status, &String::from_utf8_lossy(&said), self.limits)
    }

    /// Returns the status of a child that has ended, after a short wait.
    fn ended(&mut self) -> Option<ExitStatus> {
        for _ in 0..100 {
            if let Ok(Some(status)) = self.process.try_wait() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        None
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // After `end` the process has been waited for, and neither call does anything.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Signals of Linux for a used-up processor time.
const SIGXCPU: i32 = 24;
const SIGKILL: i32 = 9;

/// Describes the death of a child: `said` is its standard error.
fn cause(status: Option<ExitStatus>, said: &str, limits: Limits) -> String {
    let signal = status.and_then(|status| status.signal());
    if said.contains("memory allocation of") {
        return format!(
            "reading it takes more than {} MiB of memory",
            limits.memory_bytes >> 20
        );
    }
    if said.contains("overflowed its stack") {
        return "its parts are nested too deep".to_owned();
    }
    match (signal, status.and_then(|status| status.code())) {
        (Some(SIGXCPU), _) => format!(
            "reading it takes more than {} s of processor time",
            limits.document_s
        ),
        (Some(SIGKILL), _) => "the process that read it was killed".to_owned(),
        (Some(signal), _) => format!("the process that read it crashed (signal {signal})"),
        (None, Some(code)) => {
            let said = said.lines().last().unwrap_or_default();
            let said: String = said.chars().filter(|c| !c.is_control()).take(200).collect();
            format!("the process that read it ended (status {code}) {said}")
                .trim_end()
                .to_owned()
        }
        (None, None) => "the process that read it ended".to_owned(),
    }
}
