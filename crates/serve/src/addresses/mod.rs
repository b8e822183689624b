//! Addresses of documents as the public sees them.
//!
//! ```text
//! 1  a rule of the operator:   file:///srv/docs/a.pdf -> https://intranet/docs/a.pdf      the longest beginning wins
//! 2  a folder of the index:    file:///srv/docs/a.pdf -> file:///docs/a.pdf               from its own name on
//! 3  any other file:           file:///home/x/a.pdf   -> file:///~5d1c6a0b9e3f7c24/a.pdf   its name, found by a hash
//! 4  any other address:        https://example.org/   -> https://example.org/
//! ```
//!
//! So no folder of this machine is public above those that were indexed. Everything below knows documents by the addresses
//! that the index has: what a request says is translated before it is answered, the answer after it.

mod answer;
mod hidden;
mod map;
mod sites;

pub use answer::show_mapped;
pub(crate) use hidden::hash_of;
pub use map::{AddressMap, parse_address_map};

use hidden::hidden;
use map::{longest_first, rest_after};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use url::Url;

/// Options of the addresses shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressOptions {
    /// Rules by which addresses are shown.
    pub maps: Vec<AddressMap>,
    /// Real paths of the folders whose files are sent to those who ask.
    pub originals: Vec<PathBuf>,
}

/// Addresses of the documents of one index as shown.
#[derive(Debug)]
pub(crate) struct Addresses {
    /// Rules, in the order in which they are tried.
    maps: Vec<AddressMap>,
    /// Beginnings of the addresses of files that are sent.
    originals: Vec<String>,
}

impl Addresses {
    /// Returns the addresses of an index with documents of files in `folders`.
    pub(crate) fn new(options: &AddressOptions, folders: &[String]) -> Addresses {
        let mut maps = longest_first(&options.maps);
        let originals: Vec<String> = options.originals.iter().map(|path| url_of(path)).collect();
        let mut of_folders: Vec<AddressMap> = Vec::new();
        for folder in folders.iter().chain(&originals) {
            let folder = AddressMap::new(folder, "").from;
            let is_known = |map: &AddressMap| rest_after(&folder, &map.from).is_some();
            if !of_folders.iter().any(is_known) {
                let to = named(&folder, &of_folders);
                of_folders.push(AddressMap { from: folder, to });
            }
        }
        maps.extend(longest_first(&of_folders));
        Addresses { maps, originals }
    }

    /// Returns an address of the index as shown.
    pub(crate) fn shown<'a>(&self, url: &'a str) -> Cow<'a, str> {
        match self.maps.iter().find_map(|map| map.shown(url)) {
            Some(shown) => Cow::Owned(shown),
            None if is_of_file(url) => Cow::Owned(hidden(url)),
            None => Cow::Borrowed(url),
        }
    }

    /// Returns the addresses that a document shown so may have in the index, the likeliest first.
    pub(crate) fn real(&self, shown: &str) -> Vec<String> {
        let all = self.maps.iter().flat_map(|map| map.real(shown));
        let mut real: Vec<String> = all.filter(|url| self.shown(url) == shown).collect();
        real.push(shown.to_owned());
        real
    }

    /// Returns a site of the index as shown.
    pub(crate) fn shown_site<'a>(&self, site: &'a str) -> Cow<'a, str> {
        if !site.starts_with('/') {
            return self.shown(site);
        }
        let of_map = |map: &AddressMap| {
            let rest = rest_after(site, map.own_path()?)?;
            Some(format!("{}{rest}", map.to_site()))
        };
        match self.maps.iter().find_map(of_map) {
            Some(shown) => Cow::Owned(shown),
            None => Cow::Owned(format!("…{}", &site[site.rfind('/').unwrap_or(0)..])),
        }
    }

    /// Returns the site of the index that is shown so; `None` where it has the same name, or cannot be known.
    fn real_site(&self, shown: &str) -> Option<String> {
        let of_map = |map: &AddressMap| {
            let rest = rest_after(shown, map.to_site())?;
            let site = format!("{}{rest}", map.own_path()?);
            (self.shown_site(&site) == shown).then_some(site)
        };
        self.maps.iter().find_map(of_map)
    }

    /// Returns a query with the names that sites have in the index.
    pub(crate) fn real_query<'a>(&self, query: &'a str) -> Cow<'a, str> {
        sites::renamed(query, |shown| self.real_site(shown))
    }

    /// Returns the path, from that of the page, of the file of a document that is shown so; `None` where it is not sent.
    pub(crate) fn original(&self, shown: &str) -> Option<String> {
        let path = shown.strip_prefix("file://")?;
        let real = self.real(shown);
        let is_sent = |folder: &String| rest_after(&real[0], folder).is_some();
        let path = path.replace('#', "%23").replace('?', "%3F");
        let is_any_sent = self.originals.iter().any(is_sent);
        is_any_sent.then(|| format!("original{path}"))
    }
}

/// Returns whether an address is a path of this machine.
fn is_of_file(url: &str) -> bool {
    let is_scheme = |scheme: &str| scheme.eq_ignore_ascii_case("file:");
    url.starts_with('/') || url.get(.."file:".len()).is_some_and(is_scheme)
}

/// Returns the address of a folder.
fn url_of(folder: &Path) -> String {
    let url = Url::from_file_path(folder).map_or_else(|()| String::new(), String::from);
    AddressMap::new(&url, "").from
}

/// Returns the address under which a folder is shown: its own name, with a number where another has it.
fn named(folder: &str, others: &[AddressMap]) -> String {
    let Some((_, name)) = folder
        .strip_prefix("file://")
        .and_then(|path| path.rsplit_once('/'))
    else {
        // The root of all folders has no name.
        return folder.to_owned();
    };
    let is_free = |to: &String| others.iter().all(|other| other.to != *to);
    let numbered = (2..).map(|number| format!("file:///{name}-{number}"));
    let mut names = std::iter::once(format!("file:///{name}")).chain(numbered);
    names.find(is_free).unwrap_or_default()
}

/// Addresses of an index, made anew where its folders have changed.
#[derive(Debug, Default)]
pub(crate) struct KeptAddresses(Mutex<Option<OfFolders>>);

/// Folders of an index, and the addresses made of them.
type OfFolders = (Arc<[String]>, Arc<Addresses>);

impl KeptAddresses {
    pub(crate) fn of(&self, options: &AddressOptions, folders: &Arc<[String]>) -> Arc<Addresses> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, addresses)) = &*kept
            && of == folders
        {
            return Arc::clone(addresses);
        }
        let addresses = Arc::new(Addresses::new(options, folders));
        *kept = Some((Arc::clone(folders), Arc::clone(&addresses)));
        addresses
    }
}

#[cfg(test)]
mod tests;
