//! Further processes of a test: this program, asked for one test by an environment variable.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Task of the process: words, the first of which is a folder.
const TASK: &str = "LIVE_TEST_CHILD";

/// Returns the task where this process is a child.
pub(crate) fn task() -> Option<Vec<String>> {
    let task = std::env::var(TASK).ok()?;
    Some(task.split('\n').map(str::to_owned).collect())
}

/// Tells the parent a line. Tests of children write nothing else at the beginning of a line.
pub(crate) fn tell(line: &str) {
    let mut out = std::io::stdout();
    // A parent that has ended needs nothing.
    let _ = out
        .write_all(format!("\n{line}\n").as_bytes())
        .and_then(|()| out.flush());
}

/// Returns the command that runs `test` with a task, under `wrapper` where there is one.
pub(crate) fn command(test: &str, folder: &Path, words: &[&str], wrapper: &[&str]) -> Command {
    let program = std::env::current_exe().unwrap();
    let mut task = vec![folder.to_str().unwrap()];
    task.extend(words);
    let mut command = match wrapper {
        [] => Command::new(program),
        [first, rest @ ..] => {
            let mut command = Command::new(first);
            command.args(rest).arg(program);
            command
        }
    };
    command
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(TASK, task.join("\n"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

/// Process that is killed at the end.
pub(crate) struct Process {
    child: Child,
    told: BufReader<ChildStdout>,
    input: ChildStdin,
}

impl Process {
    pub(crate) fn start(mut command: Command) -> Process {
        let mut child = command.spawn().unwrap();
        Process {
            told: BufReader::new(child.stdout.take().unwrap()),
            input: child.stdin.take().unwrap(),
            child,
        }
    }

    pub(crate) fn ask(&mut self) {
        self.input.write_all(b"go\n").unwrap();
    }

    /// Returns what the process tells next after `prefix`; `None` where it has ended.
    pub(crate) fn next(&mut self, prefix: &str) -> Option<String> {
        let mut line = String::new();
        while self.told.read_line(&mut line).unwrap() > 0 {
            if let Some(told) = line.trim_end().strip_prefix(prefix) {
                return Some(told.to_owned());
            }
            line.clear();
        }
        None
    }

    /// Kills the process, without waiting for its end.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
    }

    /// Waits for the end, and returns whether the process ended by itself and well.
    pub(crate) fn wait(&mut self) -> bool {
        self.child.wait().unwrap().success()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
