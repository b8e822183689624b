//! Caches of the machine, and the contexts that share them.

use super::texts::{CPU, File, Missing, list, value};
use super::{Cache, Gap};
use crate::CpuSet;

/// Upper limit on caches per context; processors have four or five.
const CACHES_MAX: u32 = 16;

pub(super) fn caches(file: &File, online: &CpuSet, gaps: &mut Vec<Gap>) -> Vec<Cache> {
    let mut caches = Vec::new();
    let mut missing = Missing::default();
    for cpu in online {
        for idx in 0..CACHES_MAX {
            let path = |name: &str| format!("{CPU}/cpu{cpu}/cache/index{idx}/{name}");
            let level = match value(file, &path("level")) {
                Ok(level) => level,
                Err(why) => {
                    if idx == 0 {
                        missing.note(cpu, why);
                    }
                    break;
                }
            };
            if file(&path("type")).is_ok_and(|kind| kind.trim() == "Instruction") {
                continue;
            }
            match list(file, &path("shared_cpu_list")) {
                Ok(cpus) if cpus.contains(cpu) => caches.push(Cache {
                    level,
                    cpus: cpus.intersection(online),
                    bytes: file(&path("size")).ok().and_then(|size| cache_bytes(&size)),
                }),
                Ok(_) => missing.note(cpu, format!("{} leaves it out", path("shared_cpu_list"))),
                Err(why) => missing.note(cpu, why),
            }
        }
    }
    missing.tell("caches", gaps);
    // Every sharing context lists the same cache.
    caches.sort();
    caches.dedup();
    caches
}

/// Parses the kernel's sizes: `32K`, `22528K`, `2M`, and similar forms.
fn cache_bytes(size: &str) -> Option<u64> {
    let size = size.trim();
    let (digits, unit) = match size.strip_suffix(['K', 'M', 'G']) {
        Some(digits) => (digits, &size[digits.len()..]),
        None => (size, ""),
    };
    let shift = match unit {
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => 0,
    };
    let count: u64 = digits.parse().ok()?;
    count.checked_mul(1 << shift).filter(|&bytes| bytes > 0)
}
