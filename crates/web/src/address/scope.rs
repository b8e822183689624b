//! Scope of a crawl: the URLs that it may visit.
//!
//! Rules come first, in their order, and the first that matches decides: *deny* refuses; *allow* with an origin of its
//! own admits; *allow* without one, and no match at all, leave the decision to the boundary around the seeds.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Bound;

use serde::{Deserialize, Serialize};

use super::canonical::CanonicalUrl;
use super::error::AddressError;
use super::rule::{Rule, RuleForm};

/// A boundary around the seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Within {
    /// Hosts of the seeds, on their port; http and https on their own ports count as one.
    #[default]
    Host,
    /// Folders of the seeds: the path up to its last slash.
    Path,
    /// Registrable domains of the seeds, on any port.
    Site,
    /// No boundary.
    Any,
}

/// A scope as it is written in a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScopeForm {
    /// Boundary around the seeds.
    pub within: Within,
    /// Rules, of which the first that matches decides.
    pub rules: Vec<RuleForm>,
}

/// The URLs that a crawl may visit.
#[derive(Clone, Debug)]
pub struct Scope {
    within: Within,
    rules: Vec<Rule>,
    /// Folders of the seeds, by host and port. No folder begins with another of the same host.
    folders: BTreeMap<(String, Option<u16>), BTreeSet<String>>,
    sites: BTreeSet<String>,
}

/// Whether a URL may be visited, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision<'a> {
    /// Whether it may be visited.
    pub allowed: bool,
    /// Deciding rule.
    pub reason: Reason<'a>,
}

/// Reason of a decision about a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason<'a> {
    /// A rule.
    Rule {
        /// Position of the rule, from 1.
        index: usize,
        /// The rule as written.
        rule: &'a RuleForm,
    },
    /// The boundary around the seeds.
    Boundary {
        /// Kind of boundary.
        within: Within,
        /// Whether the URL is inside.
        inside: bool,
    },
}

impl Scope {
    /// Builds the scope of a crawl that begins at `seeds`.
    pub fn new<'a>(
        seeds: impl IntoIterator<Item = &'a CanonicalUrl>,
        form: ScopeForm,
    ) -> Result<Self, AddressError> {
        let rules = form
            .rules
            .into_iter()
            .enumerate()
            .map(|(idx, rule)| Rule::new(rule, idx + 1))
            .collect::<Result<_, _>>()?;
        let mut scope = Self {
            within: form.within,
            rules,
            folders: BTreeMap::new(),
            sites: BTreeSet::new(),
        };
        for seed in seeds {
            scope.sites.insert(seed.site().to_owned());
            let folders = scope
                .folders
                .entry((seed.host().to_owned(), seed.explicit_port()))
                .or_default();
            insert_folder(folders, folder(seed.path()));
        }
        Ok(scope)
    }

    /// Decides whether `url` may be visited.
    pub fn decide(&self, url: &CanonicalUrl) -> Decision<'_> {
        if let Some((idx, rule)) = self
            .rules
            .iter()
            .enumerate()
            .find(|(_, rule)| rule.matches(url))
            && (!rule.is_allow() || rule.has_origin() || self.is_inside(url))
        {
            return Decision {
                allowed: rule.is_allow(),
                reason: Reason::Rule {
                    index: idx + 1,
                    rule: rule.form(),
                },
            };
        }
        let inside = self.is_inside(url);
        Decision {
            allowed: inside,
            reason: Reason::Boundary {
                within: self.within,
                inside,
            },
        }
    }

    fn is_inside(&self, url: &CanonicalUrl) -> bool {
        let folders = || {
            self.folders
                .get(&(url.host().to_owned(), url.explicit_port()))
        };
        match self.within {
            Within::Any => true,
            Within::Site => self.sites.contains(url.site()),
            Within::Host => folders().is_some(),
            // Since no folder begins with another, the last one not above the path is the only candidate.
            Within::Path => folders()
                .and_then(|folders| folders.range::<str, _>(up_to(url.path())).next_back())
                .is_some_and(|folder| url.path().starts_with(folder.as_str())),
        }
    }
}

fn up_to(path: &str) -> (Bound<&str>, Bound<&str>) {
    (Bound::Unbounded, Bound::Included(path))
}

/// Returns `path` up to its last slash.
fn folder(path: &str) -> &str {
    &path[..path.rfind('/').map_or(path.len(), |at| at + 1)]
}

/// Inserts `folder` unless a folder that contains it is there, and removes the folders within it.
fn insert_folder(folders: &mut BTreeSet<String>, folder: &str) {
    let before = folders.range::<str, _>(up_to(folder)).next_back();
    if before.is_some_and(|before| folder.starts_with(before.as_str())) {
        return;
    }
    folders.retain(|other| !other.starts_with(folder));
    folders.insert(folder.to_owned());
}

impl fmt::Display for Within {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "the hosts of the seeds",
            Self::Path => "the folders of the seeds",
            Self::Site => "the sites of the seeds",
            Self::Any => "all hosts",
        })
    }
}

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule { index, rule } => write!(f, "rule {index}: {rule}"),
            Self::Boundary {
                within,
                inside: true,
            } => write!(f, "within {within}"),
            Self::Boundary {
                within,
                inside: false,
            } => write!(f, "outside of {within}"),
        }
    }
}

#[cfg(test)]
#[path = "scope_tests.rs"]
mod tests;
