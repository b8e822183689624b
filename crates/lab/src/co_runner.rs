//! Co-runner: a process beside the servers that sweeps memory and so occupies the caches.
//!
//! A co-runner also occupies a core, whatever its footprint. Runs are therefore compared with one whose
//! footprint fits into the caches of its own core ("bubbles", Mars et al., *Bubble-Up*, MICRO 2011).
use crate::LabError;
use crate::tree::Tree;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Lower limit on the footprint, in bytes: it fits into the first-level cache of any core.
const FOOTPRINT_BYTES_MIN: u64 = 16 << 10;

/// A running co-runner; it ends when dropped.
#[derive(Debug)]
pub(crate) struct CoRunner {
    child: Child,
}

impl CoRunner {
    /// Starts the co-runner and waits until it has allocated all its memory.
    pub(crate) fn start(binary: &Path, footprint_bytes: u64) -> Result<CoRunner, LabError> {
        let failed = |reason: String| LabError::Program {
            command: format!("shorttail lab co-run --bytes {footprint_bytes}"),
            reason,
        };
        let child = Command::new(binary)
            .args(["lab", "co-run", "--bytes", &footprint_bytes.to_string()])
            // The co-runner exits when its standard input closes, so it never outlives this process.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let child = child.map_err(|error| failed(error.to_string()))?;
        let mut co_runner = CoRunner { child };
        let mut line = String::new();
        if let Some(stdout) = co_runner.child.stdout.take() {
            let read = BufReader::new(stdout).read_line(&mut line);
            read.map_err(|error| failed(error.to_string()))?;
        }
        match line.starts_with("sweeping") {
            true => Ok(co_runner),
            false => Err(failed("it did not begin; is there memory for it?".into())),
        }
    }
}

impl Drop for CoRunner {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the size in bytes of the shared last-level cache: the highest level that holds data, as the
/// kernel reports.
pub(crate) fn last_level_bytes(tree: &Tree) -> Option<u64> {
    const DIRECTORY: &str = "sys/devices/system/cpu/cpu0/cache";
    let indexes = tree.names(DIRECTORY).into_iter();
    let of = |index: String| {
        let read = |name: &str| tree.read(&format!("{DIRECTORY}/{index}/{name}")).ok();
        let level: u32 = read("level")?.parse().ok()?;
        let holds_data = read("type")? != "Instruction";
        holds_data.then_some((level, parse_size(&read("size")?)?))
    };
    indexes.filter_map(of).max().map(|(_, bytes)| bytes)
}

/// Returns the size in bytes of a share of the last-level cache.
pub(crate) fn footprint_bytes(tree: &Tree, share: f64) -> Option<u64> {
    let bytes = last_level_bytes(tree)? as f64 * share;
    Some((bytes as u64).max(FOOTPRINT_BYTES_MIN))
}

fn parse_size(text: &str) -> Option<u64> {
    match text.split_at_checked(text.len().checked_sub(1)?)? {
        (digits, "K") => digits.parse::<u64>().ok()?.checked_mul(1 << 10),
        (digits, "M") => digits.parse::<u64>().ok()?.checked_mul(1 << 20),
        _ => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::recorded;

    #[test]
    fn the_highest_level_that_holds_data_counts() {
        const DIRECTORY: &str = "sys/devices/system/cpu/cpu0/cache";
        let mut files = Vec::new();
        for (index, (level, kind, size)) in [
            ("1", "Data", "32K"),
            ("1", "Instruction", "64K"),
            ("2", "Unified", "1024K"),
            ("3", "Unified", "20M"),
        ]
        .into_iter()
        .enumerate()
        {
            for (name, text) in [("level", level), ("type", kind), ("size", size)] {
                files.push((format!("{DIRECTORY}/index{index}/{name}"), text));
            }
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, *text)).collect();
        let (_root, tree) = recorded(&files);
        assert_eq!(last_level_bytes(&tree), Some(20 << 20));
        assert_eq!(footprint_bytes(&tree, 2.0), Some(40 << 20));
        assert_eq!(footprint_bytes(&tree, 0.0), Some(16 << 10));
        let (_root, nothing) = recorded(&[]);
        assert_eq!(footprint_bytes(&nothing, 0.5), None);
        assert_eq!(
            (parse_size("4096"), parse_size("é"), parse_size("")),
            (Some(4096), None, None)
        );
    }
}
