//! End of a run: its exit code, and the error in one line.

use crate::terminal::printable;
use std::io::{self, Write};
use std::process::ExitCode;

/// Prints the error of a failed run and returns the exit code.
pub fn report(outcome: anyhow::Result<ExitCode>) -> ExitCode {
    let error = match outcome {
        Ok(code) => return code,
        Err(error) => error,
    };
    if is_broken_pipe(&error) {
        // The reader of the output closed it early, as `head` does.
        return ExitCode::SUCCESS;
    }
    let _ = writeln!(io::stderr(), "error: {}", one_line(&error));
    ExitCode::FAILURE
}

/// Prints a remark on standard error; never fails, even if standard error is closed.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{}", printable(text));
}

/// Formats an error and its causes in one line, without the causes that the error already quotes.
fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        if line.is_empty() {
            line = cause;
        } else if !line.contains(&cause) {
            line.push_str(": ");
            line.push_str(&cause);
        }
    }
    printable(&line)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn causes_stand_in_one_line_and_once() {
        let inner = io::Error::other("disk\nfull");
        let outer = Err::<(), _>(inner)
            .context("cannot write a.txt: disk\nfull")
            .context("run");
        assert_eq!(
            one_line(&outer.unwrap_err()),
            "run: cannot write a.txt: disk full"
        );
    }

    #[test]
    fn a_closed_pipe_is_told_from_other_errors() {
        let closed = anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe)).context("x");
        assert!(is_broken_pipe(&closed));
        assert!(!is_broken_pipe(&anyhow::anyhow!("Broken pipe")));
    }
}
