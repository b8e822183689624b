//! Sites of a segment by name, for facets and sorting by site.

/// Names of the sites of a segment, in order. A site's code is its rank, from 1.
#[derive(Debug)]
pub struct SiteNames {
    names: Vec<Box<str>>,
    /// Code of the site of each number.
    codes: Vec<u32>,
}

impl SiteNames {
    pub(super) fn new(names: Vec<Box<str>>, codes: Vec<u32>) -> SiteNames {
        SiteNames { names, codes }
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
