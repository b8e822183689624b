//! Signs of a crawler trap in one URL.
//!
//! The third trap, a URL that grows, ends at `URL_BYTES_MAX`: a longer one is no canonical URL.

use std::collections::HashMap;
use std::fmt;

use super::canonical::CanonicalUrl;

/// Greatest depth of a path, in segments.
pub const DEPTH_MAX: usize = 20;

/// Greatest number of occurrences of one segment in a path.
pub const REPEATS_MAX: usize = 2;

/// A reason to refuse a URL that looks like one of endlessly many.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trap {
    /// The path has too many segments.
    Depth {
        /// Segments found.
        depth: usize,
    },
    /// A segment occurs too often.
    Repeated {
        /// The first segment that does.
        segment: String,
        /// Its occurrences.
        count: usize,
    },
}

/// Returns the first sign of a trap in `url`.
pub fn trap(url: &CanonicalUrl) -> Option<Trap> {
    // The slash at the end closes a segment and opens none.
    let path = &url.path()[1..];
    let path = path.strip_suffix('/').unwrap_or(path);
    let depth = path.split('/').count();
    if depth > DEPTH_MAX {
        return Some(Trap::Depth { depth });
    }
    let mut counts: HashMap<&str, usize> = HashMap::with_capacity(depth);
    for segment in path.split('/') {
        *counts.entry(segment).or_default() += 1;
    }
    let repeated = path
        .split('/')
        .find(|segment| counts[segment] > REPEATS_MAX)?;
    Some(Trap::Repeated {
        segment: repeated.to_owned(),
        count: counts[repeated],
    })
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Depth { depth } => {
                write!(f, "trap: path of {depth} segments, at most {DEPTH_MAX}")
            }
            Self::Repeated { segment, count } => {
                write!(
                    f,
                    "trap: segment {segment:?} occurs {count} times in the path, at most {REPEATS_MAX}"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: Option<&str>) {
        let url = CanonicalUrl::parse(&format!("https://h{path}")).unwrap();
        assert_eq!(
            trap(&url).map(|trap| trap.to_string()).as_deref(),
            expected,
            "{path}"
        );
    }

    #[test]
    fn deep_paths_and_repeated_segments() {
        check("/", None);
        check("/a/b/a/b/", None);
        check(
            "/a/b/a/b/a/",
            Some("trap: segment \"a\" occurs 3 times in the path, at most 2"),
        );
        check("/x?a/a/a/a", None);
        let deep: String = (0..DEPTH_MAX).map(|i| format!("/{i}")).collect();
        check(&deep, None);
        check(&format!("{deep}/"), None);
        check(
            &format!("{deep}/x"),
            Some("trap: path of 21 segments, at most 20"),
        );
    }
}
