//! Sites of a segment by name, for facets and sorting by site.

use super::Segment;
use crate::{DocId, Field, IndexError};
use fst::Streamer;
use xxhash_rust::xxh3::xxh3_64;

/// Names of the sites of a segment, in order. A site's code is its rank, from 1.
#[derive(Debug)]
pub struct SiteNames {
    names: Vec<Box<str>>,
    /// Code of the site of each number.
    codes: Vec<u32>,
}

impl SiteNames {
    /// Returns the number of sites.
    pub fn count(&self) -> u64 {
        self.names.len() as u64
    }

    /// Returns the name of a code.
    pub fn name(&self, code: u64) -> Option<&str> {
        let rank = usize::try_from(code.checked_sub(1)?).ok()?;
        self.names.get(rank).map(|name| &**name)
    }

    /// Returns the code of the site of a document of `segment`, which these are the names of.
    #[inline]
    pub fn code(&self, segment: &Segment, doc: DocId) -> u64 {
        let number = segment.core.hashes.site_number(doc);
        number
            .and_then(|number| self.codes.get(number))
            .map_or(0, |&code| u64::from(code))
    }
}

impl Segment {
    /// Returns the names of its sites, which are read once.
    pub fn site_names(&self) -> Result<&SiteNames, IndexError> {
        if let Some(names) = self.core.site_names.get() {
            return Ok(names);
        }
        let hashes = &self.core.hashes;
        let mut read = SiteNames {
            names: Vec::new(),
            codes: vec![0; hashes.sites_count()],
        };
        let mut terms = self.terms_of(Field::Site);
        while let Some((key, _)) = terms.next() {
            let name = std::str::from_utf8(key.get(1..).unwrap_or_default());
            let name = name.map_err(|_| self.damaged_at_terms("a site is no text"))?;
            read.names.push(name.into());
            let number = hashes.number_of_site(xxh3_64(name.as_bytes()));
            let code = number.and_then(|number| read.codes.get_mut(number));
            match code {
                Some(code) => *code = read.names.len() as u32,
                None => return Err(self.damaged_at_terms("a site has no number")),
            }
        }
        self.file().ensure_trusted()?;
        Ok(self.core.site_names.get_or_init(|| read))
    }
}
