//! Sites of a segment by name, for facets and sorting by site.

use std::sync::OnceLock;

/// Names of the sites of a segment, in order. A site's code is its rank, from 1.
#[derive(Debug)]
pub struct SiteNames {
    names: Vec<Box<str>>,
    /// Code of the site of each number.
    codes: Vec<u32>,
    /// Ranks of the names by their last letters, once subdomains are asked for.
    from_the_end: OnceLock<Vec<u32>>,
}

impl SiteNames {
    pub(super) fn new(names: Vec<Box<str>>, codes: Vec<u32>) -> SiteNames {
        SiteNames {
            names,
            codes,
            from_the_end: OnceLock::new(),
        }
    }

    /// Returns the names that end in `end`, in order.
    pub(super) fn ending_in(&self, end: &str) -> Vec<&str> {
        let reversed = |name: &str| name.bytes().rev().collect::<Vec<u8>>();
        let ranks = self.from_the_end.get_or_init(|| {
            let mut ranks: Vec<u32> = (0..self.names.len() as u32).collect();
            ranks.sort_by_cached_key(|&rank| reversed(&self.names[rank as usize]));
            ranks
        });
        let name = |rank: &u32| &*self.names[*rank as usize];
        let first = ranks.partition_point(|rank| name(rank).bytes().rev().lt(end.bytes().rev()));
        let ending = ranks[first..].iter().map(name);
        let mut found: Vec<&str> = ending.take_while(|name| name.ends_with(end)).collect();
        found.sort_unstable();
        found
    }

    /// Returns the number of sites.
    pub fn count(&self) -> u64 {
        self.names.len() as u64
    }

    /// Returns the name of a code.
    pub fn name(&self, code: u64) -> Option<&str> {
        let rank = usize::try_from(code.checked_sub(1)?).ok()?;
        self.names.get(rank).map(|name| &**name)
    }

    /// Returns the code of the site with a number; 0 where there is none.
    #[inline]
    pub(super) fn code_of_number(&self, number: usize) -> u64 {
        self.codes.get(number).map_or(0, |&code| u64::from(code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The slow twin tries every name.
        #[test]
        fn names_by_their_ends(
            names in prop::collection::btree_set("[ab.é]{0,6}", 0..20),
            end in "[.]?[ab.é]{0,3}",
        ) {
            let boxed = names.iter().map(|name| name.as_str().into()).collect();
            let sites = SiteNames::new(boxed, Vec::new());
            let expected: Vec<&str> = names.iter().map(String::as_str).filter(|name| name.ends_with(&end)).collect();
            prop_assert_eq!(sites.ending_in(&end), expected);
        }
    }
}
