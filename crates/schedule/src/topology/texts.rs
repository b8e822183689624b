//! Values in the texts of `/sys`, and gaps where they are missing or invalid.

use super::Gap;
use crate::CpuSet;

pub(super) type File<'a> = dyn Fn(&str) -> Result<String, String> + 'a;

pub(super) const CPU: &str = "sys/devices/system/cpu";

pub(super) fn gap(what: impl Into<String>, why: impl Into<String>) -> Gap {
    Gap {
        what: what.into(),
        why: why.into(),
    }
}

pub(super) fn list(file: &File, path: &str) -> Result<CpuSet, String> {
    file(path)?
        .parse()
        .map_err(|error| format!("{path}: {error}"))
}

pub(super) fn value(file: &File, path: &str) -> Result<u32, String> {
    let text = file(path)?;
    let text = text.trim();
    text.parse()
        .map_err(|_| format!("{path}: {:?} is not a number", short(text)))
}

fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Contexts with the same gap, reported once.
#[derive(Default)]
pub(super) struct Missing {
    cpus: Vec<u32>,
    first: String,
}

impl Missing {
    pub(super) fn note(&mut self, cpu: u32, why: String) {
        if self.cpus.last() == Some(&cpu) {
            return;
        }
        if self.cpus.is_empty() {
            self.first = why;
        }
        self.cpus.push(cpu);
    }

    pub(super) fn tell(self, what: &str, gaps: &mut Vec<Gap>) {
        if !self.cpus.is_empty() {
            let cpus: CpuSet = self.cpus.into_iter().collect();
            gaps.push(gap(format!("{what} of cpu {cpus}"), self.first));
        }
    }
}
