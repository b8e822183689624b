//! Where are the pages of a mapping, and how much memory is left? As the kernel says, now.

use crate::platform::SystemTree;
use std::ops::Range;

/// Bytes of a page.
pub(super) fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// Returns the number of these bytes that are in memory (mincore(2)), or the reason for which it is unknown.
#[cfg(target_os = "linux")]
pub(super) fn resident_bytes(bytes: &[u8]) -> Result<u64, String> {
    let page_bytes = page_bytes();
    // Bytes on the heap begin anywhere; the call takes whole pages.
    let offset = bytes.as_ptr() as usize % page_bytes;
    let spanned = bytes.len() + offset;
    if bytes.is_empty() {
        return Ok(0);
    }
    let mut states = vec![0u8; spanned.div_ceil(page_bytes)];
    // SAFETY: the call reads no memory of ours and writes one byte for each page of the range into
    // `states`, which has that many. The range begins `offset` bytes before the slice, on the page
    // that holds its first byte, so every page of it is mapped; an address that is not would be an
    // error, not an access.
    let result = unsafe {
        libc::mincore(
            bytes.as_ptr().wrapping_sub(offset).cast_mut().cast(),
            spanned,
            states.as_mut_ptr(),
        )
    };
    if result != 0 {
        return Err(format!("mincore: {}", std::io::Error::last_os_error()));
    }
    let start = |page: usize| (page * page_bytes).max(offset);
    let end = |page: usize| ((page + 1) * page_bytes).min(spanned);
    let resident = states
        .iter()
        .enumerate()
        .filter(|(_, state)| **state & 1 == 1);
    Ok(resident
        .map(|(page, _)| (end(page) - start(page)) as u64)
        .sum())
}

/// Unknown: this system's call differs.
#[cfg(not(target_os = "linux"))]
pub(super) fn resident_bytes(_bytes: &[u8]) -> Result<u64, String> {
    Err("this system is not asked".into())
}

/// Returns the bytes of these ranges that huge pages map, or the reason for which they are unknown.
pub(super) fn huge_bytes(ranges: impl Iterator<Item = Range<*const u8>>) -> Result<u64, String> {
    let path = "/proc/self/smaps";
    let smaps = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let ranges: Vec<Range<usize>> = ranges
        .map(|range| range.start as usize..range.end as usize)
        .collect();
    // Neighbours that are alike appear as one mapping: together they have no more than its figure.
    let ours = |mapping: &Mapping| -> u64 {
        let shared = ranges.iter().map(|range| {
            let start = range.start.max(mapping.addresses.start);
            let end = range.end.min(mapping.addresses.end);
            end.saturating_sub(start).next_multiple_of(page_bytes()) as u64
        });
        shared.sum::<u64>().min(mapping.huge_bytes)
    };
    Ok(mappings(&smaps).iter().map(ours).sum())
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Mapping {
    addresses: Range<usize>,
    huge_bytes: u64,
}

/// Returns the mappings of a text like `/proc/self/smaps`; lines of another form are left out.
fn mappings(smaps: &str) -> Vec<Mapping> {
    const HUGE: [&str; 5] = [
        "AnonHugePages",
        "ShmemPmdMapped",
        "FilePmdMapped",
        "Shared_Hugetlb",
        "Private_Hugetlb",
    ];
    let mut mappings: Vec<Mapping> = Vec::new();
    for line in smaps.lines() {
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        if let Some(name) = first.strip_suffix(':') {
            if HUGE.contains(&name)
                && let Some(mapping) = mappings.last_mut()
                && let Some(bytes) = kilobytes(rest)
            {
                mapping.huge_bytes += bytes;
            }
        } else if let Some((start, end)) = first.split_once('-')
            && let Ok(start) = usize::from_str_radix(start, 16)
            && let Ok(end) = usize::from_str_radix(end, 16)
        {
            mappings.push(Mapping {
                addresses: start..end,
                huge_bytes: 0,
            });
        }
    }
    mappings
}

/// `   2048 kB`.
fn kilobytes(text: &str) -> Option<u64> {
    let number: u64 = text.trim().strip_suffix("kB")?.trim().parse().ok()?;
    number.checked_mul(1 << 10)
}

/// Memory that this process may still take, as far as the machine and its container say.
pub(super) fn available_bytes() -> Option<u64> {
    let tree = SystemTree::default();
    let number = |path: &str| tree.read(path).ok()?.trim().parse::<u64>().ok();
    let machine = meminfo(&tree.read("proc/meminfo").ok()?, "MemAvailable");
    let limit = number("sys/fs/cgroup/memory.max");
    let container = limit
        .map(|limit| limit.saturating_sub(number("sys/fs/cgroup/memory.current").unwrap_or(0)));
    [machine, container].into_iter().flatten().min()
}

/// Bytes of huge pages of that size that an administrator set apart and that are free.
#[cfg(target_os = "linux")]
pub(super) fn huge_pages_set_apart_bytes(page_bytes: usize) -> u64 {
    let kilobytes = page_bytes >> 10;
    let path = format!("sys/kernel/mm/hugepages/hugepages-{kilobytes}kB/free_hugepages");
    let free = SystemTree::default().read(&path).ok();
    let free = free.and_then(|text| text.trim().parse::<u64>().ok());
    free.unwrap_or(0).saturating_mul(page_bytes as u64)
}

fn meminfo(text: &str, name: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    kilobytes(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_read_with_their_huge_pages() {
        let smaps = "\
7f0000000000-7f0000400000 r--p 00000000 00:00 0
Size:               4096 kB
AnonHugePages:      2048 kB
Private_Hugetlb:       0 kB
VmFlags: rd mr mw me ac hg
7f0000400000-7f0000401000 r--s 00000000 00:1b 7   /dev/shm/a b (deleted)
AnonHugePages:         0 kB
odd line: 7
AnonHugePages:  nonsense
zz-yy r--p
";
        let mapping = |start: usize, end: usize, huge_bytes| Mapping {
            addresses: start..end,
            huge_bytes,
        };
        assert_eq!(
            mappings(smaps),
            [
                mapping(0x7f00_0000_0000, 0x7f00_0040_0000, 2 << 20),
                mapping(0x7f00_0040_0000, 0x7f00_0040_1000, 0),
            ]
        );
    }

    #[test]
    fn free_memory_is_read() {
        let text = "MemTotal:  100 kB\nMemAvailable:     24159060 kB\n";
        assert_eq!(meminfo(text, "MemAvailable"), Some(24_159_060 << 10));
        assert_eq!(meminfo(text, "Mem"), None);
        assert_eq!(meminfo("MemAvailable: x\n", "MemAvailable"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_that_was_written_is_resident() {
        let page = page_bytes();
        let bytes = vec![1u8; 3 * page + 100];
        for range in [0..bytes.len(), 0..0, 1..2, page..2 * page, 7..3 * page + 7] {
            let part = &bytes[range];
            assert_eq!(resident_bytes(part), Ok(part.len() as u64));
        }
        let untouched = memmap2::MmapMut::map_anon(8 * page).unwrap();
        assert_eq!(resident_bytes(&untouched), Ok(0));
    }
}
