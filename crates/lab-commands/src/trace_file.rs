//! Files of recorded arrivals: one instant a line, in seconds from the start of the recording.

use anyhow::Context;
use std::path::Path;
use std::time::Duration;

/// Reads the instants in the order of the file.
///
/// # Errors
/// A file that cannot be read, or a line that is no number of seconds; the error names the line.
pub(crate) fn read_trace(path: &Path) -> anyhow::Result<Vec<Duration>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let lines = (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            let seconds = line.trim().parse().ok();
            let instant = seconds.and_then(|s| Duration::try_from_secs_f64(s).ok());
            instant.with_context(|| {
                format!(
                    "{}:{number}: not a number of seconds, such as 12.345",
                    path.display()
                )
            })
        })
        .collect()
}
