//! Description of the machine that a run took place on.
use std::path::Path;

/// Properties of the machine that affect its figures; `None` if the system does not report one.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Machine {
    /// Model name of the processor.
    pub processor: Option<String>,
    /// Number of cores available to this process.
    pub cores_count: Option<usize>,
    /// Memory, in bytes.
    pub memory_bytes: Option<u64>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Whether the processor reports a hypervisor.
    pub is_virtual: Option<bool>,
}

impl Machine {
    /// Describes this machine.
    pub fn here() -> Machine {
        Machine {
            cores_count: std::thread::available_parallelism().ok().map(usize::from),
            ..Machine::of(Path::new("/proc"))
        }
    }

    /// Describes a machine from a directory tree like `/proc`.
    pub fn of(proc: &Path) -> Machine {
        let read = |name: &str| std::fs::read_to_string(proc.join(name)).ok();
        let processors = read("cpuinfo");
        let field = |name: &str| -> Option<String> {
            let line = processors
                .as_ref()?
                .lines()
                .find(|line| line.starts_with(name))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let memory_bytes = read("meminfo").and_then(|text| {
            let line = text
                .lines()
                .find(|line| line.starts_with("MemTotal:"))?
                .to_owned();
            let kib: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
            Some(kib * 1024)
        });
        Machine {
            processor: field("model name"),
            cores_count: None,
            memory_bytes,
            kernel: read("sys/kernel/osrelease").map(|text| text.trim().to_owned()),
            is_virtual: field("flags")
                .map(|flags| flags.split(' ').any(|flag| flag == "hypervisor")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_read_and_the_rest_is_none() {
        let proc = tempfile::tempdir().unwrap();
        assert_eq!(Machine::of(proc.path()), Machine::default());
        let cpuinfo = "processor\t: 0\nmodel name\t: A Chip\nflags\t\t: fpu hypervisor sse\n";
        std::fs::write(proc.path().join("cpuinfo"), cpuinfo).unwrap();
        std::fs::write(proc.path().join("meminfo"), "MemTotal:  2048 kB\n").unwrap();
        let machine = Machine::of(proc.path());
        assert_eq!(machine.processor.as_deref(), Some("A Chip"));
        assert_eq!(
            (machine.memory_bytes, machine.is_virtual),
            (Some(2 << 20), Some(true))
        );
    }
}
