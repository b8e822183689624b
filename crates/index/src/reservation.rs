//! Reservation of names and files for a merge that runs beside commits.

use std::ops::Range;

/// Segments and files that commits leave to a merge under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeReservation {
    /// Numbers of the segments that it writes.
    pub(crate) segments: Range<u32>,
    /// Files of deleted terms that it reads, from the first on; no commit folds them into another.
    pub(crate) layers: usize,
}

impl MergeReservation {
    /// Returns the first segment number after those reserved.
    pub fn next_segment(&self) -> u32 {
        self.segments.end
    }

    /// Returns whether the merge may be writing the file `name`. Deletions of its segments are files of commits.
    pub(crate) fn spares(&self, name: &str) -> bool {
        let stem = name.strip_prefix("tmp-").unwrap_or(name);
        let stem = ["segment-", "statistics-m"]
            .iter()
            .find_map(|prefix| stem.strip_prefix(prefix))
            .unwrap_or(stem);
        let digits = stem.bytes().take_while(u8::is_ascii_digit).count();
        let number = stem[..digits].parse().ok();
        number.is_some_and(|number| self.segments.contains(&number))
            && !stem.ends_with(".deletions")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_merge_are_spared() {
        let reservation = MergeReservation {
            segments: 12..14,
            layers: 0,
        };
        for name in [
            "segment-00000012.index",
            "segment-00000013.pairs",
            "statistics-m12",
            "tmp-segment-00000012.index-postings",
            "tmp-00000013-rows",
            "tmp-statistics-m12-rows",
        ] {
            assert!(reservation.spares(name), "{name}");
        }
        for name in [
            "segment-00000011.index",
            "segment-00000014.index",
            "segment-00000012-7.deletions",
            "statistics-12",
            "tmp-statistics-12-rows",
            "MANIFEST-12",
            "tmp-MANIFEST-12",
            "log-12",
            "segment-",
            "segment-99999999999999999999.index",
            "",
        ] {
            assert!(!reservation.spares(name), "{name}");
        }
    }
}
