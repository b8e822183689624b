//! Why a URL is where it is: what the frontier knows of it, and what the rules say.
//!
//! Reads a copy of the frontier in memory, so that it can be asked while a crawl runs.

use crate::collection::{Collection, StatedAddress};
use crate::config::Sites;
use crate::error::CrawlError;
use crate::frontier::{Explanation, Frontier, FrontierOptions, State, origin_of};
use crate::run::{configuration, member_to_ask, now, opened_sites};
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage, StorageError};
use web::address::{AddressError, CanonicalUrl, trap};
use web::robots::Robots;

/// State of a URL, with the reasons for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// The URL, canonical.
    pub url: CanonicalUrl,
    /// State, dates and counts; `None` where the URL was never found.
    pub known: Option<Explanation>,
    /// Other member of the crawl that the URL was handed over to: it visits the host, or has settled which member does.
    pub member: Option<String>,
    /// URL that it was found on first.
    pub found_on: Option<String>,
    /// Outcome for the address that the page states as its own; `None` where it states none.
    pub stated_address: Option<StatedAddress>,
    /// URL in the index that stands for this one, if it is not this one: by its text, or by the stated address.
    pub same_text_as: Option<String>,
    /// Whether the sites and their rules admit it, with the reason where not.
    pub admitted: Result<(), String>,
    /// Text of the host's robots.txt as last read; `None` where it was not read.
    pub robots: Option<String>,
}

impl Explained {
    /// Returns whether it is another page's by the address that it states.
    pub fn is_left_to_stated_address(&self) -> bool {
        matches!(self.stated_address, Some(StatedAddress::Believed { .. }))
    }
}

/// Error of a question about a URL.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// No URL.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The crawl cannot be read.
    #[error(transparent)]
    Crawl(#[from] CrawlError),
}

/// Explains a URL of the crawl in `storage`.
pub fn explain(storage: &SharedStorage, url: &str) -> Result<Explained, ExplainError> {
    let config = configuration(storage)?;
    let sites = opened_sites(&config, storage)?;
    let url = sites.cleaned(crate::config::seed(url)?);
    let (mut frontier, mut collection) = copied(storage)?;
    let known = frontier.explain(url.as_str());
    let from = known.as_ref().and_then(|known| known.record.from);
    let found_on = from.and_then(|from| url_of_hash(&mut frontier, from));
    let origin = origin_of(url.as_str()).unwrap_or_default();
    let robots = frontier.robots_source(origin).map(|source| {
        let rules = Robots::parse(&source).rules(config.product_token());
        let verdict = rules.allows(url.path_and_query());
        let what = if verdict.allowed {
            "allows"
        } else {
            "disallows"
        };
        match verdict.rule {
            Some(rule) => format!("line {}: {rule} ({what})", rule.line()),
            None => format!("no rule for it ({what})"),
        }
    });
    let member = match known.as_ref().map(|known| known.record.state) {
        Some(State::Elsewhere) => member_to_ask(storage, &mut frontier, origin)?,
        _ => None,
    };
    let stated_address = collection.stated_address(url.as_str());
    let same_text_as = collection.represented_by(url.as_str());
    Ok(Explained {
        same_text_as: same_text_as.map(str::to_owned),
        stated_address,
        admitted: admitted(&sites, &url),
        url,
        known,
        member,
        found_on,
        robots,
    })
}

fn admitted(sites: &Sites, url: &CanonicalUrl) -> Result<(), String> {
    if let Some(trap) = trap(url) {
        return Err(format!("it looks like a trap: {trap}"));
    }
    sites.admit(url).map(drop)
}

/// Returns the URL with a hash, which only a scan finds.
fn url_of_hash(frontier: &mut Frontier, hash: u64) -> Option<String> {
    let origins: Vec<String> = frontier
        .origins()
        .map(|(origin, _)| origin.to_owned())
        .collect();
    let mut found = None;
    for origin in origins {
        frontier.for_each_url(&origin, |url, _| {
            if crate::frontier::url_hash(url) == hash {
                found = Some(url.to_owned());
            }
            found.is_none()
        });
        if found.is_some() {
            break;
        }
    }
    found
}

/// Opens a copy of the frontier and of the collection, which a running crawl may be writing.
fn copied(storage: &SharedStorage) -> Result<(Frontier, Collection), CrawlError> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        match copy(storage) {
            // A checkpoint meanwhile removes files.
            Err(StorageError::NotFound { .. }) if attempt < 20 => {}
            Err(error) => return Err(error.into()),
            Ok(copy) => {
                let copy: SharedStorage = Arc::new(copy);
                let (frontier, _) =
                    Frontier::open(copy.clone(), FrontierOptions::default(), now())?;
                let (collection, _) = Collection::open(copy, (0, 0))?;
                return Ok((frontier, collection));
            }
        }
    }
}

fn copy(storage: &SharedStorage) -> Result<MemoryStorage, StorageError> {
    let copy = MemoryStorage::new();
    for name in storage.list()? {
        if name.ends_with(".warc.gz") || name.ends_with(".json") || name.ends_with(".lock") {
            continue;
        }
        copy.write_raw(&name, &storage.open(&name)?[..]);
    }
    Ok(copy)
}
