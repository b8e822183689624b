//! Figures of this process.

use crate::Result;

/// Clock ticks of the kernel a second, as it counts processor time (`USER_HZ`).
const TICKS_S: f64 = 100.0;

/// Returns the processor time so far, in seconds.
pub(super) fn cpu_s() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The name in brackets may have spaces.
    let (_, fields) = stat
        .rsplit_once(") ")
        .ok_or("/proc/self/stat has no name")?;
    let mut fields = fields.split(' ').skip(11);
    let mut ticks = || -> Result<f64> {
        let field = fields.next().ok_or("/proc/self/stat is short")?;
        Ok(field.parse::<u64>()? as f64)
    };
    Ok((ticks()? + ticks()?) / TICKS_S)
}

/// Returns a size of `/proc/self/status` in megabytes.
pub(super) fn status_mb(name: &str) -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(name));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1));
    let kilobytes = kilobytes.ok_or_else(|| format!("/proc/self/status has no {name}"))?;
    Ok(kilobytes.parse::<u64>()? / 1024)
}
