//! Sets of CPUs, parsed and printed as lists: `0-3,8`.
//!
//! list  := "" | range { "," range }
//! range := number | number "-" number
//!
//! This is the format of the kernel (`/sys/devices/system/cpu/online`, `Cpus_allowed_list`), of
//! `taskset -c` and of `--cpus`.

use std::collections::{BTreeSet, btree_set};
use std::fmt;
use std::iter::Copied;
use std::str::FromStr;

/// Highest CPU number: Linux supports at most 8,192 CPUs. A list beyond it is refused before it
/// allocates memory.
pub const CPU_MAX: u32 = 8_191;

/// A set of CPUs (kernel numbers, one per hardware context), in increasing order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CpuSet {
    cpus: BTreeSet<u32>,
}

impl CpuSet {
    /// Returns the number of CPUs.
    pub fn len(&self) -> usize {
        self.cpus.len()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.cpus.is_empty()
    }

    /// Returns whether the set contains `cpu`.
    pub fn contains(&self, cpu: u32) -> bool {
        self.cpus.contains(&cpu)
    }

    /// Returns the lowest CPU.
    pub fn first(&self) -> Option<u32> {
        self.cpus.first().copied()
    }

    /// Iterates over the CPUs in increasing order.
    pub fn iter(&self) -> Copied<btree_set::Iter<'_, u32>> {
        self.cpus.iter().copied()
    }

    /// Returns the CPUs that are in both sets.
    pub fn intersection(&self, other: &CpuSet) -> CpuSet {
        self.cpus.intersection(&other.cpus).copied().collect()
    }

    /// Returns the CPUs that are not in `other`.
    pub fn difference(&self, other: &CpuSet) -> CpuSet {
        self.cpus.difference(&other.cpus).copied().collect()
    }
}

impl FromIterator<u32> for CpuSet {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> CpuSet {
        CpuSet {
            cpus: cpus.into_iter().collect(),
        }
    }
}

impl<'a> IntoIterator for &'a CpuSet {
    type Item = u32;
    type IntoIter = Copied<btree_set::Iter<'a, u32>>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = String::new();
        let mut cpus = self.iter().peekable();
        while let Some(start) = cpus.next() {
            let mut end = start;
            while cpus.next_if(|&next| next == end + 1).is_some() {
                end += 1;
            }
            if !list.is_empty() {
                list.push(',');
            }
            list.push_str(&start.to_string());
            if end > start {
                list.push_str(&format!("-{end}"));
            }
        }
        // `pad` honours the width, so that columns align.
        f.pad(&list)
    }
}

/// Error for a text that is not a list of CPUs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{piece:?} {what}; a list of CPUs is numbers and ranges, such as 0-3,8")]
pub struct CpuListError {
    /// Invalid part of the list.
    pub piece: String,
    /// Description of the defect.
    pub what: &'static str,
}

impl FromStr for CpuSet {
    type Err = CpuListError;

    /// Parses a list. Surrounding space and a line end are ignored; an empty list is an empty set.
    fn from_str(list: &str) -> Result<CpuSet, CpuListError> {
        let list = list.trim();
        let mut cpus = BTreeSet::new();
        if list.is_empty() {
            return Ok(CpuSet { cpus });
        }
        for piece in list.split(',') {
            let wrong = |what| CpuListError {
                // The kernel's files may contain anything, so the quoted text is limited.
                piece: piece.chars().take(40).collect(),
                what,
            };
            let (start, end) = piece.split_once('-').unwrap_or((piece, piece));
            let start = number(start).map_err(wrong)?;
            let end = number(end).map_err(wrong)?;
            if start > end {
                return Err(wrong("runs backwards"));
            }
            cpus.extend(start..=end);
        }
        Ok(CpuSet { cpus })
    }
}

fn number(digits: &str) -> Result<u32, &'static str> {
    let digits = digits.trim();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("is not a CPU's number");
    }
    match digits.parse() {
        Ok(cpu) if cpu <= CPU_MAX => Ok(cpu),
        _ => Err("is more than any kernel's highest CPU, 8191"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_are_read_and_printed() {
        let check = |list: &str, printed: &str| {
            assert_eq!(
                list.parse::<CpuSet>().unwrap().to_string(),
                printed,
                "{list:?}"
            );
        };
        check("", "");
        check("\n", "");
        check("0", "0");
        check("0-3,8\n", "0-3,8");
        check("8,0-1,2,3", "0-3,8");
        check(" 1 , 3 ", "1,3");
        check("5-5", "5");
        check("0-8191", "0-8191");
        assert_eq!(format!("{:>5}", "0-2".parse::<CpuSet>().unwrap()), "  0-2");
    }

    #[test]
    fn what_is_no_list_is_refused_with_its_piece() {
        let check = |list: &str, piece: &str| {
            let error = list.parse::<CpuSet>().unwrap_err();
            assert_eq!(error.piece, piece, "{list:?}");
            assert!(error.to_string().contains("0-3,8"), "{error}");
        };
        check("3-1", "3-1");
        check("0-3,", "");
        check("0--3", "0--3");
        check("-1", "-1");
        check("a", "a");
        check("0x3", "0x3");
        check("+1", "+1");
        check("8192", "8192");
        check("0-4294967295", "0-4294967295");
        check("0,99999999999999999999", "99999999999999999999");
        check("0-3:1/2", "0-3:1/2");
    }

    proptest! {
        #[test]
        fn printing_and_reading_are_inverse(cpus in proptest::collection::btree_set(0..=CPU_MAX, 0..60)) {
            let set: CpuSet = cpus.iter().copied().collect();
            prop_assert_eq!(set.to_string().parse::<CpuSet>().unwrap(), set);
        }

        #[test]
        fn no_text_panics(list in "[0-9,\\- a:]{0,30}") {
            let _ = list.parse::<CpuSet>();
        }
    }
}
