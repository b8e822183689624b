//! Supervisor of index servers and document servers in processes of their own.
//!
//! A process that dies is restarted at the same address; front-ends take it back when it answers. The
//! processes end with their supervisor, however it ends: each reads from a pipe that only the
//! supervisor holds.

use crate::api::error::ServeError;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Interval between two checks of a process.
const LOOK: Duration = Duration::from_millis(50);
/// First pause before a dead process is restarted; doubled for each process that lives less than
/// [`STEADY`].
const RESTART_MIN: Duration = Duration::from_millis(100);
const RESTART_MAX: Duration = Duration::from_secs(5);
const STEADY: Duration = Duration::from_secs(10);
/// Upper limit on the time for a process to end.
const END: Duration = Duration::from_secs(15);
/// Line that a process prints before its address when it is ready.
const READY: &str = "listening on ";
/// Line that a process prints before the address of its metrics.
const METRICS: &str = "metrics at http://";
/// Loopback address with any free port.
const ANY_PORT: &str = "127.0.0.1:0";

/// Process to start: this program with other arguments. `--listen` and `--metrics` are added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// Name in messages: `index server of chunks 0-63`.
    pub name: String,
    /// Path of the program.
    pub program: PathBuf,
    /// Arguments, without `--listen` and `--metrics`.
    pub arguments: Vec<String>,
}

/// Supervised processes, which end when the value is dropped.
#[derive(Debug)]
pub struct Supervisor {
    ending: Arc<AtomicBool>,
    restarts: Arc<AtomicU64>,
    processes: Vec<Arc<Mutex<Process>>>,
    watchers: Vec<JoinHandle<()>>,
    addresses: Vec<Addresses>,
}

/// Addresses of a process, which stay the same after a restart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    /// Address for front-ends: `host:port`.
    pub listen: String,
    /// Address of `/metrics` and `/healthz`: `host:port`.
    pub metrics: String,
}

#[derive(Debug)]
struct Process {
    child: Child,
    /// Standard input of the process; closing it asks the process to end.
    pipe: Option<ChildStdin>,
    started: Instant,
}

impl Supervisor {
    /// Starts processes, waits until each listens, and keeps them alive.
    pub fn start(roles: Vec<Role>) -> Result<Supervisor, ServeError> {
        let mut supervisor = Supervisor {
            ending: Arc::default(),
            restarts: Arc::default(),
            processes: Vec::new(),
            watchers: Vec::new(),
            addresses: Vec::new(),
        };
        // Start all at once: each has an index to open.
        let starting: Vec<_> = roles
            .iter()
            .map(|role| {
                let role = role.clone();
                thread::spawn(move || {
                    start(
                        &role,
                        &Addresses {
                            listen: ANY_PORT.into(),
                            metrics: ANY_PORT.into(),
                        },
                    )
                })
            })
            .collect();
        for (role, starting) in roles.into_iter().zip(starting) {
            let started = starting
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("it panicked")));
            let (process, addresses) = started.map_err(|source| ServeError::Process {
                name: role.name.clone(),
                source,
            })?;
            let process = Arc::new(Mutex::new(process));
            supervisor.processes.push(Arc::clone(&process));
            supervisor.addresses.push(addresses.clone());
            let (ending, restarts) = (supervisor.ending.clone(), supervisor.restarts.clone());
            let watcher = thread::Builder::new()
                .name("supervisor".into())
                .spawn(move || watch(&role, &addresses, &process, &ending, &restarts))
                .map_err(|source| ServeError::System {
                    operation: "start a thread",
                    source,
                })?;
            supervisor.watchers.push(watcher);
        }
        Ok(supervisor)
    }

    /// Returns the addresses of each process, in the order of the roles.
    pub fn addresses(&self) -> &[Addresses] {
        &self.addresses
    }

    /// Returns the current process id of each process.
    pub fn process_ids(&self) -> Vec<u32> {
        let id = |process: &Arc<Mutex<Process>>| lock(process).child.id();
        self.processes.iter().map(id).collect()
    }

    /// Returns the number of restarts.
    pub fn restarts(&self) -> u64 {
        self.restarts.load(Ordering::Relaxed)
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
        for watcher in self.watchers.drain(..) {
            let _ = watcher.join();
        }
        for process in &self.processes {
            lock(process).pipe = None;
        }
        let until = Instant::now() + END;
        for process in &self.processes {
            let mut process = lock(process);
            while matches!(process.child.try_wait(), Ok(None)) {
                if Instant::now() >= until {
                    let _ = process.child.kill();
                    let _ = process.child.wait();
                    break;
                }
                thread::sleep(LOOK);
            }
        }
    }
}

fn lock(process: &Arc<Mutex<Process>>) -> std::sync::MutexGuard<'_, Process> {
    process.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a process at `at` and waits until it prints its addresses.
fn start(role: &Role, at: &Addresses) -> io::Result<(Process, Addresses)> {
    let mut child = Command::new(&role.program)
        .args(&role.arguments)
        .args(["--listen", &at.listen, "--metrics", &at.metrics])
        .arg("--until-stdin-ends")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let pipe = child.stdin.take();
    let Some(stdout) = child.stdout.take() else {
        return Err(io::Error::other("its output cannot be read"));
    };
    let mut lines = BufReader::new(stdout).lines();
    let mut metrics = at.metrics.clone();
    let listen = lines.by_ref().map_while(Result::ok).find_map(|line| {
        if let Some((_, url)) = line.split_once(METRICS) {
            url.trim_end_matches("/metrics").clone_into(&mut metrics);
        }
        let (_, address) = line.split_once(READY)?;
        Some(address.to_owned())
    });
    let Some(listen) = listen else {
        let status = child.wait()?;
        return Err(io::Error::other(format!(
            "it ended before it listened ({status}); see what it wrote above"
        )));
    };
    // Drain the output, so that later lines do not fill the pipe.
    thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
    let process = Process {
        child,
        pipe,
        started: Instant::now(),
    };
    Ok((process, Addresses { listen, metrics }))
}

fn watch(
    role: &Role,
    addresses: &Addresses,
    process: &Arc<Mutex<Process>>,
    ending: &AtomicBool,
    restarts: &AtomicU64,
) {
    let mut pause = RESTART_MIN;
    while !ending.load(Ordering::Relaxed) {
        thread::sleep(LOOK);
        let (ended, lived) = {
            let mut process = lock(process);
            let ended = process.child.try_wait().ok().flatten();
            (ended, process.started.elapsed())
        };
        let Some(status) = ended else { continue };
        tracing::warn!(process = %role.name, %status, "ended; starting it again");
        pause = match lived >= STEADY {
            true => RESTART_MIN,
            false => (pause * 2).min(RESTART_MAX),
        };
        let again = Instant::now() + pause / 2;
        while Instant::now() < again && !ending.load(Ordering::Relaxed) {
            thread::sleep(LOOK.min(pause / 2));
        }
        match start(role, addresses) {
            Ok((started, _)) => {
                restarts.fetch_add(1, Ordering::Relaxed);
                *lock(process) = started;
            }
            Err(error) => tracing::error!(process = %role.name, %error, "cannot be started again"),
        }
    }
}
