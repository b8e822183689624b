//! Execution of a program to its end, with its output; a stop of the laboratory kills it.
use crate::LabError;
use load::Live;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Interval between two checks for a stop.
const LOOK: Duration = Duration::from_millis(20);

/// Output of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Returns a query as one line of a query file, with line breaks and other white space replaced by
/// spaces; empty for a query without words.
pub(crate) fn one_line(query: &str) -> String {
    let words: Vec<&str> = query.split_whitespace().collect();
    words.join(" ")
}

/// Runs a program and returns its output; an exit status other than success is an error. `name` appears
/// in messages.
pub(crate) fn ask(command: &mut Command, name: &str, live: &Live) -> Result<Said, LabError> {
    let failed = |reason: String| LabError::Program {
        command: name.to_owned(),
        reason,
    };
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.map_err(|error| failed(error.to_string()))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    // Both pipes are read at once, because a program that fills one pipe waits for its reader.
    let stdout = std::thread::spawn(move || text(stdout));
    let stderr = std::thread::spawn(move || text(stderr));
    let status = wait(&mut child, live)?;
    let said = Said {
        stdout: stdout.join().unwrap_or_default(),
        stderr: stderr.join().unwrap_or_default(),
    };
    match status.map_err(|error| failed(error.to_string()))?.success() {
        true => Ok(said),
        false => {
            let last = said.stderr.lines().rfind(|line| !line.trim().is_empty());
            let last = last.map(|line| line.strip_prefix("error: ").unwrap_or(line));
            Err(failed(
                last.unwrap_or("it failed without a word").to_owned(),
            ))
        }
    }
}

fn wait(
    child: &mut Child,
    live: &Live,
) -> Result<std::io::Result<std::process::ExitStatus>, LabError> {
    loop {
        match child.try_wait() {
            Ok(None) if live.is_stopped() => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(LabError::Stopped);
            }
            Ok(None) => std::thread::sleep(LOOK),
            Ok(Some(status)) => return Ok(Ok(status)),
            Err(error) => return Ok(Err(error)),
        }
    }
}

fn text(stream: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        // Output before a read error is kept.
        let _ = stream.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn shell(script: &str, live: &Live) -> Result<Said, LabError> {
        ask(Command::new("sh").args(["-c", script]), "the shell", live)
    }

    #[test]
    fn words_and_failures_are_heard() {
        let live = Live::default();
        // Both streams exceed the capacity of a pipe.
        let script =
            "head -c 200000 /dev/zero | tr '\\0' x; head -c 200000 /dev/zero | tr '\\0' y >&2";
        let said = shell(script, &live).unwrap();
        assert_eq!((said.stdout.len(), said.stderr.len()), (200_000, 200_000));
        let error = shell("echo first >&2; echo error: why >&2; exit 3", &live).unwrap_err();
        assert_eq!(error.to_string(), "`the shell`: why");
        let absent = ask(&mut Command::new("/absent"), "it", &live).unwrap_err();
        assert!(absent.to_string().starts_with("`it`: "), "{absent}");
    }

    #[test]
    fn a_program_ends_when_the_end_is_asked_for() {
        let live = Live::default();
        let started = Instant::now();
        live.stop();
        let error = shell("exec sleep 60", &live).unwrap_err();
        assert!(matches!(error, LabError::Stopped), "{error}");
        assert!(started.elapsed() < Duration::from_secs(30));
    }
}
